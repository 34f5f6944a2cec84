// SPDX-License-Identifier: BSD-3-Clause
// SharedSegment: memory that the ranks of a host share, some bytes given by each. Kept with the communicator, grown when a plan
// needs more, so that files and time steps use it again. One transfer uses it at a time.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.hpp"

namespace windrow {

class SharedSegment {
 public:
  SharedSegment() = default;
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;

  // Collective over `host`. Makes room for `bytes` of this rank and as much as they ask for of the others. The answer is the same on
  // all ranks of the host: false, without an error, where there is not enough of /dev/shm (MPI's own answer is no test: some of
  // its implementations succeed and die at the first touch). What was there before stays usable, though it may move.
  Result<bool> reserve(MPI_Comm host, int64_t bytes);

  // Into how many hosts this machine is parted: they allocate at the same time, and none sees what the others are about to touch.
  void share_machine(int parts) noexcept { parts_ = parts; }

  // Local, and the same answer on all ranks of the host: whether a rank has given this much already.
  bool holds(int host_rank, int64_t bytes) const noexcept {
    return window_ != MPI_WIN_NULL && given_[static_cast<size_t>(host_rank)] >= bytes;
  }

  // Where the bytes of a rank of the host begin; aligned to a page.
  std::byte* base_of(int host_rank) const noexcept { return bases_[static_cast<size_t>(host_rank)]; }

  Status free();  // collective over the host

  // All that this process still has, the oldest first. Collective over the hosts of each: since ranks that share several have made them in one order, none
  // waits for another that waits for it, as they may where MPI frees them at its end in an order of each process's own.
  static void free_all();
  static bool are_all_free() noexcept { return all_free_; }  // MPI ends, and what has used them cannot go on

 private:
  struct Living;
  static Living living;
  static bool all_free_;

  Result<bool> allocate(MPI_Comm host, int64_t bytes);

  MPI_Win window_ = MPI_WIN_NULL;
  int parts_ = 1;
  std::vector<std::byte*> bases_;
  std::vector<int64_t> given_;   // [host ranks] bytes
  int64_t mine_ = 0;       // bytes that this rank has given
  SharedSegment* older_ = nullptr;  // in the list of those that have a window
  SharedSegment* newer_ = nullptr;
};

}  // namespace windrow
