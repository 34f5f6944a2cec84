// SPDX-License-Identifier: BSD-3-Clause
// Machine files, from the disk.
#pragma once

#include <memory>
#include <string>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "comm/comm.hpp"
#include "model/machine.hpp"
#include "storage/file_system.hpp"

namespace windrow {

// The text of a machine file, as it is, or its first MiB and a byte. Local. Errors name the file.
Result<std::string> read_machine_file(const std::string& path);

// What such a text says. May be called by several threads.
Result<std::shared_ptr<const Machine>> machine_of(const std::string& text, const std::string& path);

// Without a machine file: what is usual where files lie on such a file system.
std::shared_ptr<const Machine> usual_machine(FileSystem kind, int64_t cores);

// What an interval of points costs those who write it, as in Balancing: by the machine file of the settings, else what
// is usual, and for the points' length in the settings. Local; for rank 0.
Result<int64_t> interval_weight(const Settings& settings);

}  // namespace windrow
