// SPDX-License-Identifier: BSD-3-Clause
// UndefinedElements: the variables whose elements are undefined after a failure. It adds their names to the message of
// the error. In a file that is changed in place, a variable remains undefined until it is written as a whole. Local;
// all ranks make the same calls, so WriteState stays the same on all ranks.
#pragma once

#include <string>

#include "base/status.hpp"
#include "format/format.hpp"
#include "varstate/write_state.hpp"

namespace windrow {

class UndefinedElements {
 public:
  // Both references must outlive this object. `in_place`: the file has its final name, so undefined elements remain in
  // it.
  UndefinedElements(const Catalog& catalog, WriteState& write_state, bool in_place) noexcept
      : catalog_(catalog), write_state_(write_state), in_place_(in_place) {}

  // Returns the failure with the names of the undefined variables in its message: those with the flag `which`. In a
  // file that is changed in place these are marked as undefined, and earlier undefined variables are named too.
  Status add_names(Status failure, WriteState::Flag which) const;
  // Ends a sync, or the close of a file that was changed in place. If it failed, the variables that were written since
  // the last sync become undefined. The exception is out_of_memory: nothing is lost, and the call can be repeated.
  Status end_sync(Status verdict) const;

 private:
  std::string names_of(WriteState::Flag which) const;

  const Catalog& catalog_;
  WriteState& write_state_;
  const bool in_place_;
};

}  // namespace windrow
