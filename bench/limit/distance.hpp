// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace bench {

// Nanoseconds of the round trip of a cache line between the first and the last core that this process may use, the
// median of some; 0: there is one core. On a virtual machine it shows how far apart its host has placed them.
double round_trip_ns();

}  // namespace bench
