// SPDX-License-Identifier: BSD-3-Clause
// WholeVariables: what only a format can read or write, one variable at a time: texts of variable length and the paths
// of object references, on rank 0, and which chunks are stored, on rank 0 and the owners of subfiles. All calls are
// collective, and their status is agreed. `local`: an error that this rank has found before the call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "definitions/define_protocol.hpp"
#include "extent/boxes.hpp"

namespace windrow {

class WholeVariables {
 public:
  explicit WholeVariables(const DefineProtocol::Parts& parts) noexcept : parts_(parts) {}

  // Writes all elements of a variable. Only the texts of rank 0 are written.
  Status put_texts(int variable, const std::vector<std::string>& texts, Status local) const;
  // Calls take(texts) on every rank with all elements of a variable.
  Status get_texts(int variable, const std::function<void(std::span<const std::string>)>& take, Status local) const;
  // Returns boxes that contain all elements that are stored: chunks, or all elements of what is not chunked. Adjacent
  // chunks are joined.
  Result<BoxList> written_boxes(int variable, Status local) const;

 private:
  const Variable& at(int number) const { return parts_.metadata.variable(number); }
  Status compare(int variable, Status local) const;
  Status read_texts_on_root(int variable, std::vector<std::byte>& bytes) const;
  Status find_own_boxes(int variable, BoxList& boxes) const;
  Status share_boxes(int variable, BoxList& boxes) const;

  const DefineProtocol::Parts parts_;
};

}  // namespace windrow
