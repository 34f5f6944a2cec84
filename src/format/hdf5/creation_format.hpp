// SPDX-License-Identifier: BSD-3-Clause
// A new HDF5 file. To make one takes HDF5 0.3 to 0.5 ms, on one rank, while all others wait. A program that writes a file a step defines the same in
// the same order each time, and HDF5 makes the same bytes of it: so what came of the last few is kept, and as long as a file is defined like one of
// them HDF5 is not asked; when it is closed those bytes are written. The first call that is another, or that nobody can foretell, has HDF5 make the file after all.
#pragma once

#include <memory>
#include <string>

#include "format/hdf5/late_format.hpp"

namespace windrow {

// `store`: the new file, empty.
Result<std::unique_ptr<Format>> create_hdf5_format(const std::string& path, const FormatOptions& options, std::unique_ptr<Store> store, MakeByHdf5 make);

}  // namespace windrow
