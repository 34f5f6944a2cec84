// SPDX-License-Identifier: BSD-3-Clause
// The argument of functions that return a report.
#pragma once

#include <cstring>

#include "capi/handles.hpp"

namespace windrow {

// Sets `json` to whether the format "json" is asked for, not "text".
inline Status check_text(const char* format, const char** text, bool& json) {
  json = format != nullptr && std::strcmp(format, "json") == 0;
  if (!json && (format == nullptr || std::strcmp(format, "text") != 0))
    return {Code::bad_argument, "the format is \"text\" or \"json\""};
  return text == nullptr ? null_argument("text") : Status{};
}

}  // namespace windrow
