// SPDX-License-Identifier: BSD-3-Clause
// HostRounds: reductions over the ranks of one host through shared memory. The last rank to arrive combines, so each
// rank needs its core only twice: to store its numbers, and to read the result. A reduction by messages needs the core
// at every step of a tree, which is slow if ranks outnumber cores
// (docs/internals/notes/2026-11-30-numbers-from-comments.md).
//
//   rank                                     last rank to arrive
//   stored: numbers stored, arrival counted  combining: combines the numbers of all ranks in rank order
//     | waits for `done`               <---    | stores the result, sets `done`
//   done: reads the result                   done: reads the result
// With work in between, the last rank sets `complete` instead. Rank 0 waits for `complete`, combines, does the work and
// sets `done`.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "base/function_ref.hpp"
#include "comm/call.hpp"
#include "comm/shared_segment.hpp"

namespace windrow {

class HostRounds {
 public:
  static constexpr size_t k_most = 1024;  // numbers in a round
  // Combines from[i] into to[i]; both have `count` numbers.
  using Combine = void (*)(const int64_t* from, int64_t* to, size_t count) noexcept;

  // Collective over `host`. Afterwards is_ready() and has_room() are the same on all its ranks. `room`: bytes of each
  // rank that others may read after a round. `ranks_per_core`: if high, and messages of other hosts may be pending,
  // waiting ranks sleep longer.
  void prepare(MPI_Comm host, int rank, int size, int64_t room, long ranks_per_core = 0);
  bool is_ready() const noexcept { return size_ > 0; }
  int rank() const noexcept { return rank_; }  // within the host
  bool has_room() const noexcept { return room_; }
  void free() noexcept { segment_.free(); }

  // Distinguishes rounds: the number of the rank's call, and the kind of the step, from 0 to k_kinds - 1.
  static constexpr int64_t k_kinds = int64_t{1} << 24;
  struct Step {
    int64_t call = 0, kind = 0;
  };
  using Between = FunctionRef<void(std::span<int64_t> result)>;
  struct Round {
    std::span<int64_t> numbers;
    Step step = {};
    Combine combine = nullptr;
    MPI_Comm progress = MPI_COMM_NULL;  // a waiting rank polls it, so that pending messages make progress
    // After the reduction and before any rank reads the result, rank 0 runs this, which may change the result. All
    // ranks pass one, that of rank 0 is called; it must not throw. This is a kind of its own: mixed kinds are a
    // mismatch.
    Between between = {};
  };
  // Collective. Combines in rank order. False, on every rank: ranks came with different counts or steps; `mismatch`
  // names them by their ranks within the host.
  bool run(const Round& round, Mismatch& mismatch) noexcept { return run(all_, round, mismatch); }

  // A round of some ranks, while the others wait in the next round of all: ranks 0, spacing, 2 spacing and so on,
  // `count` in total. start_some(): local, on all ranks. A round of all must lie between the last previous round of
  // some and this call, and another between this call and the next round of some.
  void start_some(int spacing, int count) noexcept;
  bool is_one_of_some() const noexcept { return rank_ % some_.spacing == 0 && rank_ / some_.spacing < some_.count; }
  bool run_some(const Round& round, Mismatch& mismatch) noexcept { return run(some_, round, mismatch); }

  // Number of rounds of all ranks; the same on every rank between two rounds.
  uint64_t rounds() const noexcept { return all_.round; }
  // Memory that a rank writes before it enters a round. Others may read it after the round, until the rank writes
  // again.
  std::byte* room_of(int rank) const noexcept;

 private:
  struct Control;
  // The members of a round, and the number of rounds.
  struct Group {
    int control = 0, spacing = 1, count = 0;
    uint64_t round = 0;
  };
  Control& control_of(const Group& group) const noexcept;
  int64_t* numbers_of(int rank) const noexcept;
  int64_t* result_of(const Group& group) const noexcept;
  bool run(Group& group, const Round& round, Mismatch& mismatch) noexcept;
  bool is_one_kind(const Group& group) const noexcept;
  void wait_for(std::atomic<uint32_t>& word, uint64_t round, MPI_Comm progress) const noexcept;
  void publish(const Group& group, bool mixed, Combine combine, Between between) noexcept;

  SharedSegment segment_;
  int rank_ = 0, size_ = 0;
  bool room_ = false;
  // most waits end within 100 us; fewer yields are slower (docs/internals/notes/2026-11-30-numbers-from-comments.md)
  int yields_ = 64;
  long sleep_ns_ = 100'000;
  Group all_, some_{.control = 1};
};

}  // namespace windrow
