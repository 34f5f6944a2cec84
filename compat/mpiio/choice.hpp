// SPDX-License-Identifier: BSD-3-Clause
// Choice: whether MPI's own function is faster than Windrow's way, from times of earlier calls. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace mpiio {

// Calls are alike if they have the same direction, and the same kind of access and power of two of bytes in all.
class Choice {
 public:
  static constexpr int k_sizes = 62;
  static int size_of(int64_t bytes) noexcept;  // of all ranks, > 0: the power of two

  // One bit for each size.
  struct Ways {
    int64_t passed = 0;  // whether the next call of this size goes to MPI
    int64_t timed = 0;   // whether its time is wanted, if it goes to MPI
  };
  // Calls of fewer bytes than `least`, a power of two, are small: they go to MPI until there are many of them.
  Ways ways(bool writes, bool is_contiguous, int64_t least) const noexcept;
  // A call that has ended. `seconds`: of all ranks; negative if unknown.
  void add(bool writes, bool is_contiguous, int64_t bytes, bool passed, double seconds) noexcept;

 private:
  // The last times of one way. Old ones are forgotten, because the storage may have become slower.
  class Recent {
   public:
    Recent() noexcept { seconds_.fill(std::numeric_limits<double>::infinity()); }
    void add(double seconds) noexcept { seconds_[static_cast<size_t>(calls_++) % seconds_.size()] = seconds; }
    int64_t calls() const noexcept { return calls_; }
    double best() const noexcept { return *std::min_element(seconds_.begin(), seconds_.end()); }

   private:
    std::array<double, 4> seconds_;
    int64_t calls_ = 0;
  };
  struct Way {
    bool passed = false, timed = false;
  };
  struct Times {
    Recent taken, passed;
    int64_t calls = 0;     // with those of unknown time
    int64_t trial_at = 0;  // calls taken before MPI's function is tried

    Way next(int size, bool is_small) const noexcept;
  };
  using Sizes = std::array<Times, k_sizes>;
  const Sizes& sizes(bool writes, bool is_contiguous) const noexcept;

  std::array<Sizes, 4> sizes_;
};

}  // namespace mpiio
