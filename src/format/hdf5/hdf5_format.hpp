// SPDX-License-Identifier: BSD-3-Clause
// HDF5 files through the serial HDF5 C library: metadata on one rank; all ranks move the bytes of variables
// (FORMAT.md).
#pragma once

#include "format/format.hpp"

namespace windrow {

Result<std::unique_ptr<Format>> open_hdf5_format(const std::string& path, FormatMode mode, const FormatOptions& options,
                                                 std::unique_ptr<Store> opened);

}  // namespace windrow
