// SPDX-License-Identifier: BSD-3-Clause
// HostRounds: numbers of all ranks of one host combined through memory that they share. Whoever comes last combines, so every rank needs
// its core twice: to leave its numbers, and to take the result. A reduction by messages needs it at every step of a tree, which costs
// where ranks outnumber cores (8 ranks on 2 cores: 31 us by MPI_Allreduce).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "comm/shared_segment.hpp"

namespace windrow {

class HostRounds {
 public:
  static constexpr size_t k_most = 1024;  // numbers
  // to[i] takes in from[i]; both have `count` numbers.
  using Combine = void (*)(const int64_t* from, int64_t* to, size_t count) noexcept;

  // Collective over `host`. Afterwards is_ready() says the same on all its ranks.
  void prepare(MPI_Comm host, int rank, int size);
  bool is_ready() const noexcept { return size_ > 0; }
  Status free() { return segment_.free(); }  // collective over the host

  // Collective. Combines, in the order of the ranks. False, on every rank: they came with different counts, so they are in different calls.
  // While it waits, MPI goes on with what others need of this rank.
  bool run(std::span<int64_t> numbers, Combine combine, MPI_Comm progress) noexcept;

 private:
  struct Control;
  Control& control() const noexcept;
  int64_t* numbers_of(int rank) const noexcept;
  void publish(Combine combine) noexcept;
  void wait(uint32_t round, MPI_Comm progress) const noexcept;

  SharedSegment segment_;
  int rank_ = 0, size_ = 0;
  uint64_t round_ = 0;
};

}  // namespace windrow
