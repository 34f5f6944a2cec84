// SPDX-License-Identifier: BSD-3-Clause
// Machine files, from the disk.
#pragma once

#include <memory>
#include <string>

#include "base/status.hpp"
#include "model/machine.hpp"

namespace windrow {

// The text of a machine file, as it is, or its first MiB and a byte. Local. Errors name the file.
Result<std::string> read_machine_file(const std::string& path);

// What such a text says. The last one is remembered: a program opens file after file with one machine. May be called by several threads.
Result<std::shared_ptr<const Machine>> machine_of(const std::string& text, const std::string& path);

}  // namespace windrow
