// SPDX-License-Identifier: BSD-3-Clause
// NetCDF classic, versions 1, 2 and 5: FORMAT.md.
#pragma once

#include "format/format.hpp"

namespace windrow {

Result<std::unique_ptr<Format>> open_netcdf_format(const std::string& path, FormatMode mode,
                                                   const FormatOptions& options, std::unique_ptr<Store> opened);

}  // namespace windrow
