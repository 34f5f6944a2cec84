// SPDX-License-Identifier: BSD-3-Clause
// What is decided before a new set is made.
#pragma once

#include <string>

#include "format/format.hpp"
#include "subfiling/file_count.hpp"
#include "subfiling/set_messages.hpp"

namespace windrow {

// Why a new file cannot be a set; "": it can. `format_name`: of the format. `final_path`: of the file.
std::string why_no_set(const Format& format, const std::string& format_name, const FormatOptions& options,
                       const std::string& final_path);

// A number of files within what is possible. `why_not`: why_no_set().
FileCount limit_file_count(FileCount chosen, const std::string& why_not);

// Names of a set with a new identity. `path`: of the file as the user gave it; its subfiles get the same ending.
SetNames new_set_names(const std::string& format_name, const std::string& path, const std::string& final_path);

}  // namespace windrow
