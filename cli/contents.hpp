// SPDX-License-Identifier: BSD-3-Clause
// What a file holds, as far as the subcommands need it; and what can be said of a file by its name before it is opened.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>
#include <windrow/windrow.hpp>

#include "cli/console.hpp"
#include "cli/slices.hpp"

namespace cli {

struct Contents {
  std::vector<Item> items;           // readable variables that are moved in slices
  std::vector<int> wholes;           // numbers of the others: texts of variable length, and null spaces
  std::vector<std::pair<std::string, int64_t>> dimensions;  // that no variable has the name of
  std::vector<std::pair<std::string, std::string>> links;  // soft ones: path and target
  std::vector<std::string> objects;  // paths of the groups, then of the variables: what can carry attributes
  int groups = 0;
  int64_t attributes = 0;                // readable ones
  int64_t bytes = 0;                     // of the readable variables
  std::vector<std::string> unsupported;  // "path: reason", each once
};

// Local: the library has handed the description of the file to every rank.
Contents contents_of(const windrow::File& file);

// Attribute `number` of an object, described.
windrow_attribute_info attribute_of(const windrow::File& file, const std::string& object, int number);

// Opens for reading; throws Failure on every rank. Collective. `damaged`: the exit code for a file that is HDF5 but broken.
windrow::File open_to_read(const World& world, const std::string& path, const windrow::Options& options, Exit damaged);

// Local, for rank 0. "" or why the file cannot be used as input.
std::string problem_with_input(const std::string& path);

// Local, for rank 0. "HDF5" by its signature (at byte 0, 512, 1024, 2048, ...: a user block may precede it), "netCDF classic" by its, or "raw".
std::string format_of(const std::string& path);

// Local, for rank 0. Temporary files that interrupted runs left beside `path`, with their sizes.
std::vector<std::string> leftovers_of(const std::string& path);

// Local, for rank 0. Folders of subfiles beside `path` that have its name, but that the file does not name.
std::vector<std::string> other_sets_of(const windrow::File& file, const std::string& path);

// An error of opening or creating a file as the end of a subcommand: mistakes in names and options, or the work.
Failure failure_from(const windrow::Error& error);

}  // namespace cli
