// SPDX-License-Identifier: BSD-3-Clause
// Checks for test programs with their own main: failed conditions are printed and counted.
#pragma once

#include <windrow/windrow.h>

#include <cstdio>

namespace windrow_test {

inline int mistakes = 0;

inline void check(bool good, const char* what) {
  if (good)
    return;
  ++mistakes;
  std::fprintf(stderr, "not true: %s (last message: %s)\n", what, windrow_error_message());
}

}  // namespace windrow_test

#define CHECK(condition) windrow_test::check((condition), #condition)
