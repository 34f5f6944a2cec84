// SPDX-License-Identifier: BSD-3-Clause
// A new HDF5 file. To make one takes HDF5 0.3 to 0.5 ms, on one rank, while all others wait. A program that writes a file a step defines the same in
// the same order each time, and HDF5 makes the same bytes of it: so what came of the last few is kept, and as long as a file is defined like one of
// them HDF5 is not asked; when it is closed those bytes are written. The first call that is another, or that nobody can foretell, has HDF5 make the file after all.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "format/format.hpp"
#include "format/hdf5/image.hpp"

namespace windrow {

// Makes the file by HDF5, in the store. `record`: of what HDF5 writes.
using MakeByHdf5 = std::function<Result<std::unique_ptr<Format>>(std::unique_ptr<Store> store, std::shared_ptr<ImageRecord> record)>;

// `store`: the new file, empty.
Result<std::unique_ptr<Format>> create_hdf5_format(const std::string& path, const FormatOptions& options, std::unique_ptr<Store> store, MakeByHdf5 make);

}  // namespace windrow
