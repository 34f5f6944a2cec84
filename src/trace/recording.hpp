// SPDX-License-Identifier: BSD-3-Clause
// Recording: what a traced flush keeps of one rank in addition to its counters: times of stages, request sizes, and
// bytes by target. Of fixed size: nothing here allocates.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "trace/trace.hpp"

namespace windrow {

// The number of requests with a size in [2^i, 2^(i+1)) bytes; a request of no bytes counts as one byte.
class RequestSizes {
 public:
  static constexpr size_t k_powers = 63;
  // If only the total of several requests is known, they count as equally large.
  void add(int64_t requests, int64_t bytes) noexcept;
  void clear() noexcept { counts_ = {}; }
  const std::array<int64_t, k_powers>& counts() const noexcept { return counts_; }

 private:
  std::array<int64_t, k_powers> counts_{};
};

// Bytes by target; targets beyond the capacity count as k_others.
class TargetBytes {
 public:
  static constexpr size_t k_most = 64;
  static constexpr int64_t k_others = -1;
  struct Part {
    int64_t target = k_others;
    int64_t bytes = 0;
  };
  void add(int64_t target, int64_t bytes) noexcept;
  void clear() noexcept { count_ = 0; }
  std::span<const Part> parts() const noexcept { return std::span(parts_).first(count_); }

 private:
  std::array<Part, k_most + 1> parts_{};
  size_t count_ = 0;
};

struct Recording {
  Timeline program;  // the calling thread
  Timeline storage;  // the thread that makes the storage requests
  RequestSizes writes, reads;
  TargetBytes targets;  // written and read

  void clear() noexcept {
    program.clear(), storage.clear();
    writes.clear(), reads.clear();
    targets.clear();
  }
};

}  // namespace windrow
