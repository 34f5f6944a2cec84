// SPDX-License-Identifier: BSD-3-Clause
// StripeTally: which targets and which stripes a rank's requests touched. A stripe that two ranks have tallied has a
// lock that went from one to the other.
#pragma once

#include <map>
#include <vector>

#include "layout/layout.hpp"

namespace windrow {

struct TargetTally {
  int64_t requests = 0;  // that touched it
  int64_t bytes = 0;
  int64_t latest = 0;  // of the rank's requests
};

// Stripes at begin, begin + stride, ... that were touched one after the other; of one length, but where a component
// ends.
struct StripeRun {
  int64_t begin = 0;
  int64_t stride = 0;
  int64_t count = 1;
};

class StripeTally {
 public:
  static constexpr size_t k_most_runs = 4096;
  void add(const StorageLayout& layout, Extent request);
  void clear() noexcept;
  const std::map<int64_t, TargetTally>& targets() const noexcept {
    return targets_;
  }  // by number; k_no_target: those that are not known
  // In the order of the requests; one may be named twice where these go back. Beyond k_most_runs nobody keeps them, and
  // there are none.
  const std::vector<StripeRun>& stripes() const noexcept { return runs_; }

 private:
  void add_stripe(int64_t begin);

  std::map<int64_t, TargetTally> targets_;
  std::vector<StripeRun> runs_;
  int64_t requests_ = 0;
  bool too_many_ = false;
};

}  // namespace windrow
