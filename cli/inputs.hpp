// SPDX-License-Identifier: BSD-3-Clause
// What can be said of a file by its name before it is opened.
#pragma once

#include <string>
#include <vector>
#include <windrow/windrow.hpp>

#include "cli/console.hpp"

namespace cli {

// Opens for reading; throws Failure on every rank. Collective. `damaged`: the exit code for a file that is HDF5 but
// broken.
windrow::File open_to_read(const World& world, const std::string& path, const windrow::Options& options, Exit damaged);

// Throws Failure on every rank where a file that could not be opened is of no format. Collective.
void require_known_format(const World& world, const std::string& path);

// Local, for rank 0. "" or why the file cannot be used as input.
std::string problem_with_input(const std::string& path);

// Local, for rank 0. "HDF5" by its signature (at byte 0, 512, 1024, 2048, ...: a user block may precede it), "netCDF
// classic" by its, or "raw".
std::string format_of(const std::string& path);

// Local, for rank 0. Temporary files that interrupted runs left beside `path`, with their sizes.
std::vector<std::string> leftovers_of(const std::string& path);

// Local, for rank 0. Folders of subfiles beside `path` that have its name, but that the file does not name.
std::vector<std::string> other_sets_of(const windrow::File& file, const std::string& path);

// An error of opening or creating a file as the end of a subcommand: mistakes in names and options, or the work.
Failure failure_from(const windrow::Error& error);

}  // namespace cli
