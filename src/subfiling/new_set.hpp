// SPDX-License-Identifier: BSD-3-Clause
// Decisions before a new set is made: whether a file can be a set, and its names. Pure, except for the random identity.
#pragma once

#include <string>

#include "format/format.hpp"
#include "subfiling/file_count.hpp"
#include "subfiling/set_messages.hpp"

namespace windrow {

// Returns the reason why a new file cannot be a set; "" if it can. `final_path`: the final path of the file.
std::string why_no_set(const Format& format, const std::string& format_name, const FormatOptions& options,
                       const std::string& final_path);

// Limits a number of files to the maximum of a set, or to 1 if the file cannot be a set. `why_not`: the result of
// why_no_set().
FileCount limit_file_count(FileCount chosen, const std::string& why_not);

// Names of a set with a new identity. `path`: the path of the file as the user gave it; its subfiles get the same
// ending.
SetNames new_set_names(const std::string& format_name, const std::string& path, const std::string& final_path);

}  // namespace windrow
