// SPDX-License-Identifier: BSD-3-Clause
// Checks of a file by its name, before it is opened.
#pragma once

#include <string>
#include <vector>
#include <windrow/windrow.hpp>

#include "cli/console.hpp"

namespace cli {

// Opens for reading; throws Failure on every rank. Collective. `damaged`: the exit code for a file that is HDF5 but
// broken.
windrow::File open_to_read(const World& world, const std::string& path, const windrow::Options& options, Exit damaged);

// For a file that could not be opened: throws Failure on every rank if its format is unknown. Collective.
void require_known_format(const World& world, const std::string& path);

// Local, for rank 0. Why the file cannot be used as input, or "".
std::string problem_with_input(const std::string& path);

// Local, for rank 0. "HDF5" by its signature (at byte 0, 512, 1024, 2048, ... after a user block), "netCDF classic", or
// "raw".
std::string format_of(const std::string& path);

// Local, for rank 0. Temporary files of interrupted runs beside `path`, with their sizes.
std::vector<std::string> leftovers_of(const std::string& path);

// Local, for rank 0. Folders of subfiles beside `path` that have its name, but that the file does not refer to.
std::vector<std::string> other_sets_of(const windrow::File& file, const std::string& path);

// Converts an error of opening or creating a file to a Failure: a usage error of names and options, or failed work.
Failure failure_from(const windrow::Error& error);

}  // namespace cli
