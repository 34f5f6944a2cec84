// SPDX-License-Identifier: BSD-3-Clause
// Checks that HDF5 can read what it wrote.
#pragma once

#include <string>

#include "base/status.hpp"

namespace windrow {

// Opens each object of a file and each of its attributes, with a driver that shares nothing with an open file, so that
// everything is read from the storage. Code::io: what cannot be read.
Status read_all_headers(const std::string& path);

}  // namespace windrow
