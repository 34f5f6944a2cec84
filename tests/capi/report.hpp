// SPDX-License-Identifier: BSD-3-Clause
// The report of the last flush.
#pragma once

#include <nlohmann/json.hpp>

#include "checked.hpp"

namespace windrow_test {

inline nlohmann::json report_of(windrow_file* file) {
  const char* text = nullptr;
  EXPECT_WINDROW_OK(windrow_report(file, "json", &text));
  return nlohmann::json::parse(text);
}

}  // namespace windrow_test
