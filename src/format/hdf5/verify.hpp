// SPDX-License-Identifier: BSD-3-Clause
// Whether HDF5 reads what it has written.
#pragma once

#include <string>

#include "base/status.hpp"

namespace windrow {

// Opens each object of a file and each attribute of it, with a driver that shares nothing with a file that is open.
// What it has no memory of
// it reads from the storage. io: what cannot be read.
Status read_all_headers(const std::string& path);

}  // namespace windrow
