// SPDX-License-Identifier: BSD-3-Clause
#include "cli/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/utf8.hpp"

namespace cli {

namespace fs = std::filesystem;

std::string problem_with_input(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    const auto leftovers = leftovers_of(path);
    return fmt::format("no such file: \"{}\"", path) +
           (leftovers.empty() ? std::string() : fmt::format("; an interrupted run left {}", leftovers.front()));
  }
  if (error)
    return fmt::format("cannot access \"{}\": {}", path, error.message());
  if (status.type() == fs::file_type::directory)
    return fmt::format("\"{}\" is a folder, not a file", path);
  if (status.type() != fs::file_type::regular)
    return fmt::format("\"{}\" is not a regular file", path);
  if (!std::ifstream(path, std::ios::binary))
    return fmt::format("cannot read \"{}\": {}", path, std::strerror(errno));
  return "";
}

namespace {

bool has_hdf5_signature(const std::string& path) {
  static constexpr std::array<char, 8> k_signature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  std::ifstream file(path, std::ios::binary);
  std::array<char, 8> head{};
  for (int64_t offset = 0; file.seekg(offset) && file.read(head.data(), head.size());
       offset = offset == 0 ? 512 : offset * 2)
    if (head == k_signature)
      return true;
  return false;
}

bool has_netcdf_signature(const std::string& path) {
  std::array<char, 4> head{};
  if (!std::ifstream(path, std::ios::binary).read(head.data(), head.size()) ||
      std::string_view(head.data(), 3) != "CDF")
    return false;
  const int version = head[3] & 0x7f;  // without the mark of a half-changed file
  return version == 1 || version == 2 || version == 5;
}

}  // namespace

std::string format_of(const std::string& path) {
  return has_hdf5_signature(path) ? "HDF5" : has_netcdf_signature(path) ? "netCDF classic" : "raw";
}

namespace {

// ".NAME.windrow-XXXX"; if that is too long for the file system, the library omits up to 35 bytes of the name's end.
bool is_leftover_of(const std::string& name, std::string_view entry) {
  const size_t mark = entry.rfind(".windrow-");
  if (!entry.starts_with('.') || mark == std::string_view::npos || mark == 0)
    return false;
  std::string_view stem = entry.substr(1, mark - 1);
  for (const std::string_view sidecar : {".kerchunk.json", ".json"})  // replaced separately
    if (stem.ends_with(sidecar) && stem != name)
      stem.remove_suffix(sidecar.size());
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
    if (name.starts_with(head) && name != own && entry.is_directory(ignored))
      found.push_back(name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> leftovers_of(const std::string& path) {
  std::vector<std::string> found;
  std::error_code error;
  fs::path real = fs::canonical(path, error);  // a writer replaces the target of a link
  if (error)
    real = fs::absolute(path, error);
  const std::string file_name = real.filename().string();
  for (const auto& entry : fs::directory_iterator(real.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (!is_leftover_of(file_name, name))
      continue;
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
    case WINDROW_NO_PERMISSION:
      return {k_exit_mistake, error.what()};
    default:
      return {k_exit_failed, error.what()};
  }
}

void require_known_format(const World& world, const std::string& path) {
  require_on_rank_0(world, [&] {
    const bool raw = windrow::has_ending(path, ".raw");
    return raw || format_of(path) != "raw" ? std::string()
                                           : fmt::format("\"{}\" is neither an HDF5 nor a netCDF classic file", path);
  });
}

windrow::File open_to_read(const World& world, const std::string& path, const windrow::Options& options, Exit damaged) {
  require_on_rank_0(world, [&] { return problem_with_input(path); });
  try {
    return windrow::File::open(world.comm, path, windrow::Mode::read, options);
  } catch (const windrow::Error& error) {
    if (error.code() != WINDROW_BAD_FILE)
      throw failure_from(error);
    const std::string message = error.what();
    require_known_format(world, path);
    throw Failure(damaged, message);
  }
}

}  // namespace cli
