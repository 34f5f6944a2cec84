// SPDX-License-Identifier: BSD-3-Clause
// When and how a faulty store fails, from a line of text.
#pragma once

#include <optional>
#include <string_view>

#include "base/status.hpp"
#include "storage/posix/posix_store.hpp"

namespace windrow {

struct FaultPlan {
  std::optional<int> rank;  // none: on every rank
  Operation operation = Operation::write;
  int64_t after = 0;  // that many calls of the kind go through; the one after them fails, once
  Intervention fault;
  bool kill = false;  // the process is killed (SIGKILL) in place of the call
};

// "rank=1,operation=write,after=3,error=no_space": operation is open, write, read, resize, sync or publish (a rename by
// publish()); error is no_space, io, no_permission, or (write and read) short: half of the bytes are moved, and the
// store has to go on by itself; or kill: the process dies at once, as by `kill -9` or the memory killer of the system.
// `operation` and `error` are needed; no `rank` is every rank, no `after` is 0. Code::bad_argument names the field.
Result<FaultPlan> parse_fault_plan(std::string_view text);

}  // namespace windrow
