// SPDX-License-Identifier: BSD-3-Clause
// HostTree: numbers of all ranks of several hosts combined. The ranks of a host do it in memory that they share (HostRounds), the lowest of each then by messages, up a tree of
// hosts and down again. So a rank sends at most to its parent and its children, and most ranks send nothing and poll for nothing: where ranks outnumber cores that is most of
// what a reduction by messages of all ranks costs.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "comm/host_rounds.hpp"

namespace windrow {

class HostTree {
 public:
  // Combines pulses; see HostRounds::Combine.
  using Combine = HostRounds::Combine;
  using Between = HostRounds::Between;
  // What became of it, the same on all ranks of a host.
  enum class Outcome { combined, different_calls, failed };
  // The first of the numbers are no numbers to combine. k_kinds of them tell calls apart, and are the same within a host: see `kind`; none is negative. Another is the tree's own.
  static constexpr size_t k_kinds = 3, k_head = k_kinds + 1;

  // Local. `roots`: the lowest rank of each host, ascending; has to live as long. `rounds`: of this host's ranks, or nullptr where there is one.
  void prepare(MPI_Comm comm, std::span<const int> roots, int host_index, int machine_size, HostRounds* rounds) noexcept;
  bool is_ready() const noexcept { return !roots_.empty(); }

  // Collective. As HostRounds::run(), of at most HostRounds::k_most numbers; `between` is rank 0's, or none. `code`: MPI's, of a call that failed on this or another host; MPI_SUCCESS: what
  // came is of an earlier round, in which one did.
  Outcome run(std::span<int64_t> numbers, int64_t kind, Combine combine, Between between, int& code) noexcept;

 private:
  void reduce(std::span<int64_t> numbers, Combine combine, Between between) noexcept;
  int send(std::span<const int64_t> numbers, int host, int tag) const noexcept;
  int receive(std::span<int64_t> numbers, int host, int tag) const noexcept;

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::span<const int> roots_;
  int host_ = 0, machine_size_ = 1;
  HostRounds* rounds_ = nullptr;
  int64_t round_ = 0;
};

}  // namespace windrow
