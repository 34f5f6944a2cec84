// SPDX-License-Identifier: BSD-3-Clause
// What an open HDF5 file holds.
#pragma once

#include <hdf5.h>

#include "format/format.hpp"
#include "format/hdf5/dimensions.hpp"

namespace windrow {

// Every object once, parents before children, in the order of their creation where the file knows it, else by name.
// Code::bad_file: damaged, or data that would lie outside the file. `scales` are nobody's yet, and become the file's.
Result<Catalog> walk_file(hid_t file, const std::string& path, int64_t file_bytes, Scales& scales);

// Of all groups and what is in them.
ObjectPaths paths_of_objects(hid_t file);

}  // namespace windrow
