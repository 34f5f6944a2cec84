// SPDX-License-Identifier: BSD-3-Clause
// SharedSegment: memory that the ranks of a host share, each contributing a part. It belongs to the communicator and
// grows if a plan needs more, so files and time steps reuse it. One transfer uses it at a time.
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

  // Collective over `host`. Reserves `bytes` for this rank. The result is the same on all ranks of the host.
  // Returns false, which is no error, if /dev/shm has too little memory or a rank cannot map it (no descriptor, no
  // address space). Previous content stays valid but may move.
  Result<bool> reserve(MPI_Comm host, int64_t bytes);

  // Number of hosts into which this machine is divided: they allocate concurrently, and none sees what the others will
  // use.
  void share_machine(int parts) noexcept { parts_ = parts; }

  // Local, and the same on all ranks of the host: whether a rank has contributed this much already.
  bool holds(int host_rank, int64_t bytes) const noexcept {
    return memory_ != nullptr && given_[static_cast<size_t>(host_rank)] >= bytes;
  }

  // Start of the bytes of a rank of the host; page-aligned.
  std::byte* base_of(int host_rank) const noexcept { return memory_ + begins_[static_cast<size_t>(host_rank)]; }

  void free() noexcept;  // local: other ranks keep their mapping

 private:
  struct Made;
  Result<bool> allocate(MPI_Comm host, int64_t bytes, int64_t total, const Made& made);

  std::byte* memory_ = nullptr;  // of all ranks
  int64_t length_ = 0;
  int parts_ = 1;
  std::vector<int64_t> begins_;  // [host ranks] offsets
  std::vector<int64_t> given_;   // [host ranks] bytes
  std::vector<int64_t> wanted_;  // [host ranks] of the current allocation
  int64_t mine_ = 0;             // bytes of this rank
};

}  // namespace windrow
