// SPDX-License-Identifier: BSD-3-Clause
// An HDF5 file that is only read. To open one and to find what is in it takes HDF5 some 0.3 ms, on one rank, while all others wait. Where the file says of itself what one of
// the last few has said (kept_catalogs.hpp), HDF5 is not asked before somebody wants what it alone finds: a chunk, or texts of a variable.
#pragma once

#include <memory>
#include <string>

#include "format/hdf5/late_format.hpp"

namespace windrow {

// `store`: the file, open to be read.
Result<std::unique_ptr<Format>> read_hdf5_format(const std::string& path, std::unique_ptr<Store> store, MakeByHdf5 make);

}  // namespace windrow
