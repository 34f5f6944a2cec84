// SPDX-License-Identifier: BSD-3-Clause
// What stands between a file from outside and PnetCDF, which counts on the numbers in a header: they are compared with the specification, with
// each other and with the length of the file before the library sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/status.hpp"

namespace windrow {

// Bytes of the header at the beginning of `bytes`, which are the first of a file of `file_bytes`; 0: it goes on behind them.
// Code::bad_file: what is wrong, and where; unsupported: a file that is still being written (of "streaming" length).
// Nothing outside `bytes` is read. O(header).
Result<int64_t> inspect_header(std::span<const std::byte> bytes, int64_t file_bytes, const std::string& path);

}  // namespace windrow
