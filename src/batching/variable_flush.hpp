// SPDX-License-Identifier: BSD-3-Clause
// VariableFlush: moves the queued puts and gets of an open file, and reports what it did. It divides the queue into
// batches. A batch is moved by one plan, and its puts do not overlap. The order of the batches is the same on all
// ranks:
//
//   for each ordinal   the puts of a variable have ordinals 0, 1, ... and move in this order, so the later put wins
//     for each chunked variable   one batch, or one for each group of chunks
//     the other variables         one batch
//   the gets           in the same way, after all puts
//
// Each batch takes the steps of VariableStorage, which knows how the variables are stored. One object belongs to an
// open file: it keeps the planner with its cached plans, the layouts of chunks, the report and the trace. FileView has
// the parts of the file that a call uses.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "batching/chunked_storage.hpp"
#include "batching/file_view.hpp"
#include "batching/pending_flush.hpp"
#include "batching/variable_storage.hpp"
#include "engine/flush_engine.hpp"
#include "filling/undefined_elements.hpp"
#include "queueing/orphaned_puts.hpp"
#include "queueing/request_list.hpp"

namespace windrow {

class VariableFlush {
 public:
  explicit VariableFlush(Comm& comm) noexcept : comm_(comm), engine_(comm) {}  // `comm` must outlive this object
  ~VariableFlush();

  // Local. Allocates memory for this number of variables. out_of_memory.
  Status grow(size_t variables);
  // Local; all ranks call them at the same point. Drop the cached plans and the layouts of chunks, of all variables or
  // of one, because these depend on the places and lengths of the variables.
  void forget_plans() noexcept;
  void forget_chunks_of(int variable, const std::string& path);

  Planner& planner() noexcept { return engine_.planner; }
  const Planner& planner() const noexcept { return engine_.planner; }
  FlushEngine& engine() noexcept { return engine_; }
  FlushReport& report() noexcept { return engine_.report; }
  const FlushReport& report() const noexcept { return engine_.report; }
  FlushTracer& tracer() noexcept { return engine_.tracer; }

  // A flush is the calls begin(), move() and end(), by all ranks. Before move() all variables of the queue must have
  // their places, and records for what is put.

  // Local. Resets the report and starts the clock.
  void begin(const FileView& file);
  // Collective, agreed. Moves all requests. `local`: an error that this rank has found before; then nothing moves.
  Status move(const FileView& file, RequestList& requests, Status local);
  // Completes the report. Collective if the flush is traced.
  void end(const FileView& file, const Status& verdict, const RequestList& requests);

  // A flush in two parts is the calls begin(), begin_pending() and later end_pending(). The last batch of puts is
  // written by the I/O thread while the program continues. The gets move in end_pending().

  // Collective, agreed. Takes the requests out of the list, unless it returns an error. After an error the caller calls
  // cancel() instead of end_pending().
  Status begin_pending(const FileView& file, RequestList& requests, Status local);
  // Collective, agreed. Waits until all requests have moved.
  Status end_pending(const FileView& file);
  // Adds a flush that failed before it was pending to the trace. Collective if the flush is traced.
  void cancel(const FileView& file, const Status& verdict, const RequestList& requests);
  bool is_pending() const noexcept { return pending_ != nullptr; }
  // Local. Drops a pending flush without communication; waits only for the I/O thread.
  void drop_pending() noexcept { pending_.reset(); }

  // Collective, agreed. Sets `text` to the plans of the queued requests, as JSON or for people. Nothing moves.
  // The file has is_explained, and all variables have the places and lengths that the flush would give them.
  Status explain(const FileView& file, RequestList& requests, Status local, bool json, std::string& text);

 private:
  struct Batch {
    VariableBatch batch;
    BatchSummary summary;
  };

  Status move_all(const CallArguments& call, Status local, PendingFlush* pending);
  Status build_first(const CallArguments& call, Status local, Batch& puts, Batch& gets);
  Status move_puts(const CallArguments& call, int64_t ordinal, Batch& puts, PendingFlush* pending);
  Status move_gets(const CallArguments& call, Batch& gets, bool any_chunked);
  Status build(const CallArguments& call, BatchKind kind, VariableBatch& batch);
  Status reduce(Status local, std::initializer_list<const RequestBatch*> batches,
                std::initializer_list<BatchSummary*> summaries, const FileView& file, Planner::Extra* extra = nullptr);

  // Calls visit(VariableStorage&) with the storage of the variables without chunks.
  template <class Visit>
  Status with_storage(const FileView& file, Visit&& visit);
  Status run_batch(const CallArguments& call, VariableStorage& storage, Batch& what);
  Status begin_batch(const CallArguments& call, VariableStorage& storage, Batch& what, bool in_background,
                     MovingVariables& moving);
  Status end_batch(const CallArguments& call, VariableStorage& storage, MovingVariables& moving);
  Status conclude(const CallArguments& call, Status local, MovingVariables& moving);
  void mark_unfinished(const CallArguments& call);

  // A bit for each chunked variable that the puts of the present ordinal, or the gets, move.
  std::span<int64_t> chunked_bits(const FileView& file, bool reading) noexcept;
  bool keep_chunked(const FileView& file, bool reading, std::span<const int64_t> variables) noexcept;
  Status move_chunked(const CallArguments& call, BatchKind kind);
  Status run_chunked(const CallArguments& call, int variable, BatchKind kind);
  Status know_layouts(const FileView& file, int variable);
  // Calls visit(ChunkedStorage&, Batch&) for each batch of a chunked variable that is not empty.
  template <class Visit>
  Status for_each_chunked_batch(const CallArguments& call, int variable, BatchKind kind, Visit&& visit);

  Status explain_chunked(const CallArguments& call, Batch& puts, Batch& gets, FlushReport& planned);
  Status explain_batch(const CallArguments& call, Batch& what, FlushReport& planned);
  Status add_plan(const Batch& what, const PreparedPlan& prepared, const PlanForecast& forecast, Status local,
                  FlushReport& planned);

  Comm& comm_;
  FlushEngine engine_;
  std::map<int, std::vector<std::shared_ptr<const ChunkLayout>>> chunk_layouts_;  // by variable
  std::vector<int64_t> chunked_bits_;
  int64_t put_batches_ = 0, put_batch_ = 0;  // the number of ordinals in this flush, and the ordinal that moves
  bool is_empty_ = false;                    // no rank has queued a request
  std::unique_ptr<PendingFlush> pending_;
};

}  // namespace windrow
