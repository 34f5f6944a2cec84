// SPDX-License-Identifier: BSD-3-Clause
// Reads machine files.
#pragma once

#include <memory>
#include <string>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "comm/comm.hpp"
#include "model/machine.hpp"
#include "storage/file_system.hpp"

namespace windrow {

// The first 1 MiB + 1 byte of a machine file; the last byte shows that it is too long. Local. Errors name the file.
Result<std::string> read_machine_file(const std::string& path);

// Parses the text of a machine file. Thread-safe.
Result<std::shared_ptr<const Machine>> machine_of(const std::string& text, const std::string& path);

// The default machine for this file system, for use without a machine file.
std::shared_ptr<const Machine> usual_machine(FileSystem kind, int64_t cores);

// The cost of an interval of points for its writer, as in Balancing: from the machine file of the settings, otherwise
// from the defaults, for the point length in the settings. Local; for rank 0.
Result<int64_t> interval_weight(const Settings& settings);

}  // namespace windrow
