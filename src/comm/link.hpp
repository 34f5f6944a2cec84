// SPDX-License-Identifier: BSD-3-Clause
// How fast the link between hosts is: what compression of messages is weighed against.
#pragma once

#include "base/status.hpp"
#include "comm/comm.hpp"

namespace windrow {

// What a measurement found. But for `sent` the same on every rank.
struct LinkProbe {
  double seconds_per_byte =
      0;  // of the slowest link; 0: all ranks are on one host, a rank has no memory for it, or it may not send enough
  bool rough = false;  // only short messages were sent
  int64_t sent = 0;    // bytes, by this rank
};

inline constexpr int64_t k_unbounded_probe = int64_t{1} << 40;

// Collective. One rank of each host sends to the next host's, all at once, more and more, three times each, until it
// takes long enough to be told from noise (2 ms, or 1 MiB), and no more than `most_bytes` in all. From 64 KiB on where
// that allows it; else of 4 or 16 KiB, less what a message of one byte takes. `most_bytes`: of each host, the same on
// every rank. Takes a few milliseconds, longer over links slower than 100 Mbit/s.
Result<LinkProbe> measure_link(const Comm& comm, int64_t most_bytes);

}  // namespace windrow
