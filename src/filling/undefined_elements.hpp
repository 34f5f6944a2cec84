// SPDX-License-Identifier: BSD-3-Clause
// UndefinedElements: which variables a failure leaves undefined, and their names in its message. In a file that is
// changed in place a variable stays undefined until it is written as a whole. Local; all ranks call it alike.
#pragma once

#include <string>

#include "base/status.hpp"
#include "format/format.hpp"
#include "varstate/write_state.hpp"

namespace windrow {

class UndefinedElements {
 public:
  // Both must outlive it. `in_place`: the file has its final name, so what a failure leaves stays in it.
  UndefinedElements(const Catalog& catalog, WriteState& write_state, bool in_place) noexcept
      : catalog_(catalog), write_state_(write_state), in_place_(in_place) {}

  // The failure with the names of the undefined variables in its message. Variables with the flag `which` are undefined
  // by this failure.
  Status add_names(Status failure, WriteState::Flag which) const;
  // Ends a sync, or the close of a file that was changed in place. A failed one leaves undefined what was written since
  // the last. Without memory nothing is lost: the call can be repeated.
  Status end_sync(Status verdict) const;

 private:
  std::string names_of(WriteState::Flag which) const;

  const Catalog& catalog_;
  WriteState& write_state_;
  const bool in_place_;
};

}  // namespace windrow
