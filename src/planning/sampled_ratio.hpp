// SPDX-License-Identifier: BSD-3-Clause
// SampledRatio: the compression ratio of data for other hosts, estimated from a few KiB. It is sampled before a plan is
// made. With data that compresses a hundredfold, an exchange may be faster than many short requests; with
// incompressible data it may be slower.
#pragma once

#include <cstdint>
#include <span>

#include "exchange/item.hpp"

namespace windrow {

// Bytes to send, and their estimated compressed size. Those of several ranks are added.
struct SampledRatio {
  int64_t bytes = 0, left = 0;

  int64_t of_64() const noexcept;  // in units of 1/64, as in a pattern; 0: no sample
};

// Compresses up to 8 KiB from four positions of the items with the fastest available compressor, with and without
// shuffle. Allocates memory. Returns no sample if there are no bytes, or if no compressor is built in.
SampledRatio sampled_ratio_of(std::span<const Item> items);

}  // namespace windrow
