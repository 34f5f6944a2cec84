// SPDX-License-Identifier: BSD-3-Clause
// Recording: what a traced flush keeps of one rank beside its counters: when it was in which stage, how large its
// requests were, and what of them went to which target. Of a fixed size: nothing here allocates.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "trace/trace.hpp"

namespace windrow {

// How many requests had a size of [2^i, 2^(i+1)) bytes; one of no bytes counts as one of a single byte.
class RequestSizes {
 public:
  static constexpr size_t k_powers = 63;
  // Several requests that are known only together are counted as equally large.
  void add(int64_t requests, int64_t bytes) noexcept;
  void clear() noexcept { counts_ = {}; }
  const std::array<int64_t, k_powers>& counts() const noexcept { return counts_; }

 private:
  std::array<int64_t, k_powers> counts_{};
};

// Bytes by target; those of targets that find no room any more go to k_others.
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
  Timeline program;  // of the thread that the program calls in
  Timeline storage;  // of whoever makes the requests, in windows
  RequestSizes writes, reads;
  TargetBytes targets;  // written and read

  void clear() noexcept {
    program.clear(), storage.clear();
    writes.clear(), reads.clear();
    targets.clear();
  }
};

}  // namespace windrow
