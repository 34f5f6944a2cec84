// SPDX-License-Identifier: BSD-3-Clause
// Variables of the environment whose names begin with "WINDROW_": options, those of the project's tools and tests, and
// slips of the pen.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace windrow {

struct EnvironmentVariable {
  std::string_view name, value;
};

// This process' variables whose names begin with "WINDROW_", by name.
std::vector<EnvironmentVariable> own_environment();

// Names that are no options and are read all the same, without "WINDROW_".
std::span<const std::string_view> other_environment_names() noexcept;

// What an explanation and a report say of variables that nothing reads, a line each:
// `environment variable WINDROW_STRATGY: there is no option of this name; did you mean WINDROW_STRATEGY?`
std::vector<std::string> environment_warnings();

}  // namespace windrow
