// SPDX-License-Identifier: BSD-3-Clause
// FlushEngine: what plans and moves the batches of an open file. It lasts as long as the file.
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
  // Whether a plan assigns domains by the targets of the storage.
  bool assigns_targets() const noexcept {
    return planner.strategy().domains == Domains::target && planner.limits().layout != nullptr;
  }
};

}  // namespace windrow
