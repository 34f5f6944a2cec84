// SPDX-License-Identifier: BSD-3-Clause
// Messages and limits of the operating system.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace windrow {

Code code_of_errno(int error) noexcept;

// "no space left on device": the system's text in lower case, for use after a colon.
std::string text_of_errno(int error);

// `open of "a.h5": permission denied`. `what` is the operation, without the file.
Status system_status(std::string_view what, std::string_view path, int error) noexcept;

// Whether this error of fcntl() says that the file system has no locks.
bool means_no_locks(int error) noexcept;

// Whether a file with this end exceeds the process's limit (RLIMIT_FSIZE). Writing or resizing beyond it raises
// SIGXFSZ, which ends the process, so it must be checked first.
bool beyond_file_size_limit(int64_t end) noexcept;

}  // namespace windrow
