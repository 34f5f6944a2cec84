// SPDX-License-Identifier: BSD-3-Clause
// For programs that are tests with a main of their own: what is not true is told, and counted.
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
