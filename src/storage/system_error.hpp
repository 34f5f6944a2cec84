// SPDX-License-Identifier: BSD-3-Clause
// What the operating system's error numbers and limits mean to us.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace windrow {

Code code_of_errno(int error) noexcept;

// "no space left on device": the system's words, beginning with a small letter, to stand after a colon.
std::string text_of_errno(int error);

// `open of "a.h5": permission denied`. `what` is the operation, without the file.
Status system_status(std::string_view what, std::string_view path, int error) noexcept;

// Whether a file that ends there is larger than this process may write (RLIMIT_FSIZE). Writing or resizing past that
// limit raises SIGXFSZ, which ends the process: ask first.
bool beyond_file_size_limit(int64_t end) noexcept;

}  // namespace windrow
