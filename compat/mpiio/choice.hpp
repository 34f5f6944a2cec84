// SPDX-License-Identifier: BSD-3-Clause
// Choice: whether MPI's own function is faster than Windrow's way, from times of earlier calls. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace mpiio {

// Calls are alike if they have the same direction, and the same kind of access and power of two of bytes in all.
class Choice {
 public:
  static constexpr int k_sizes = 62;
  static int size_of(int64_t bytes) noexcept;  // of all ranks, > 0: the power of two

  // One bit for each size: set if the next call of this size goes to MPI.
  int64_t passing(bool writes, bool is_contiguous) const noexcept;
  void add(bool writes, bool is_contiguous, int64_t bytes, bool passed, double seconds) noexcept;

 private:
  struct Times {
    int64_t taken = 0, passed = 0;
    int64_t trial_at = 0;  // calls taken before MPI's function is tried
    double best_taken = std::numeric_limits<double>::infinity();
    double best_passed = std::numeric_limits<double>::infinity();

    bool passes(int size) const noexcept;
  };
  using Sizes = std::array<Times, k_sizes>;
  const Sizes& sizes(bool writes, bool is_contiguous) const noexcept;

  std::array<Sizes, 4> sizes_;
};

}  // namespace mpiio
