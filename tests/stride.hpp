// SPDX-License-Identifier: BSD-3-Clause
// Sweeps try every case. The longest ones try every n-th case in the quick set (STRIDE n of windrow_mpi_test), or with
// sanitizers (STRIDE n of windrow_test). n has no divisor in common with what cases are chosen by.
#pragma once

#include <cstdlib>

namespace windrow_test {

inline int stride() {
  const char* given = std::getenv("WINDROW_TEST_STRIDE");
  return given == nullptr ? 1 : std::atoi(given);
}

}  // namespace windrow_test
