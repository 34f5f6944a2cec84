// SPDX-License-Identifier: BSD-3-Clause
// The hosts' clocks beside each other, so that times of several ranks can be drawn on one line.
#pragma once

#include "base/status.hpp"
#include "comm/comm.hpp"

namespace windrow {

struct ClockOffset {
  double seconds = 0;   // to be added to this rank's time to have rank 0's
  double accuracy = 0;  // off by no more than this
};

// Collective, and no message where all ranks run on one host: they have one clock. Else the lowest rank of each host
// asks rank 0 for its time, a few times, and believes the answer that came soonest to lie in the middle of the way; its
// host's ranks are told. Source: F. Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989. The
// status is this rank's own: MPI's.
Result<ClockOffset> measure_clock(const Comm& comm);

}  // namespace windrow
