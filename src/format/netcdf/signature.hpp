// SPDX-License-Identifier: BSD-3-Clause
// Detects netCDF classic. Independent of the format's library, so that a build without it can report what is missing.
#pragma once

#include <string>

#include "storage/store.hpp"

namespace windrow {

// The offset of the byte that other programs refuse while a file is half changed (storage/overwrite.hpp): the version.
inline constexpr int64_t k_mark_of_netcdf = 3;

Result<bool> recognises_netcdf(const std::string& path, Store& file);

}  // namespace windrow
