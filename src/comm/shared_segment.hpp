// SPDX-License-Identifier: BSD-3-Clause
// SharedSegment: memory that the ranks of a host share, some bytes given by each. Kept with the communicator, grown
// when a plan needs more, so that files and time steps use it again. One transfer uses it at a time.
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
  ~SharedSegment() { free(); }

  // Collective over `host`. Makes room for `bytes` of this rank and as much as they ask for of the others. The answer
  // is the same on all ranks of the host: false, without an error, where /dev/shm has too little, or where any rank
  // cannot have it (no descriptor, no address space). What was there before stays usable, though it may move.
  Result<bool> reserve(MPI_Comm host, int64_t bytes);

  // Into how many hosts this machine is parted: they allocate at the same time, and none sees what the others are about
  // to touch.
  void share_machine(int parts) noexcept { parts_ = parts; }

  // Local, and the same answer on all ranks of the host: whether a rank has given this much already.
  bool holds(int host_rank, int64_t bytes) const noexcept {
    return memory_ != nullptr && given_[static_cast<size_t>(host_rank)] >= bytes;
  }

  // Where the bytes of a rank of the host begin; aligned to a page.
  std::byte* base_of(int host_rank) const noexcept { return memory_ + begins_[static_cast<size_t>(host_rank)]; }

  void free() noexcept;  // local: the other ranks keep theirs

 private:
  struct Made;
  Result<bool> allocate(MPI_Comm host, int64_t bytes, int64_t total, const Made& made);

  std::byte* memory_ = nullptr;  // of all ranks
  int64_t length_ = 0;
  int parts_ = 1;
  std::vector<int64_t> begins_;  // [host ranks] in the memory
  std::vector<int64_t> given_;   // [host ranks] bytes
  std::vector<int64_t> wanted_;  // [host ranks] of an allocation under way
  int64_t mine_ = 0;             // bytes that this rank has given
};

}  // namespace windrow
