// SPDX-License-Identifier: BSD-3-Clause
// Clock offsets between hosts, so that times of several ranks can be shown on one axis.
#pragma once

#include "base/status.hpp"
#include "comm/comm.hpp"

namespace windrow {

struct ClockOffset {
  double seconds = 0;   // added to this rank's time, gives rank 0's
  double accuracy = 0;  // upper bound of the error
};

// Collective; no messages if all ranks run on one host, which has one clock. Otherwise the lowest rank of each host
// asks rank 0 for its time several times and uses the fastest round trip, assuming symmetric delays; it passes the
// offset to the ranks of its host. Source: F. Cristian, "Probabilistic clock synchronization", Distributed Computing 3,
// 1989. The status is this rank's own MPI error.
Result<ClockOffset> measure_clock(const Comm& comm);

}  // namespace windrow
