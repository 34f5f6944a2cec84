// SPDX-License-Identifier: BSD-3-Clause
#include "cli/contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/utf8.hpp"

namespace cli {

namespace fs = std::filesystem;

namespace {

void add_once(std::vector<std::string>& list, const std::string& line) {
  if (std::find(list.begin(), list.end(), line) == list.end()) list.push_back(line);
}

void add_variables(const windrow::File& file, Contents& contents) {
  for (int number = 0; number < file.variable_count(); ++number) {
    const windrow_variable_info info = file.variable(number);
    contents.objects.emplace_back(info.path);
    if (info.unsupported != nullptr && *info.unsupported != '\0') {
      add_once(contents.unsupported, std::string(info.path) + ": " + info.unsupported);
      continue;
    }
    if (info.is_null != 0 || info.element_bytes == 0) {
      contents.wholes.push_back(number);
      continue;
    }
    Item item{number, {info.shape, info.shape + info.ndims}, info.element_bytes};
    contents.bytes += element_count(item.shape) * item.element_bytes;
    contents.items.push_back(std::move(item));
  }
}

void add_attributes(const windrow::File& file, Contents& contents) {
  for (const std::string& object : contents.objects) {
    for (int i = 0; i < windrow_attribute_count(file.get(), object.c_str()); ++i) {
      const windrow_attribute_info info = attribute_of(file, object, i);
      if (info.unsupported != nullptr && *info.unsupported != '\0')
        add_once(contents.unsupported, object + ", attribute " + info.name + ": " + info.unsupported);
      else
        ++contents.attributes;
    }
  }
}

}  // namespace

Contents contents_of(const windrow::File& file) {
  Contents contents;
  contents.groups = windrow_group_count(file.get());
  for (int group = 0; group < contents.groups; ++group)
    contents.objects.emplace_back(windrow_group_path(file.get(), group));
  std::istringstream lines(windrow_unsupported_objects(file.get()));
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) add_once(contents.unsupported, line);
  for (int i = 0; i < windrow_link_count(file.get()); ++i) {
    const char *path = "", *target = "";
    windrow::check(windrow_inquire_link(file.get(), i, &path, &target));
    contents.links.emplace_back(path, target);
  }
  for (int i = 0; i < windrow_dimension_count(file.get()); ++i) {
    const char* path = "";
    int64_t length = 0;
    windrow::check(windrow_inquire_dimension(file.get(), i, &path, &length));
    contents.dimensions.emplace_back(path, length);
  }
  add_variables(file, contents);
  add_attributes(file, contents);
  return contents;
}

windrow_attribute_info attribute_of(const windrow::File& file, const std::string& object, int number) {
  windrow_attribute_info info{};
  info.size = sizeof info;
  windrow::check(windrow_inquire_attribute(file.get(), object.c_str(), number, &info));
  return info;
}

std::string problem_with_input(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    const auto leftovers = leftovers_of(path);
    return fmt::format("no such file: \"{}\"", path) +
           (leftovers.empty() ? std::string() : fmt::format("; an interrupted run left {}", leftovers.front()));
  }
  if (error) return fmt::format("cannot look at \"{}\": {}", path, error.message());
  if (status.type() == fs::file_type::directory) return fmt::format("\"{}\" is a folder, not a file", path);
  if (status.type() != fs::file_type::regular) return fmt::format("\"{}\" is not a regular file", path);
  if (!std::ifstream(path, std::ios::binary)) return fmt::format("cannot read \"{}\": {}", path, std::strerror(errno));
  return "";
}

namespace {

bool has_hdf5_signature(const std::string& path) {
  static constexpr std::array<char, 8> k_signature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  std::ifstream file(path, std::ios::binary);
  std::array<char, 8> head{};
  for (int64_t offset = 0; file.seekg(offset) && file.read(head.data(), head.size());
       offset = offset == 0 ? 512 : offset * 2)
    if (head == k_signature) return true;
  return false;
}

bool has_netcdf_signature(const std::string& path) {
  std::array<char, 4> head{};
  return std::ifstream(path, std::ios::binary).read(head.data(), head.size()) && std::string_view(head.data(), 3) == "CDF" &&
         (head[3] == 1 || head[3] == 2 || head[3] == 5);
}

}  // namespace

std::string format_of(const std::string& path) {
  return has_hdf5_signature(path) ? "HDF5" : has_netcdf_signature(path) ? "netCDF classic" : "raw";
}

namespace {

// ".NAME.windrow-XXXX"; where that is too long for the file system, the library leaves away up to 35 bytes of the name's end.
bool is_leftover_of(const std::string& name, std::string_view entry) {
  const size_t mark = entry.rfind(".windrow-");
  if (!entry.starts_with('.') || mark == std::string_view::npos || mark == 0) return false;
  const std::string_view stem = entry.substr(1, mark - 1);
  return stem == name || (name.size() > 100 && stem.size() + 35 >= name.size() && name.starts_with(stem));
}

}  // namespace

std::vector<std::string> other_sets_of(const windrow::File& file, const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  const std::string head = real.filename().string() + ".subfiles-";
  const char* first = windrow_subfile_name(file.get(), 0);
  const std::string own = first == nullptr ? "" : fs::path(first).parent_path().string();
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(real.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    std::error_code ignored;
    if (name.starts_with(head) && name != own && entry.is_directory(ignored)) found.push_back(name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> leftovers_of(const std::string& path) {
  std::vector<std::string> found;
  std::error_code error;
  fs::path real = fs::canonical(path, error);  // a link's target is what a writer replaces
  if (error) real = fs::absolute(path, error);
  const std::string file_name = real.filename().string();
  for (const auto& entry : fs::directory_iterator(real.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (!is_leftover_of(file_name, name)) continue;
    std::error_code no_size;
    const auto size = entry.file_size(no_size);
    found.push_back(fmt::format("{} ({})", one_line(entry.path().string()),
                                no_size ? "?" : bytes_text(static_cast<int64_t>(size))));
  }
  std::sort(found.begin(), found.end());
  return found;
}

Failure failure_from(const windrow::Error& error) {
  switch (error.code()) {
    case WINDROW_BAD_ARGUMENT:
    case WINDROW_BAD_STATE:  // locked by another program
    case WINDROW_NOT_FOUND:
    case WINDROW_EXISTS:
    case WINDROW_UNSUPPORTED:
    case WINDROW_BAD_FILE:
    case WINDROW_NO_PERMISSION: return {k_exit_mistake, error.what()};
    default: return {k_exit_failed, error.what()};
  }
}

windrow::File open_to_read(const World& world, const std::string& path, const windrow::Options& options, Exit damaged) {
  require_on_rank_0(world, [&] { return problem_with_input(path); });
  try {
    return windrow::File::open(world.comm, path, windrow::Mode::read, options);
  } catch (const windrow::Error& error) {
    if (error.code() != WINDROW_BAD_FILE) throw failure_from(error);
    const std::string message = error.what();
    require_on_rank_0(world, [&] {
      const bool raw = windrow::has_ending(path, ".raw");
      return raw || format_of(path) != "raw" ? std::string() : fmt::format("\"{}\" is not an HDF5 file, nor netCDF classic", path);
    });
    throw Failure(damaged, message);
  }
}

}  // namespace cli
