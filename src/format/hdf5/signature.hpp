// SPDX-License-Identifier: BSD-3-Clause
// Detects HDF5 files, without the HDF5 library.
#pragma once

#include <string>

#include "storage/store.hpp"

namespace windrow {

// The offset of the superblock, after a user block if there is one; -1: the file is not HDF5.
Result<int64_t> find_superblock(Store& file);

// The offset of the byte that other programs refuse while a file is half changed (storage/overwrite.hpp): the version
// of the superblock. -1: the file is not HDF5.
Result<int64_t> find_mark_of_hdf5(Store& file);

Result<bool> recognises_hdf5(const std::string& path, Store& file);

}  // namespace windrow
