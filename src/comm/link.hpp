// SPDX-License-Identifier: BSD-3-Clause
// Measures the speed of links between hosts, with which the cost of compression is compared.
#pragma once

#include "base/status.hpp"
#include "comm/comm.hpp"

namespace windrow {

// The result of a measurement. The same on every rank except for `sent`.
struct LinkProbe {
  // of the slowest link; 0: all ranks are on one host, a rank has no memory for it, or the byte limit is too low
  double seconds_per_byte = 0;
  bool rough = false;  // only short messages were sent
  int64_t sent = 0;    // bytes sent by this rank
};

inline constexpr int64_t k_unbounded_probe = int64_t{1} << 40;

// Collective. One rank of each host sends to that of the next host, all at once, three times each with growing sizes,
// until a message takes long enough for the clock (2 ms, or 1 MiB). A host sends no more than `most_bytes` in total.
// Sizes start at 64 KiB if allowed; otherwise at 4 or 16 KiB, from which the time of a one-byte message is subtracted.
// `most_bytes` is the same on every rank. Takes a few milliseconds; longer over links slower than 100 Mbit/s.
Result<LinkProbe> measure_link(const Comm& comm, int64_t most_bytes);

}  // namespace windrow
