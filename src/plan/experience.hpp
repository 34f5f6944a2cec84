// SPDX-License-Identifier: BSD-3-Clause
// Experience: how far off what was foretold of flushes turned out to be; what is foretold next is corrected by it. Pure, of a fixed size: who is told the
// same numbers in the same order knows the same.
#pragma once

#include <array>
#include <cstdint>

#include "model/predict.hpp"

namespace windrow {

class Experience {
 public:
  // Of a flush whose work was foretold for the machine, without corrections: how long exchange and storage took on the slowest rank. What was
  // foretold to be next to nothing, or took as little, says nothing of the machine.
  void learn(const Work& work, const Prediction& foretold, double exchange_s, double storage_s) noexcept;

  // Of work that shares the file in a way that nobody has seen yet: as of all ways that were seen in that direction.
  Corrections corrections_for(const Work& work) const noexcept;

  int64_t flushes() const noexcept { return flushes_; }  // that were learned from
  void clear() noexcept { *this = Experience(); }
  friend bool operator==(const Experience&, const Experience&) = default;

 private:
  // Seconds measured to seconds foretold, the logarithms' mean with the last as heavy as all before it.
  struct Ratio {
    double logarithm = 0;
    int64_t count = 0;
    void add(double measured, double foretold) noexcept;
    double value() const noexcept;
    friend bool operator==(const Ratio&, const Ratio&) = default;
  };
  std::array<Ratio, 2> exchange_{};                                        // to write, to read
  std::array<std::array<Ratio, k_sharing_count>, 2> storage_{};            // the same, by how ranks share the file
  int64_t flushes_ = 0;
};

}  // namespace windrow
