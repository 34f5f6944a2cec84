// SPDX-License-Identifier: BSD-3-Clause
// Lists the contents of an open HDF5 file.
#pragma once

#include <hdf5.h>

#include "format/format.hpp"
#include "format/hdf5/dimensions.hpp"

namespace windrow {

// Visits every object once, parents before children, in creation order if the file tracks it, else by name.
// Code::bad_file: damaged, or data outside the file. `scales` is empty, and receives the file's.
Result<Catalog> walk_file(hid_t file, const std::string& path, int64_t file_bytes, Scales& scales);

// The paths of all groups and their members.
ObjectPaths paths_of_objects(hid_t file);

}  // namespace windrow
