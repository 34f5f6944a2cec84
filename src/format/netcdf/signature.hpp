// SPDX-License-Identifier: BSD-3-Clause
// Detects netCDF classic. Independent of the format's library, so that a build without it can report what is missing.
#pragma once

#include <string>

#include "storage/store.hpp"

namespace windrow {

Result<bool> recognises_netcdf(const std::string& path, Store& file);

}  // namespace windrow
