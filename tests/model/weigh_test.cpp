// SPDX-License-Identifier: BSD-3-Clause
// What an interval and a byte cost a rank.
#include "model/weigh.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model/defaults.hpp"

namespace windrow::test {

TEST(Weigh, of_a_buffer_an_interval_is_a_piece_to_copy) {
  Machine machine = default_machine("local", 8);
  machine.memory.piece_s = 3e-8;
  const WriteWeights weights = weigh_writing(machine, 256);
  EXPECT_NEAR(weights.interval_s, 3e-8, 1e-10);
  EXPECT_GT(weights.byte_s, 1 / machine.memory.copy_bytes_per_s);
}

TEST(Weigh, of_requests_an_interval_is_one) {
  Machine machine;
  machine.memory.piece_s = 1;  // so that no rank would copy
  machine.storage.request_s = 1e-5;
  machine.storage.target_request_s = 0;
  machine.storage.target_write_bytes_per_s = 1e12;
  EXPECT_NEAR(weigh_writing(machine, 4096).interval_s, 1e-5, 1e-7);
}

TEST(Weigh, intervals_of_a_dearer_machine_cost_more) {
  Machine machine = default_machine("lustre", 8);
  double before = 0;
  for (const double piece_s : {0.0, 1e-9, 1e-8, 1e-7}) {
    machine.memory.piece_s = piece_s;
    const double now = weigh_writing(machine, 256).interval_s;
    EXPECT_GE(now, before);
    before = now;
  }
  EXPECT_GT(before, 0);
}

TEST(Weigh, is_sound_for_any_numbers) {
  for (const double number : {0.0, 1e-300, 1e300, std::numeric_limits<double>::infinity(), std::nan("")})
    for (const int64_t interval : {int64_t{0}, int64_t{-1}, int64_t{1}, std::numeric_limits<int64_t>::max()}) {
      Machine machine;
      machine.memory.copy_bytes_per_s = machine.memory.piece_s = machine.storage.request_s =
          machine.storage.client_bytes_per_s = number;
      const WriteWeights weights = weigh_writing(machine, interval);
      EXPECT_TRUE(std::isfinite(weights.interval_s) && weights.interval_s >= 0) << number << ' ' << interval;
      EXPECT_TRUE(std::isfinite(weights.byte_s) && weights.byte_s > 0) << number << ' ' << interval;
    }
}

}  // namespace windrow::test
