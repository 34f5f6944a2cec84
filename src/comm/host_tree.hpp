// SPDX-License-Identifier: BSD-3-Clause
// HostTree: reductions over the ranks of several hosts. The ranks of each host combine in shared memory (HostRounds).
// The lowest rank of each host then exchanges messages up and down a tree of hosts. Most ranks thus send no messages
// and poll for none, which is most of the cost of a reduction by messages if ranks outnumber cores.
//
//   other rank of a host   lowest rank of a host                         lowest rank of host 0
//   enters HostRounds      combining: HostRounds of its host             combining
//     | waits              children: waits for k_tag_up of each child    children
//     |                    parent: sends k_tag_up, waits for k_tag_down  work of rank 0, if any
//     |                    down: sends k_tag_down to each child          down
//   done              <--- done: HostRounds publishes the result         done
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
  // The outcome, the same on all ranks of a host.
  enum class Outcome {
    combined,
    different_calls,
    failed
  };
  // The first k_head numbers are a header and not combined. k_kinds of them distinguish steps; they are equal within a
  // host and not negative (see Step). The last is the number of the call, as in Step. The one before it belongs to the
  // tree.
  static constexpr size_t k_kinds = 4, k_head = k_kinds + 1;
  static constexpr size_t k_least = k_head + Mismatch::k_words;  // minimum length

  // Local. `roots`: the lowest rank of each host, ascending. `rounds`: of this host, or nullptr if it has one rank.
  // `host_ranks`: the ranks of this host, ascending. The tree refers to both lists.
  void prepare(MPI_Comm comm, std::span<const int> roots, int host_index, int machine_size, HostRounds* rounds,
               std::span<const int> host_ranks) noexcept;
  // Local: without shared memory, each rank is a host of its own.
  void prepare(MPI_Comm comm, int size, int rank, int machine_size) noexcept;
  bool is_ready() const noexcept { return hosts_ > 0; }

  // Collective. As HostRounds::run(), for at most HostRounds::k_most numbers; `between` is rank 0's, or none. `code`:
  // the MPI error of a call on this or another host; MPI_SUCCESS: a message of an earlier, failed round was received.
  // `mismatch`: for different calls, by the ranks of the communicator.
  Outcome run(const HostRounds::Round& round, int& code, Mismatch& mismatch) noexcept;

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
