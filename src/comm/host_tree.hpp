// SPDX-License-Identifier: BSD-3-Clause
// HostTree: numbers of all ranks of several hosts combined. The ranks of a host do it in memory that they share
// (HostRounds), the lowest of each then by messages, up a tree of hosts and down again. So a rank sends at most to its
// parent and its children, and most ranks send nothing and poll for nothing: where ranks outnumber cores that is most
// of what a reduction by messages of all ranks costs.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "comm/host_rounds.hpp"

namespace windrow {

class HostTree {
 public:
  // Combines reductions; see HostRounds::Combine.
  using Combine = HostRounds::Combine;
  using Between = HostRounds::Between;
  // What became of it, the same on all ranks of a host.
  enum class Outcome {
    combined,
    different_calls,
    failed
  };
  // The first of the numbers are no numbers to combine. k_kinds of them tell steps apart, and are the same within a
  // host: see Step; none is negative. The last is that of the call, as in Step. Another is the tree's own.
  static constexpr size_t k_kinds = 4, k_head = k_kinds + 1;
  static constexpr size_t k_least = k_head + Mismatch::k_words;  // numbers that there have to be

  // Local. `roots`: the lowest rank of each host, ascending. `rounds`: of this host's ranks, or nullptr where there is
  // one. `host_ranks`: these, ascending. Both lists have to live as long.
  void prepare(MPI_Comm comm, std::span<const int> roots, int host_index, int machine_size, HostRounds* rounds,
               std::span<const int> host_ranks) noexcept;
  // Local: where memory cannot be shared, each rank is a host of its own.
  void prepare(MPI_Comm comm, int size, int rank, int machine_size) noexcept;
  bool is_ready() const noexcept { return hosts_ > 0; }

  // Collective. As HostRounds::run(), of at most HostRounds::k_most numbers; `between` is rank 0's, or none. `code`:
  // MPI's, of a call that failed on this or another host; MPI_SUCCESS: what came is of an earlier round, in which one
  // did. `mismatch`: where calls are different, by the ranks of the communicator.
  Outcome run(std::span<int64_t> numbers, HostRounds::Step step, Combine combine, Between between, int& code,
              Mismatch& mismatch) noexcept;

 private:
  void reduce(std::span<int64_t> numbers, Combine combine, Between between) noexcept;
  int root_of(int host) const noexcept { return roots_.empty() ? host : roots_[static_cast<size_t>(host)]; }
  bool take_mark(std::span<const int64_t> come, std::span<int64_t> numbers, int host) const noexcept;
  int send(std::span<const int64_t> numbers, int host, int tag) const noexcept;
  int receive(std::span<int64_t> numbers, int host, int tag) const noexcept;

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::span<const int> roots_;  // empty: each rank is a host
  std::span<const int> host_ranks_;
  int hosts_ = 0, host_ = 0, machine_size_ = 1;
  HostRounds* rounds_ = nullptr;
  int64_t round_ = 0;
};

}  // namespace windrow
