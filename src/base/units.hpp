// SPDX-License-Identifier: BSD-3-Clause
// Numbers as people read them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace windrow {

// "0 B", "999 B", "4.2 MB", "1.0 GB": decimal units, one digit after the point.
inline std::string text_of_bytes(int64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  constexpr const char* k_units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes) / 1000.0;
  int unit = 0;
  for (; value >= 999.95 && unit < 5; ++unit) value /= 1000.0;  // 999.95 would print as 1000.0
  return fmt::format("{:.1f} {}", value, k_units[unit]);
}

}  // namespace windrow
