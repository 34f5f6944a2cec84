// SPDX-License-Identifier: BSD-3-Clause
// Detects HDF5 files, without the HDF5 library.
#pragma once

#include <string>

#include "storage/store.hpp"

namespace windrow {

Result<bool> recognises_hdf5(const std::string& path, Store& file);

}  // namespace windrow
