// SPDX-License-Identifier: BSD-3-Clause
// How fast the link between hosts is: what compression of messages is weighed against.
#pragma once

#include "base/status.hpp"
#include "comm/comm.hpp"

namespace windrow {

// Collective. Seconds a byte between the hosts of the communicator, of the slowest link: one rank of each host sends to the next host's, all at once,
// more and more, three times each, until it takes long enough to be told from noise (2 ms, or 1 MiB). 0: all ranks are on one host, or a rank has no memory for it.
// Takes a few milliseconds, longer over links slower than 100 Mbit/s (64 KiB travel three times in any case). The same answer on every rank.
Result<double> measure_link(const Comm& comm);

}  // namespace windrow
