// SPDX-License-Identifier: BSD-3-Clause
// Weigh: the cost of a rank's part of a write for each contiguous interval and for each byte, so that parts can be
// compared. Pure.
#pragma once

#include <cstdint>

#include "model/machine.hpp"

namespace windrow {

struct WriteWeights {
  double interval_s = 0;  // seconds for each interval, without its bytes
  double byte_s = 0;      // positive
};

// Weights of a rank that writes intervals of `interval_bytes`. Takes the faster of two ways, as predict() finds it: one
// request for each interval, or a buffer that is filled and written. Contention is left out: it depends on the number
// of ranks, and owners must not. Safe for any numbers.
WriteWeights weigh_writing(const Machine& machine, int64_t interval_bytes);

}  // namespace windrow
