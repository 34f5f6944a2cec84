// SPDX-License-Identifier: BSD-3-Clause
// VariableFlush: moves the queued puts and gets of an open file, and reports what it did. Puts are a batch for each
// time that a variable was put, so that the later put wins; gets are one batch after them. Chunked variables have
// batches of their own, which move before the others of their ordinal.
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
#include "batching/flush_engine.hpp"
#include "batching/pending_flush.hpp"
#include "batching/variable_storage.hpp"
#include "filling/undefined_elements.hpp"
#include "queueing/orphaned_puts.hpp"
#include "queueing/request_list.hpp"
#include "reporting/flush_tracer.hpp"
#include "reporting/report.hpp"

namespace windrow {

class VariableFlush {
 public:
  explicit VariableFlush(Comm& comm) noexcept : comm_(comm), engine_(comm) {}  // `comm` must outlive it
  ~VariableFlush();

  // Local: memory for the bits of two batches of so many variables.
  Status grow(size_t variables);
  // Local; all ranks do the same. Plans and layouts of chunks depend on where the variables are.
  void forget_plans() noexcept;
  void forget_chunks_of(int variable, const std::string& path);

  Planner& planner() noexcept { return engine_.planner; }
  const Planner& planner() const noexcept { return engine_.planner; }
  FlushEngine& engine() noexcept { return engine_; }
  FlushReport& report() noexcept { return report_; }
  const FlushReport& report() const noexcept { return report_; }
  FlushTracer& tracer() noexcept { return tracer_; }

  // A flush: begin(), one call of move(), end(). All are called by all ranks; move() is collective, and its verdict
  // agreed. Variables have their places, and room for what is put.
  void begin(const FileView& file);
  Status move(const FileView& file, RequestList& requests, Status local);
  void end(const FileView& file, const Status& verdict, const RequestList& requests);

  // A flush in two parts: begin(), begin_pending(), and later end_pending(). The last batch of puts goes on behind the
  // program; the gets move in end_pending(). The requests are taken, unless the verdict is an error: then cancel().
  Status begin_pending(const FileView& file, RequestList& requests, Status local);
  Status end_pending(const FileView& file);
  void cancel(const FileView& file, const Status& verdict, const RequestList& requests);
  bool is_pending() const noexcept { return pending_ != nullptr; }
  void drop_pending() noexcept { pending_.reset(); }  // local: waits for the I/O thread alone

  // Collective, agreed. The plans of what is queued; nothing moves. `text`: as JSON or for people.
  Status explain(const FileView& file, RequestList& requests, Status local, bool json, std::string& text);

 private:
  // The arguments of one call.
  struct CallArguments {
    const FileView& file;
    RequestList& requests;
  };
  struct Batch {
    VariableBatch batch;
    BatchSummary summary;
  };

  Status move_all(const CallArguments& call, Status local, PendingFlush* pending);
  Status build_first(const CallArguments& call, Status local, Batch& puts, Batch& gets);
  Status move_puts(const CallArguments& call, int64_t ordinal, Batch& puts, PendingFlush* pending);
  Status move_gets(const CallArguments& call, Batch& gets, bool any_chunked);
  Status build(const CallArguments& call, bool reading, int64_t ordinal, VariableBatch& batch);
  Status reduce(Status local, std::initializer_list<const RequestBatch*> batches,
                std::initializer_list<BatchSummary*> summaries, const FileView& file, Planner::Extra* extra = nullptr);

  // visit(VariableStorage&) for how variables without chunks are stored.
  template <class Visit>
  Status with_storage(const FileView& file, Visit&& visit);
  Status run_batch(const CallArguments& call, VariableStorage& storage, VariableBatch batch,
                   const BatchSummary& summary);
  Status begin_batch(const CallArguments& call, VariableStorage& storage, VariableBatch batch,
                     const BatchSummary& summary, bool behind, MovingVariables& moving);
  Status end_batch(const CallArguments& call, VariableStorage& storage, MovingVariables& moving);
  Status conclude(const CallArguments& call, Status local, MovingVariables& moving);
  void add_to_report(const FileView& file, double seconds);
  Status take_traffic(const Transfer& transfer);
  void learn(PreparedPlan& prepared, bool behind);
  void mark_unfinished(const CallArguments& call);

  // Bits of variables in chunks: of the puts of one ordinal, and of the gets.
  std::span<int64_t> chunked_bits(const FileView& file, bool reading) noexcept;
  bool keep_chunked(const FileView& file, bool reading, std::span<const int64_t> variables) noexcept;
  Status move_chunked(const CallArguments& call, bool reading, int64_t ordinal);
  Status run_chunked(const CallArguments& call, int variable, bool reading, int64_t ordinal);
  Status know_layouts(const FileView& file, int variable);
  // visit(ChunkedStorage&, Batch&) for each batch of a chunked variable that has anything to move.
  template <class Visit>
  Status for_each_chunked_batch(const CallArguments& call, int variable, bool reading, int64_t ordinal,
                                bool is_explained, Visit&& visit);

  Status explain_chunked(const CallArguments& call, Batch& puts, Batch& gets, FlushReport& planned);
  Status explain_batch(const CallArguments& call, Batch& what, FlushReport& planned);
  Status add_plan(const Batch& what, const PreparedPlan& prepared, const PlanForecast& forecast, Status local,
                  FlushReport& planned);

  Comm& comm_;
  FlushEngine engine_;
  std::map<int, std::vector<std::shared_ptr<const ChunkLayout>>> chunk_layouts_;  // by variable
  std::vector<int64_t> chunked_bits_;
  int64_t put_batches_ = 0, put_batch_ = 0;  // of this flush, and the one that moves
  bool is_empty_ = false;                    // no rank has queued anything
  std::unique_ptr<PendingFlush> pending_;
  FlushTracer tracer_;
  FlushReport report_;
  double began_ = 0;
};

}  // namespace windrow
