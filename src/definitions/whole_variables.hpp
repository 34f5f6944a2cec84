// SPDX-License-Identifier: BSD-3-Clause
// WholeVariables: what rank 0's format moves or knows as a whole: texts of variable length, the paths of object
// references, and which chunks are stored. All calls are collective and agreed. `local`: what this rank has found wrong
// before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "definitions/define_protocol.hpp"

namespace windrow {

class WholeVariables {
 public:
  explicit WholeVariables(const DefineProtocol::Parts& parts) noexcept : parts_(parts) {}

  Status put_texts(int variable, const std::vector<std::string>& texts, Status local) const;  // rank 0's
  // take(texts): local, on all ranks.
  Status get_texts(int variable, const std::function<void(std::span<const std::string>)>& take, Status local) const;
  // First elements of the stored chunks of a variable, one after the other: none if nobody has written it. nullopt:
  // that is not known.
  Result<std::optional<std::vector<int64_t>>> stored_chunks(int variable, Status local) const;

 private:
  const Variable& at(int number) const { return parts_.metadata.variable(number); }
  Status compare(int variable, Status local) const;
  Status read_texts_on_root(int variable, std::vector<std::byte>& bytes) const;
  Result<std::optional<std::vector<int64_t>>> share_chunks(int variable) const;
  Status find_chunks_on_root(int variable, std::vector<std::byte>& bytes) const;

  const DefineProtocol::Parts parts_;
};

}  // namespace windrow
