// SPDX-License-Identifier: BSD-3-Clause
#include "cli/clean.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <windrow/windrow.hpp>

#include "base/utf8.hpp"
#include "cli/inputs.hpp"

namespace cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_subfiles = ".subfiles", k_published = ".subfiles-", k_replaced = ".windrow-replaced";

bool is_unfinished(std::string_view entry) {
  return entry.starts_with('.') && entry.ends_with(k_subfiles);
}

// Whether the library has made the name of a folder of subfiles. A user may have a copy under a longer one.
bool is_made_name(std::string_view entry) {
  constexpr size_t k_digits = 8;
  if (is_unfinished(entry))
    return true;
  const std::string_view identity = entry.substr(entry.rfind(k_published) + k_published.size());
  return identity.size() == k_digits && identity.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Whether a file in such a folder is a subfile, as "12.h5", its sidecar or its temporary file.
bool is_subfile_name(std::string_view name) {
  if (name.starts_with('.') && name.find(".windrow-") != std::string_view::npos)
    name.remove_prefix(1);
  const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  return digits > 0 && (digits == name.size() || name[digits] == '.');
}

// Why the files in a folder are not those of a set; "": they are.
std::string is_no_set(const fs::path& folder) {
  bool is_set = false;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file(ignored))
      return "it contains more than files";
    if (name != k_replaced && !is_subfile_name(name))
      return fmt::format("\"{}\" is not a file of a set", name);
    is_set = true;
  }
  if (error)
    return error.message();
  return is_set || is_unfinished(folder.filename().string()) ? "" : "it has no files of a set";
}

// Whether a folder may have subfiles of `name`: "NAME.subfiles-1a2b3c4d" of a published set, or
// ".NAME.windrow-abcd.subfiles" of an unfinished one.
bool is_folder_of(const std::string& name, const std::string& entry) {
  if (entry.starts_with(name + std::string(k_published)))
    return true;
  return entry.starts_with("." + name + ".windrow-") && entry.ends_with(k_subfiles);
}

std::vector<fs::path> folders_of(const fs::path& file) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(file.parent_path(), error)) {
    std::error_code ignored;
    if (is_folder_of(file.filename().string(), entry.path().filename().string()) &&
        entry.symlink_status(ignored).type() == fs::file_type::directory)
      found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The folder of a base file's subfiles, "" for any other file. Throws windrow::Error if it cannot be opened.
std::string folder_named_by(const std::string& path) {
  windrow::File file = windrow::File::open(MPI_COMM_SELF, path);
  const char* first = windrow_subfile_name(file.get(), 0);
  std::string folder = first == nullptr ? "" : fs::path(first).parent_path().string();
  file.close();
  return folder;
}

// Whether a file may refer to subfiles: by its first bytes, its ending, a sidecar, or as the temporary of such a file.
bool may_name_subfiles(const fs::path& path) {
  if (format_of(path.string()) != "raw" || !std::ifstream(path))
    return true;
  const std::string name = path.filename().string();
  const auto ends = [&name](const char* ending) { return windrow::has_ending(name, ending); };
  if (ends(".h5") || ends(".hdf5") || ends(".nc4") || ends(".nc") || ends(".cdf") || ends(".raw"))
    return true;
  std::error_code ignored;
  const bool is_temporary_file = name.starts_with('.') && name.find(".windrow-") != std::string::npos;
  return is_temporary_file || fs::exists(path.string() + ".json", ignored) ||
         fs::exists(path.string() + ".JSON", ignored);
}

struct Named {
  std::set<std::string> folders;
  std::vector<std::string> unknown;  // files that may refer to one, and cannot be opened
};

Named folders_named_beside(const fs::path& file) {
  Named named;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(file.parent_path(), error)) {
    std::error_code ignored;
    if (!entry.is_regular_file(ignored))
      continue;
    if (!may_name_subfiles(entry.path()))
      continue;
    try {
      named.folders.insert(folder_named_by(entry.path().string()));
    } catch (const windrow::Error&) {
      named.unknown.push_back(entry.path().filename().string());
    }
  }
  return named;
}

// Why it was not removed; "": it was.
std::string remove_unused(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0)
    return std::strerror(errno);
  std::string why;
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    why = "a program is using its files";
  else
    why = is_no_set(folder);
  std::error_code error;
  if (why.empty())
    fs::remove_all(folder, error);
  if (why.empty() && error)
    why = error.message();
  ::close(descriptor);
  return why;
}

}  // namespace

Cleaned clean_beside(const std::string& path) {
  Cleaned cleaned;
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  if (error)
    real = fs::absolute(path);
  const std::vector<fs::path> folders = folders_of(real);
  if (folders.empty())
    return cleaned;  // the usual case, without opening all files in the folder
  const Named named = folders_named_beside(real);
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename().string();
    if (named.folders.contains(name))
      continue;
    std::string why;
    if (!is_made_name(name))
      why = "Windrow does not make folders of this name";
    else if (!named.unknown.empty())
      why = fmt::format("\"{}\", which cannot be opened, may refer to it", named.unknown.front());
    else
      why = remove_unused(folder);
    if (why.empty())
      cleaned.removed.push_back(name);
    else
      cleaned.kept.push_back(name + ": " + why);
  }
  return cleaned;
}

}  // namespace cli
