// SPDX-License-Identifier: BSD-3-Clause
// What kind of file system a path lies on, as far as that is known without asking anybody else.
#pragma once

#include <string>

namespace windrow {

// True for a disk of this host or its memory: a request costs a system call, not a way through a network. False where it is not known.
bool is_on_local_disk(const std::string& path) noexcept;

}  // namespace windrow
