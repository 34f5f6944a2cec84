// SPDX-License-Identifier: BSD-3-Clause
#include "cli/progress.hpp"

#include <gtest/gtest.h>

namespace cli {
namespace {

TEST(ProgressText, says_bytes_rate_and_time_left_and_fits_the_terminal) {
  EXPECT_EQ(progress_text("copy", 50'000'000, 100'000'000, 0.5, 100),
            "copy [####################....................]  50 %  50.0 MB of 100 MB  100 MB/s  0.50 s left");
  for (int columns : {10, 40, 80, 200})
    EXPECT_LT(progress_text("copy", 1, 1'000'000'000'000, 1, columns).size(), static_cast<size_t>(columns));
  EXPECT_NE(progress_text("check", 0, 0, 0, 80).find("100 %"), std::string::npos);
}

}  // namespace
}  // namespace cli
