// SPDX-License-Identifier: BSD-3-Clause
// What a rank predicts goes to the others as sums of whole numbers, beside the counters, and comes back.
#include <gtest/gtest.h>

#include <array>

#include "reporting/report.hpp"

namespace windrow {
namespace {

TEST(Tuning, comes_back_as_it_was_told) {
  Predicted told;
  for (size_t arm = 0; arm < k_most_arms; ++arm) {
    told.found[arm] = 1.5 + static_cast<double>(arm);
    told.quiet[arm] = 100.25 + static_cast<double>(arm);
    told.wire[arm] = 0.125 * static_cast<double>(arm);
  }
  std::array<int64_t, k_trace_sums> sums{};
  std::array<int64_t, k_trace_maxima> maxima{};
  store_trace({}, sums, maxima);
  store_tuning(told, sums);
  Predicted back;
  read_tuning(back, sums);
  for (size_t arm = 0; arm < k_most_arms; ++arm) {
    EXPECT_NEAR(back.found[arm], told.found[arm], 2e-9);
    EXPECT_NEAR(back.quiet[arm], told.quiet[arm], 2e-9);
    EXPECT_NEAR(back.wire[arm], told.wire[arm], 2e-9);
  }
}

}  // namespace
}  // namespace windrow
