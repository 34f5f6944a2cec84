// SPDX-License-Identifier: BSD-3-Clause
// FlushEngine: the planner and the executor of an open file, with the memory that they share. It lasts as long as the
// file is open.
#pragma once

#include "comm/comm.hpp"
#include "flush/executor.hpp"
#include "planning/planner.hpp"
#include "planning/workspace.hpp"
#include "queueing/request_runs.hpp"
#include "trace/trace.hpp"

namespace windrow {

struct FlushEngine {
  Workspace workspace;
  Trace trace;
  Planner planner;
  Executor executor;

  explicit FlushEngine(Comm& comm) noexcept
      : planner(comm, workspace, trace), executor(comm, workspace, trace) {}  // `comm` must outlive it
  FlushEngine(const FlushEngine&) = delete;
  FlushEngine& operator=(const FlushEngine&) = delete;

  RunOptions run_options() const noexcept { return {planner.strategy().owner, planner.limits().direct_bytes}; }
  // Whether plans assign domains by the targets of the storage.
  bool assigns_targets() const noexcept {
    return planner.strategy().domains == Domains::target && planner.limits().layout != nullptr;
  }
};

}  // namespace windrow
