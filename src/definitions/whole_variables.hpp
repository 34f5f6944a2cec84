// SPDX-License-Identifier: BSD-3-Clause
// WholeVariables: what only the format on rank 0 can read or write, one variable at a time: texts of variable length,
// the paths of object references, and which chunks are stored. All calls are collective, and their status is agreed.
// `local`: an error that this rank has found before the call.
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

  // Writes all elements of a variable. Only the texts of rank 0 are written.
  Status put_texts(int variable, const std::vector<std::string>& texts, Status local) const;
  // Calls take(texts) on every rank with all elements of a variable.
  Status get_texts(int variable, const std::function<void(std::span<const std::string>)>& take, Status local) const;
  // Returns the index of the first element of each stored chunk, one after another. The list is empty if the variable
  // has never been written. nullopt if the format cannot say which chunks are stored.
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
