// SPDX-License-Identifier: BSD-3-Clause
// HostRounds: numbers of all ranks of one host combined through memory that they share. Whoever comes last combines, so
// every rank needs its core twice: to leave its numbers, and to take the result. A reduction by messages needs it at
// every step of a tree, which costs where ranks outnumber cores (8 ranks on 2 cores: 31 us by MPI_Allreduce).
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
  static constexpr size_t k_most = 1024;  // numbers
  // to[i] takes in from[i]; both have `count` numbers.
  using Combine = void (*)(const int64_t* from, int64_t* to, size_t count) noexcept;

  // Collective over `host`. Afterwards is_ready() and has_room() say the same on all its ranks. `room`: bytes of each
  // rank for what others read after a round. `ranks_per_core`: where they are many, and messages of other hosts may be
  // on their way, who waits gives its core away for longer at a time.
  void prepare(MPI_Comm host, int rank, int size, int64_t room, long ranks_per_core = 0);
  bool is_ready() const noexcept { return size_ > 0; }
  int rank() const noexcept { return rank_; }  // of the host
  bool has_room() const noexcept { return room_; }
  void free() noexcept { segment_.free(); }

  // What tells rounds apart: the number of the call that a rank is in, and a number from 0 to k_kinds - 1 of what it
  // comes with.
  static constexpr int64_t k_kinds = int64_t{1} << 24;
  struct Step {
    int64_t call = 0, kind = 0;
  };
  // Collective. Combines, in the order of the ranks. False, on every rank: they came with different counts, or in
  // different steps, and `mismatch` says which, by their ranks of the host. While it waits, MPI goes on with what
  // others need of this rank.
  bool run(std::span<int64_t> numbers, Step step, Combine combine, MPI_Comm progress, Mismatch& mismatch) noexcept {
    return run(all_, numbers, step, combine, progress, {}, mismatch);
  }

  // The same, and between the combining and the taking of the result rank 0 looks at it, does what it has to do, and
  // may change it. All ranks give something, rank 0's is called; it must not throw. Another kind of round: ranks that
  // come to different kinds are in different calls.
  using Between = FunctionRef<void(std::span<int64_t> result)>;
  bool run(std::span<int64_t> numbers, Step step, Combine combine, MPI_Comm progress, Between between,
           Mismatch& mismatch) noexcept {
    return run(all_, numbers, step, combine, progress, between, mismatch);
  }

  // The same among some, while the others wait in the next round of all: ranks 0, spacing, 2 spacing and so on, `count`
  // of them. start_some(): local, on all ranks; a round of all has to come between it and the last such round before,
  // and another between it and the first behind.
  void start_some(int spacing, int count) noexcept;
  bool is_one_of_some() const noexcept { return rank_ % some_.spacing == 0 && rank_ / some_.spacing < some_.count; }
  bool run_some(std::span<int64_t> numbers, Combine combine, MPI_Comm progress, Mismatch& mismatch) noexcept {
    return run(some_, numbers, {}, combine, progress, {}, mismatch);
  }

  // How many rounds of all there have been: the same on every rank, between two of them.
  uint64_t rounds() const noexcept { return all_.round; }
  // What a rank writes there before it comes to a round, others may read after it, until that rank writes again.
  std::byte* room_of(int rank) const noexcept;

 private:
  struct Control;
  // Who comes to rounds, and how many there have been.
  struct Group {
    int control = 0, spacing = 1, count = 0;
    uint64_t round = 0;
  };
  Control& control_of(const Group& group) const noexcept;
  int64_t* numbers_of(int rank) const noexcept;
  int64_t* result_of(const Group& group) const noexcept;
  bool run(Group& group, std::span<int64_t> numbers, Step step, Combine combine, MPI_Comm progress, Between between,
           Mismatch& mismatch) noexcept;
  bool is_one_kind(const Group& group) const noexcept;
  void wait_for(std::atomic<uint32_t>& word, uint64_t round, MPI_Comm progress) const noexcept;
  void publish(const Group& group, bool mixed, Combine combine, Between between) noexcept;

  SharedSegment segment_;
  int rank_ = 0, size_ = 0;
  bool room_ = false;
  int yields_ = 64;  // with 16, 8 ranks on 2 cores that write 0.4 MB to a new file took 13 % longer: most waits end
                     // within some 100 us
  long sleep_ns_ = 100'000;
  Group all_, some_{.control = 1};
};

}  // namespace windrow
