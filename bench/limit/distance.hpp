// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace bench {

// Nanoseconds that a word in memory takes from the first core that this process may use to the last and back, the
// median of some; 0: there is one core. On a virtual machine it tells how far apart its host has put them.
double round_trip_ns();

}  // namespace bench
