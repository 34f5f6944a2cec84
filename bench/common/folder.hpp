// SPDX-License-Identifier: BSD-3-Clause
// Where a sample is written.
#pragma once

#include <cstdint>
#include <string>

namespace bench {

// An empty folder, and memory for files of so many bytes: the host of a virtual machine takes memory back that has been
// free for a second or two, and gives it page by page to whoever writes next. 221 MB into a new file took 50 ms just
// after such a file had been removed, and 300 ms after a pause; which of the two a sample was would be chance. Local,
// outside the clock.
void make_folder(const std::string& path, int64_t bytes);

}  // namespace bench
