// SPDX-License-Identifier: BSD-3-Clause
#include "storage/publish.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <random>

#include "storage/system_error.hpp"

namespace windrow {
namespace {

constexpr std::string_view k_mark = ".windrow-";
constexpr std::string_view k_letters = "0123456789abcdefghijklmnopqrstuvwxyz";  // no capitals: some file systems fold them
constexpr size_t k_random_letters = 4;

// "dir/" and "name" of a path; the folder is "" for a bare name.
struct Split {
  std::string folder;
  std::string name;
};

Split split(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash + 1), path.substr(slash + 1)};
}

std::string folder_to_open(const std::string& path) {
  const std::string folder = split(path).folder;
  return folder.empty() ? "." : folder;
}

// Follows symbolic links in the last component only: the temporary file has to lie beside what is replaced.
Result<std::string> resolve_links(const std::string& path) {
  constexpr int k_most_links = 40;  // as Linux follows (path_resolution(7))
  std::string now = path;
  for (int links = 0; links <= k_most_links; ++links) {
    std::array<char, PATH_MAX> target;
    const ssize_t length = ::readlink(now.c_str(), target.data(), target.size());
    if (length < 0) return now;  // not a link, or nothing there: open() says what is wrong, if anything
    const std::string_view to(target.data(), static_cast<size_t>(length));
    now = to.starts_with('/') ? std::string(to) : split(now).folder + std::string(to);
  }
  return system_status("create", path, ELOOP);
}

// The mode of what stands at `path`; none when nothing does.
Result<std::optional<mode_t>> mode_to_keep(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0)
    return errno == ENOENT ? Result<std::optional<mode_t>>(std::optional<mode_t>()) : system_status("create", path, errno);
  if (S_ISDIR(about.st_mode)) return Status(Code::bad_argument, fmt::format("create \"{}\": is a directory", path));
  if (!S_ISREG(about.st_mode)) return Status(Code::bad_argument, fmt::format("create \"{}\": is not a regular file", path));
  // rename() asks only for the folder; a file that its owner made read-only is not ours to replace.
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) return system_status("create", path, errno);
  return std::optional<mode_t>(about.st_mode & 07777);
}

std::string random_letters() {
  std::random_device source;
  std::uniform_int_distribution<size_t> letter(0, k_letters.size() - 1);
  std::string text(k_random_letters, '0');
  for (char& each : text) each = k_letters[letter(source)];
  return text;
}

Status sync_path(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) return system_status("sync of", path, errno);
  int error = 0;
  while (::fsync(descriptor) != 0)
    if (errno != EINTR) {
      error = errno;
      break;
    }
  ::close(descriptor);
  // Some file systems cannot sync a folder and say so by EINVAL; they have nothing to sync then.
  if (error == 0 || (error == EINVAL && (flags & O_DIRECTORY) != 0)) return {};
  return system_status("sync of", path, error);
}

Status publish_one(const Rename& file, bool durable) {
  struct stat replaced {};
  struct stat fresh {};
  if (::stat(file.to.c_str(), &replaced) == 0 && ::stat(file.from.c_str(), &fresh) == 0 && S_ISREG(replaced.st_mode) &&
      (replaced.st_mode & 07777) != (fresh.st_mode & 07777) && ::chmod(file.from.c_str(), replaced.st_mode & 07777) != 0)
    return system_status("publish", file.to, errno);
  if (durable) {
    Status synced = sync_path(file.from, O_RDONLY);
    if (!synced.ok()) return synced;
  }
  if (::rename(file.from.c_str(), file.to.c_str()) != 0) return system_status("publish", file.to, errno);
  return {};
}

Result<Draft> start_draft_of(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos)
    return Status(Code::bad_argument, "create: a path is one or more characters other than NUL");
  Result<std::string> resolved = resolve_links(path);
  if (!resolved.ok()) return resolved.status();
  const std::string& final_path = resolved.value();
  const Split parts = split(final_path);
  if (parts.name.empty() || parts.name == "." || parts.name == "..")
    return Status(Code::bad_argument, fmt::format("create \"{}\": is a directory", path));
  const Result<std::optional<mode_t>> mode = mode_to_keep(final_path);
  if (!mode.ok()) return mode.status();
  constexpr int k_most_tries = 100;  // of 36^4 names: all taken is not chance
  for (int tries = 0; tries < k_most_tries; ++tries) {
    // Complete before the file exists: without memory afterwards, nobody would know what to remove.
    Draft draft{fmt::format("{}.{}{}{}", parts.folder, parts.name, k_mark, random_letters()), final_path};
    const std::string& temporary = draft.temporary_path;
    const int descriptor = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode.value().value_or(0666) & 0777);
    if (descriptor < 0 && (errno == EEXIST || errno == EINTR)) continue;
    if (descriptor < 0 && errno == ENAMETOOLONG)
      return Status(Code::bad_argument, fmt::format("create \"{}\": its temporary name \"{}\" is too long for the file system",
                                                    path, split(temporary).name));
    if (descriptor < 0) return system_status("create", path, errno);
    // open() has taken the umask away from the mode.
    const bool kept = !mode.value() || ::fchmod(descriptor, *mode.value()) == 0;
    const int error = errno;
    ::close(descriptor);
    if (kept) return draft;
    ::unlink(temporary.c_str());
    return system_status("create", path, error);
  }
  return system_status("create", path, EEXIST);
}

// ".NAME.windrow-XXXX", or that with a companion's ending (".json").
bool is_leftover(std::string_view entry, std::string_view name) {
  const std::string head = fmt::format(".{}{}", name, k_mark);
  if (!entry.starts_with(head)) return false;
  const std::string_view rest = entry.substr(head.size());
  if (rest.size() < k_random_letters || (rest.size() > k_random_letters && rest[k_random_letters] != '.')) return false;
  return rest.substr(0, k_random_letters).find_first_not_of(k_letters) == std::string_view::npos;
}

}  // namespace

Result<Draft> start_draft(const std::string& path) {
  Result<Draft> draft = Status(Code::internal, "");
  Status status = guard([&] {
    draft = start_draft_of(path);
    return Status();
  });
  if (!status.ok()) return status;
  return draft;
}

Status publish(std::span<const Rename> files, bool durable) {
  return guard([&] {
    for (const Rename& file : files) {
      Status status = publish_one(file, durable);
      if (!status.ok()) return status;
    }
    std::string synced;
    for (const Rename& file : files) {
      const std::string folder = folder_to_open(file.to);
      if (!durable || folder == synced) continue;
      Status status = sync_path(folder, O_RDONLY | O_DIRECTORY);
      if (!status.ok()) return status;
      synced = folder;
    }
    return Status();
  });
}

Status remove_files(std::span<const std::string> paths) {
  Status status;
  for (const std::string& path : paths)
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) status.update(system_status("removal of", path, errno));
  return status;
}

std::vector<std::string> leftovers(const std::string& path) {
  std::vector<std::string> found;
  Status out_of_memory_only = guard([&] {
    const Result<std::string> resolved = resolve_links(path);
    const Split parts = split(resolved.ok() ? resolved.value() : path);
    const auto close_folder = [](DIR* folder) { ::closedir(folder); };
    const std::unique_ptr<DIR, decltype(close_folder)> folder(::opendir(folder_to_open(parts.folder).c_str()), close_folder);
    if (!folder || parts.name.empty()) return Status();
    while (const dirent* entry = ::readdir(folder.get()))
      if (is_leftover(entry->d_name, parts.name)) found.push_back(parts.folder + entry->d_name);
    std::sort(found.begin(), found.end());
    return Status();
  });
  (void)out_of_memory_only;  // a list for people: what was found so far is the answer
  return found;
}

}  // namespace windrow
