// SPDX-License-Identifier: BSD-3-Clause
// Is what was written, or read, what it should be? Every byte, outside the clock.
#pragma once

#include <string>
#include <vector>

#include "system.hpp"

namespace bench {

// Fills the buffers with a repetition's values; guard cells and all else with k_never_written.
void fill_buffers(const Case& data, const std::vector<Buffer>& buffers, int repetition);
void clear_buffers(const std::vector<Buffer>& buffers);

// "" or what is wrong, in words. Local: each rank looks at what it holds.
std::string check_buffers(const Case& data, const std::vector<Buffer>& buffers, int repetition);
std::string check_file(const Case& data, const std::vector<Location>& locations, int repetition);

}  // namespace bench
