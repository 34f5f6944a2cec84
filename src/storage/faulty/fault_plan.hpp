// SPDX-License-Identifier: BSD-3-Clause
// The failures of a faulty store, parsed from a line of text.
#pragma once

#include <optional>
#include <string_view>

#include "base/status.hpp"
#include "storage/posix/posix_store.hpp"

namespace windrow {

struct FaultPlan {
  std::optional<int> rank;  // nullopt: every rank
  Operation operation = Operation::write;
  int64_t after = 0;  // the call after this many calls of the kind fails, once
  Intervention fault;
  bool kill = false;  // the process is killed (SIGKILL) instead of the call
};

// "rank=1,operation=write,after=3,error=no_space". operation: open, write, read, resize, sync or publish (a rename by
// publish()). error: no_space, io, no_permission; for write and read also short: half of the bytes are moved, and the
// store must continue; or kill: the process dies at once, as by `kill -9` or the out-of-memory killer. `operation` and
// `error` are required; the default of `rank` is every rank, that of `after` is 0. Code::bad_argument names the field.
Result<FaultPlan> parse_fault_plan(std::string_view text);

}  // namespace windrow
