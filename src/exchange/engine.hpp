// SPDX-License-Identifier: BSD-3-Clause
// Transfer: a plan prepared for one set of pieces: descriptions are exchanged, roles assigned, buffers sized. It can
// run any number of times with the same pieces at any memory addresses. A run exchanges no descriptions and allocates
// nothing.
//
//   prepared -- begin() --> running: all roles take turns until each is released
//                              | no rank needs this one any more; the storage may still be writing
//                           released -- end() --> takes turns until each role has finished --> prepared
// Every rank calls begin() and end() after any failure too, and then agrees.
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

// The memory for the buffers of all transfers of a file, which share it since one transfer runs at a time. Grows, never
// shrinks.
class Arena {
 public:
  Status reserve(int64_t bytes, Trace& trace);
  // Passes an arena from a closed file to the next file of the communicator. This avoids page faults on new memory. A
  // communicator keeps one arena, of at most 16 MiB.
  void take_from(Comm& comm);
  void leave_to(Comm& comm);  // may throw std::bad_alloc
  // After an MPI error, since MPI may still write to the memory: it is leaked.
  void lose() noexcept { is_lost_ = true; }
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

// How ranks exchange data.
struct TransferOptions {
  bool share = true;            // ranks of a host copy through shared memory
  bool check_messages = false;  // messages carry checksums
  int64_t moved_bytes = 0;      // by all ranks with this plan; the same on every rank
};

// What prepare() uses during the call only.
struct TransferResources {
  Arena& arena;
  Trace& trace;
};

class Transfer {
 public:
  // The ends of a transfer that are not ranks.
  struct Ends {
    Sink& sink;
    Fetcher& fetcher;
    // a role that has begun already and takes turns with this rank's roles
    Role* background = nullptr;
  };

  // Collective; the caller must agree on the status, which is this rank's own. `items`, and the runs that they refer
  // to, must stay valid until run() gets new ones, with the same runs.
  static Result<std::unique_ptr<Transfer>> prepare(Comm& comm, const Plan& plan, std::span<const Item> items,
                                                   TransferOptions options, TransferResources resources);

  // Whether prepare() communicates; the same on every rank. It does not if ranks of one host write full windows through
  // memory that they share already.
  static bool communicates(const Comm& comm, const Plan& plan, bool share);

  // Moves the data. Every rank calls begin() and end(), whatever failed, and then agrees. `ends` access the storage on
  // aggregators. After begin() no rank needs another: all written data has left its holder's memory, and the sink may
  // still have to write some of it. The status is this rank's own. `order`: the codec, if the plan leaves it open.
  // `trace`: for both parts.
  void begin(std::span<const Item> items, Arena& arena, const Ends& ends, const CodecOrder& order, Trace& trace);
  Status end(Trace& trace);

  int64_t buffer_bytes() const noexcept;                            // of the arena, for a run
  bool shared_refused() const noexcept { return shared_refused_; }  // the host's shared memory was too small
  // Bytes of other ranks' descriptions that this rank keeps.
  int64_t description_bytes() const noexcept { return description_bytes_; }
  int64_t shared_bytes() const noexcept { return shared_bytes_; }  // of the host's shared memory, for this rank's slots

  // Data messages of this rank from (writing) or to (reading) other ranks, according to the descriptions.
  int64_t expected_messages() const noexcept { return expected_messages_; }

  // Of the last run.
  const Coder& coder() const noexcept { return *coder_; }
  void visit_traffic(const std::function<void(const Traffic&)>& visit) const;

  // Visits the windows that this rank moves to or from the storage: visit(window, covered extents of all windows).
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
  Trace trace_;  // for the counters of roles: the caller's trace during begin() and end()

  std::unique_ptr<Coder> coder_;
  std::vector<std::unique_ptr<Role>> roles_;
  std::vector<Collector*> storing_;  // those whose sink is the storage: at most one
  std::vector<Distributor*> fetching_;
  Broadcaster* broadcasting_ = nullptr;
  Role* background_ = nullptr;         // of this run
  Arena* arena_ = nullptr;             // of this run
  std::unique_ptr<RelayRoute> route_;  // on the root of a team only
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
