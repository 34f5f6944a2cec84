// SPDX-License-Identifier: BSD-3-Clause
// Gathers a few bytes of every rank on rank 0, in memory allocated in advance, so that no rank can fail alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "comm/comm.hpp"

namespace windrow {

class Gatherer {
 public:
  // Local; allocates memory for all ranks on rank 0. `shares`: returns the maximum number of bytes of a rank; the sum
  // must be below 2 GiB. May throw std::bad_alloc.
  template <class Share>
  Gatherer(const Comm& comm, Share&& share) : rank_(comm.rank()) {
    if (rank_ != 0)
      return;
    lengths_.resize(static_cast<size_t>(comm.size()));
    offsets_.resize(lengths_.size());
    int64_t room = 0;
    for (int rank = 0; rank < comm.size(); ++rank)
      room += share(rank);
    // Not initialized: pages that receive no data stay unallocated.
    memory_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(room));
  }
  // Collective: two MPI calls. Fails only if MPI does.
  Status run(const Comm& comm, std::span<const std::byte> mine);
  // On rank 0, the last contribution of a rank; valid until the next run.
  std::span<const std::byte> from(int rank) const noexcept {
    const auto i = static_cast<size_t>(rank);
    return {memory_.get() + offsets_[i], static_cast<size_t>(lengths_[i])};
  }

 private:
  int rank_;
  std::vector<int> lengths_, offsets_;
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace windrow
