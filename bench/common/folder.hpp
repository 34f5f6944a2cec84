// SPDX-License-Identifier: BSD-3-Clause
// Where a sample is written.
#pragma once

#include <cstdint>
#include <string>

namespace bench {

// An empty folder, and memory for files of this many bytes. The host of a virtual machine reclaims memory that was free
// for a second or two, and returns it page by page to the next writer. 221 MB into a new file took 50 ms just after
// such a file had been removed, and 300 ms after a pause. Without this a sample would be one of the two by chance.
// Local, outside the clock.
void make_folder(const std::string& path, int64_t bytes);

}  // namespace bench
