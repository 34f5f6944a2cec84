// SPDX-License-Identifier: BSD-3-Clause
// Machine files, from the disk.
#pragma once

#include <string>

#include "base/status.hpp"

namespace windrow {

// The text of a machine file, as it is, or its first MiB and a byte. Local. Errors name the file.
Result<std::string> read_machine_file(const std::string& path);

}  // namespace windrow
