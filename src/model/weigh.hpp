// SPDX-License-Identifier: BSD-3-Clause
// Weigh: what a rank's part of a write costs, so that parts can be compared: each stretch of consecutive bytes, and
// each byte. Pure.
#pragma once

#include <cstdint>

#include "model/machine.hpp"

namespace windrow {

struct WriteWeights {
  double interval_s = 0;  // seconds a stretch, apart from its bytes
  double byte_s = 0;      // more than 0
};

// Of a rank that writes stretches of `interval_bytes` each: by the way that predict() finds faster, a request for each
// or a buffer that is filled and written. As if it were alone: what it shares with others depends on how many they are,
// and owners must not. Any numbers are safe.
WriteWeights weigh_writing(const Machine& machine, int64_t interval_bytes);

}  // namespace windrow
