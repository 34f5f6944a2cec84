// SPDX-License-Identifier: BSD-3-Clause
// What the operating system's error numbers mean to us.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"

namespace windrow {

Code code_of_errno(int error) noexcept;

// "no space left on device": the system's words, beginning with a small letter, to stand after a colon.
std::string text_of_errno(int error);

// `open of "a.h5": permission denied`. `what` is the operation, without the file.
Status system_status(std::string_view what, std::string_view path, int error) noexcept;

}  // namespace windrow
