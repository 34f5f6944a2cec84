// SPDX-License-Identifier: BSD-3-Clause
// Environment variables whose names begin with "WINDROW_": options, names of the project's tools and tests, and
// misspelled names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace windrow {

struct EnvironmentVariable {
  std::string_view name, value;
};

// The variables of this process whose names begin with "WINDROW_", sorted by name.
std::vector<EnvironmentVariable> own_environment();

// Names that are not options but are read, without "WINDROW_".
std::span<const std::string_view> other_environment_names() noexcept;

// Warnings about variables that nothing reads, one line each, for explanations and reports: `environment variable
// WINDROW_STRATGY: there is no option of this name; did you mean WINDROW_STRATEGY?`
std::vector<std::string> environment_warnings();

}  // namespace windrow
