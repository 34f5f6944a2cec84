// SPDX-License-Identifier: BSD-3-Clause
// Sweeps try every case. In the quick set the longest sweeps try every n-th case (STRIDE n of windrow_mpi_test).
#pragma once

#include <cstdlib>

namespace windrow_test {

inline int stride() {
  const char* given = std::getenv("WINDROW_TEST_STRIDE");
  return given == nullptr ? 1 : std::atoi(given);
}

}  // namespace windrow_test
