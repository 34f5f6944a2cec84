// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"

namespace windrow {

// Writes this content to a new or empty file.
Status write_text_file(const std::string& path, std::string_view text);

}  // namespace windrow
