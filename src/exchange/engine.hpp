// SPDX-License-Identifier: BSD-3-Clause
// Transfer: a plan made ready for one set of pieces: descriptions exchanged, roles given, buffers allocated. It can be
// run any number of times with the same pieces, wherever they lie in memory; a run exchanges no descriptions and
// allocates nothing.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "exchange/broadcaster.hpp"
#include "exchange/collector.hpp"
#include "exchange/copier.hpp"
#include "exchange/distributor.hpp"
#include "exchange/receiver.hpp"
#include "exchange/relay.hpp"
#include "exchange/sender.hpp"
#include "plan/plan.hpp"

namespace windrow {

// The memory of all buffers of all transfers of a file: one transfer runs at a time, so they share it. Grows, never
// shrinks.
class Arena {
 public:
  Status reserve(int64_t bytes, Trace& trace);
  // A file leaves its arena to the next file of its communicator, and that begins with it: memory that is new the
  // system makes page by page, when it is used first. One is kept for a communicator, of 16 MiB at most.
  void take_from(Comm& comm);
  void leave_to(Comm& comm);  // may throw std::bad_alloc
  void lose() noexcept {
    is_lost_ = true;
  }  // after an error of MPI, which may still write into it: it is given to nobody, not even to the system
  std::byte* data() noexcept { return memory_; }
  int64_t bytes() const noexcept { return bytes_; }
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

 private:
  std::byte* memory_ = nullptr;
  int64_t bytes_ = 0;
  bool is_lost_ = false;
};

// How ranks may talk.
struct Ways {
  bool share = true;            // ranks of a host copy through memory that they share
  bool check_messages = false;  // messages carry checksums
  int64_t moved_bytes = 0;      // by all ranks, by this plan; the same on every rank
};

class Transfer {
 public:
  // Collective; the status is this rank's own, to be agreed on. `items`, and the runs that they point to, are used
  // until run() gives new ones; the runs must be the same then. Neither the arena nor the trace is used after the call.
  static Result<std::unique_ptr<Transfer>> prepare(Comm& comm, const Plan& plan, std::span<const Item> items, Ways ways,
                                                   Arena& arena, Trace& trace);

  // Whether prepare() needs words between the ranks; the same answer on every rank. Not where ranks of one host write
  // full windows through memory that they share already.
  static bool talks(const Comm& comm, const Plan& plan, bool share);

  // Moves the data; both parts by every rank, whatever failed where, and then an agreement. `storage_sink` and
  // `storage_fetcher` do the storage's part on writers and readers. When begin() is over, no rank needs another any
  // more: all that is written has left its holder's memory, and some of it may still be the sink's to write. The status
  // is this rank's own. `guest`: has its turns beside this rank's roles, and is begun already. `order`: of the codec,
  // where the plan leaves it open. `trace`: of both parts.
  void begin(std::span<const Item> items, Arena& arena, Sink& storage_sink, Fetcher& storage_fetcher,
             const CodecOrder& order, Trace& trace, Role* guest = nullptr);
  Status end(Trace& trace);

  int64_t buffer_bytes() const noexcept;                            // of the arena, that a run needs
  bool shared_refused() const noexcept { return shared_refused_; }  // the host's memory was too small to share
  int64_t description_bytes() const noexcept {
    return description_bytes_;
  }                                                                // that this rank keeps of others' descriptions
  int64_t shared_bytes() const noexcept { return shared_bytes_; }  // of the host's shared memory, for this rank's slots

  // Of this rank: data messages from (writing) or to (reading) other ranks, as the descriptions say.
  int64_t expected_messages() const noexcept { return expected_messages_; }

  // Of the last run.
  const Coder& coder() const noexcept { return *coder_; }
  void visit_traffic(const std::function<void(const Traffic&)>& visit) const;

  // Visits the windows that this rank will move to or from the storage: visit(window, covered extents of all windows).
  template <class Visit>
  void for_each_storage_window(Visit&& visit) const {
    if (storage_grid_ == nullptr)
      return;
    for (int64_t step = next_covered_step(*storage_grid_, storage_covered_, 0); step < storage_grid_->steps();
         step = next_covered_step(*storage_grid_, storage_covered_, step + 1))
      visit(storage_grid_->window(step), storage_covered_);
  }

 private:
  friend class TransferBuilder;
  explicit Transfer(Comm& comm) : comm_(comm) {}
  template <class Done>
  void turn_until(Done&& done);

  Comm& comm_;
  Trace trace_;  // that the roles count in: the caller's, while begin() and end() have it

  std::unique_ptr<Coder> coder_;
  std::vector<std::unique_ptr<Role>> roles_;
  std::vector<Collector*> storing_;  // those whose sink is the storage: none or one
  std::vector<Distributor*> fetching_;
  Broadcaster* broadcasting_ = nullptr;
  Role* guest_ = nullptr;              // of this run
  Arena* arena_ = nullptr;             // the same
  std::unique_ptr<RelayRoute> route_;  // a team's root only
  std::unique_ptr<ForwardSink> forward_sink_;
  std::unique_ptr<ForwardFetcher> forward_fetcher_;
  const Grid* storage_grid_ = nullptr;
  PieceView storage_covered_;
  int64_t expected_messages_ = 0;
  int64_t description_bytes_ = 0;
  int64_t shared_bytes_ = 0;
  bool shared_refused_ = false;
};

}  // namespace windrow
