// SPDX-License-Identifier: BSD-3-Clause
// FlushEngine: what an open file needs to plan and move its batches, and to report on them: the planner, the executor,
// the memory that they share, the report and the trace. It lasts as long as the file is open. It knows byte ranges; the
// fronts know what the bytes mean. A flush is the calls begin(), then for each batch add_plan() and conclude(), and
// end().
#pragma once

#include "base/status.hpp"
#include "comm/comm.hpp"
#include "flush/executor.hpp"
#include "planning/planner.hpp"
#include "planning/workspace.hpp"
#include "queueing/request_runs.hpp"
#include "reporting/flush_tracer.hpp"
#include "reporting/report.hpp"
#include "trace/trace.hpp"

namespace windrow {

class FlushEngine {
 public:
  Workspace workspace;
  Trace trace;
  Planner planner;
  Executor executor;
  FlushReport report;
  FlushTracer tracer;

  explicit FlushEngine(Comm& comm) noexcept  // `comm` must outlive it
      : planner(comm, workspace, trace), executor(comm, workspace, trace), comm_(comm) {}
  ~FlushEngine();
  FlushEngine(const FlushEngine&) = delete;
  FlushEngine& operator=(const FlushEngine&) = delete;

  RunOptions run_options() const noexcept { return {planner.strategy().owner, planner.limits().direct_bytes}; }
  // Whether plans assign domains by the targets of the storage.
  bool assigns_targets() const noexcept {
    return planner.strategy().domains == Domains::target && planner.limits().layout != nullptr;
  }

  // Local. Resets the report and starts the clock.
  void begin(DataFile& file);
  // Local. Stops the clock while the program continues, and starts it again.
  double seconds() const noexcept { return seconds_now() - began_; }
  void resume(double seconds) noexcept { began_ = seconds_now() - seconds; }
  // Local. Adds the plan of a batch to the report. May throw std::bad_alloc.
  void add_plan(const PreparedPlan& prepared, const PlanForecast& forecast, bool is_cached);
  // Collective, agreed. The last agreement of a batch, which also reduces its numbers for the report. `metadata_opens`:
  // how often this rank has opened files for metadata.
  Status conclude(Status local, const InFlightBatch& in_flight, DataFile& file, int64_t metadata_opens);
  // Completes the report.
  void end() noexcept;

 private:
  void add_to_report(DataFile& file, double seconds, int64_t metadata_opens);
  Status take_traffic(const Transfer& transfer);
  void learn(PreparedPlan& prepared, bool in_background);

  Comm& comm_;
  double began_ = 0;  // when the flush began, in seconds; without the time between the parts of a flush in two parts
};

}  // namespace windrow
