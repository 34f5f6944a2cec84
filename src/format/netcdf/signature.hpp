// SPDX-License-Identifier: BSD-3-Clause
// Whether a file is netCDF classic; known without the library, so that a build without it can say what is missing.
#pragma once

#include <string>

#include "storage/store.hpp"

namespace windrow {

Result<bool> recognises_netcdf(const std::string& path, Store& file);

}  // namespace windrow
