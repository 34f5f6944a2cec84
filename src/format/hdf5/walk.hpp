// SPDX-License-Identifier: BSD-3-Clause
// What an open HDF5 file holds.
#pragma once

#include <hdf5.h>

#include "format/format.hpp"

namespace windrow {

// Every object once, parents before children, by name. Code::bad_file: damaged, or data that would lie outside the file.
Result<Catalog> walk_file(hid_t file, const std::string& path, int64_t file_bytes);

}  // namespace windrow
