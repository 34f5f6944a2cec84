// SPDX-License-Identifier: BSD-3-Clause
#include "subfiling/new_set.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/utf8.hpp"
#include "format/check.hpp"
#include "subfiling/subfiles.hpp"

namespace windrow {
namespace {

std::string name_in_folder(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string ending_of(const std::string& path, const std::string& format_name) {
  constexpr size_t k_longest = 16;
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending.size() >= 2 && ending.size() <= k_longest && is_plain_name(ending))
    return ending;
  return format_name == "hdf5" ? ".h5" : format_name == "netcdf" ? ".nc" : "." + format_name;
}

}  // namespace

std::string why_no_set(const Format& format, const std::string& format_name, const FormatOptions& options,
                       const std::string& final_path) {
  if (!format.can_split())
    return fmt::format("files of the format {} cannot be split over subfiles", format_name);
  if (const int version = options.netcdf_version; format_name == "netcdf" && version != 0 && version < 5)
    return fmt::format(
        "netcdf_version={} allows no more than one file: a set of netCDF classic files is of version 5, whose numbers "
        "have 64 bits",
        version);
  if (const std::string name = name_in_folder(final_path); !is_plain_name(name))
    return fmt::format("\"{}\" cannot be the beginning of the name of a folder of subfiles", readable(name));
  return "";
}

FileCount limit_file_count(FileCount chosen, const std::string& why_not) {
  if (chosen.files > 1 && !why_not.empty())
    return {1, "files one: " + why_not};
  if (chosen.files > Subfiles::k_most)
    return {Subfiles::k_most,
            fmt::format("files subfiles({}): the maximum of a set; {} were requested", Subfiles::k_most, chosen.files)};
  return chosen;
}

SetNames new_set_names(const std::string& format_name, const std::string& path, const std::string& final_path) {
  const std::string identity = make_identity();
  return {format_name, identity, folder_name(name_in_folder(final_path), identity), ending_of(path, format_name)};
}

}  // namespace windrow
