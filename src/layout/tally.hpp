// SPDX-License-Identifier: BSD-3-Clause
// StripeTally: the targets and stripes that a rank's requests accessed. If two ranks have the same stripe, its lock
// moved between them.
#pragma once

#include <map>
#include <vector>

#include "layout/layout.hpp"

namespace windrow {

struct TargetTally {
  int64_t requests = 0;  // that accessed it
  int64_t bytes = 0;
  int64_t latest = 0;  // last request of the rank
};

// Stripes at begin, begin + stride, ... that were accessed in sequence. All have the same length, except at the end of
// a component.
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
  // By number; k_no_target: all unknown targets.
  const std::map<int64_t, TargetTally>& targets() const noexcept { return targets_; }
  // In the order of the requests; a stripe may occur twice if requests go backward. Empty if there are more than
  // k_most_runs runs.
  const std::vector<StripeRun>& stripes() const noexcept { return runs_; }

 private:
  void add_stripe(int64_t begin);

  std::map<int64_t, TargetTally> targets_;
  std::vector<StripeRun> runs_;
  int64_t requests_ = 0;
  bool too_many_ = false;
};

}  // namespace windrow
