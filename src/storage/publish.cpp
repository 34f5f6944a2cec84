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
#include <csignal>
#include <memory>
#include <random>

#include "base/units.hpp"
#include "storage/faulty/fault_plan.hpp"
#include "storage/folder_lock.hpp"
#include "storage/system_error.hpp"

namespace windrow {
namespace {

constexpr std::string_view k_mark = ".windrow-";
// no upper case: some file systems are case-insensitive
constexpr std::string_view k_letters = "0123456789abcdefghijklmnopqrstuvwxyz";
constexpr size_t k_random_letters = 4;
// Bytes that a temporary name adds: a dot, the mark, the random characters, the ending of a sidecar, and a reserve.
constexpr size_t k_additions = 32;

// "dir/" and "name" of a path; the folder is "" for a bare name.
struct Split {
  std::string folder;
  std::string name;
};

Split split(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return {"", path};
  return {path.substr(0, slash + 1), path.substr(slash + 1)};
}

// The name within a temporary name if the whole would be too long: with all additions it is as long as the name. Cut
// between UTF-8 characters, since some file systems require valid names.
std::string_view short_stem(std::string_view name) {
  size_t end = name.size() > k_additions ? name.size() - k_additions : name.size();
  while (end > 1 && end < name.size() && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80)
    --end;
  return name.substr(0, end);
}

std::string folder_to_open(const std::string& path) {
  const std::string folder = split(path).folder;
  return folder.empty() ? "." : folder;
}

// Follows symbolic links in the last component only: the temporary file must be in the folder of the file that it
// replaces.
Result<std::string> resolve_links(const std::string& path) {
  constexpr int k_most_links = 40;  // the limit of Linux (path_resolution(7))
  std::string now = path;
  for (int links = 0; links <= k_most_links; ++links) {
    std::array<char, PATH_MAX> target;
    const ssize_t length = ::readlink(now.c_str(), target.data(), target.size());
    if (length < 0)
      return now;  // not a link, or missing: open() reports an error if there is one
    const std::string_view to(target.data(), static_cast<size_t>(length));
    now = to.starts_with('/') ? std::string(to) : split(now).folder + std::string(to);
  }
  return system_status("create", path, ELOOP);
}

// The mode of the file at `path`; nullopt if there is none.
Result<std::optional<mode_t>> mode_to_keep(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0)
    return errno == ENOENT ? Result<std::optional<mode_t>>(std::optional<mode_t>())
                           : system_status("create", path, errno);
  if (S_ISDIR(about.st_mode))
    return Status(Code::bad_argument, fmt::format("create \"{}\": is a directory", path));
  if (!S_ISREG(about.st_mode))
    return Status(Code::bad_argument, fmt::format("create \"{}\": is not a regular file", path));
  // rename() needs permission on the folder only; a file that its owner made read-only must not be replaced.
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0)
    return system_status("create", path, errno);
  return std::optional<mode_t>(about.st_mode & 07777);
}

std::string_view stem_of(const Split& parts) {
  const long longest = ::pathconf(parts.folder.empty() ? "." : parts.folder.c_str(), _PC_NAME_MAX);
  const bool fits = parts.name.size() + k_additions <= static_cast<size_t>(longest > 0 ? longest : NAME_MAX);
  return fits ? std::string_view(parts.name) : short_stem(parts.name);
}

// Creates a new file. Returns errno, or 0. If a mode is to be kept, the file never has more permissions than that.
int make_file(const std::string& path, const std::optional<mode_t>& mode, HeldFile& held) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode.value_or(0666) & 0777);
  if (descriptor < 0)
    return errno;
  // open() has applied the umask to the mode.
  const int error = !mode || ::fchmod(descriptor, *mode) == 0 ? 0 : errno;
  held = HeldFile(descriptor);
  if (error != 0)
    ::unlink(path.c_str());
  return error;
}

// The same, with the owner's lock. EEXIST also means that another process took it for a leftover before it was locked.
int make_locked_file(const std::string& path, const std::optional<mode_t>& mode, HeldFile& held) {
  const int error = make_file(path, mode, held);
  return error == 0 && (!held.lock() || !held.is_at(path)) ? EEXIST : error;
}

// Names are tried in a fixed order first, so that the next job that creates the same file finds what a killed job has
// left, without listing the folder.
std::string letters_of(size_t number) {
  std::string text(k_random_letters, '0');
  for (size_t i = text.size(); i-- > 0; number /= k_letters.size())
    text[i] = k_letters[number % k_letters.size()];
  return text;
}

std::string random_letters() {
  // Uses the system call: std::random_device uses a processor instruction that traps on virtual machines (20 us).
  uint64_t chance = 0;
  if (::getentropy(&chance, sizeof chance) != 0)
    chance = std::random_device{}();
  std::string text(k_random_letters, '0');
  for (char& each : text) {
    each = k_letters[chance % k_letters.size()];
    chance /= k_letters.size();
  }
  return text;
}

Status sync_path(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0)
    return system_status("sync of", path, errno);
  int error = 0;
  while (::fsync(descriptor) != 0)
    if (errno != EINTR) {
      error = errno;
      break;
    }
  ::close(descriptor);
  // Some file systems cannot sync a folder and return EINVAL; they need no sync.
  if (error == 0 || (error == EINVAL && (flags & O_DIRECTORY) != 0))
    return {};
  return system_status("sync of", path, error);
}

// The data is in the file that was created, whichever file has its name now.
Status check_held(const Rename& file) {
  struct stat about {};
  if (file.held == nullptr || file.held->is_at(file.from))
    return {};
  const bool gone = ::lstat(file.from.c_str(), &about) != 0;
  if (gone && code_of_errno(errno) != Code::not_found)
    return system_status("publish", file.from, errno);
  return {
      gone ? Code::not_found : Code::io,
      fmt::format(
          "publish \"{}\": its temporary {} \"{}\" was {} by another program: what was written to it is not published",
          file.to, S_ISDIR(about.st_mode) ? "folder" : "file", file.from, gone ? "removed" : "replaced")};
}

Status publish_one(const Rename& file, bool durable) {
  struct stat replaced {};
  struct stat fresh {};
  if (::stat(file.to.c_str(), &replaced) == 0 && ::stat(file.from.c_str(), &fresh) == 0 && S_ISREG(replaced.st_mode) &&
      (replaced.st_mode & 07777) != (fresh.st_mode & 07777) &&
      ::chmod(file.from.c_str(), replaced.st_mode & 07777) != 0)
    return system_status("publish", file.to, errno);
  if (durable) {
    Status synced = sync_path(file.from, O_RDONLY);
    if (!synced.ok())
      return synced;
  }
  if (::rename(file.from.c_str(), file.to.c_str()) != 0)
    return system_status("publish", file.to, errno);
  return {};
}

// The failure that a faulty store has for publish() on this rank.
Result<std::optional<FaultPlan>> publish_fault(const StoreOptions& options) {
  std::optional<FaultPlan> fault;
  if (options.kind != "faulty" || options.fault.empty())
    return fault;
  const Result<FaultPlan> plan = parse_fault_plan(options.fault);
  if (!plan.ok())
    return plan.status();
  const bool is_here = plan.value().rank.value_or(options.rank) == options.rank;
  if (plan.value().operation == Operation::publish && is_here)
    fault = plan.value();
  return fault;
}

// The folders of the final names.
std::vector<std::string> folders_of(std::span<const Rename> files) {
  std::vector<std::string> folders;
  for (const Rename& file : files)
    if (std::string folder = folder_to_open(file.to); folders.empty() || folders.back() != folder)
      folders.push_back(std::move(folder));
  return folders;
}

bool is_folder(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

bool is_other_than_folder(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && !S_ISDIR(about.st_mode);
}

// Checked in advance: if one file cannot get its name, its sidecars must not have theirs.
Status check_renames(std::span<const Rename> files) {
  for (const Rename& file : files)
    if (is_folder(file.to) && is_other_than_folder(file.from))
      return system_status("publish", file.to, EISDIR);
  for (const Rename& file : files)
    if (Status status = check_held(file); !status.ok())
      return status;
  return {};
}

// `named`: see publish().
Status rename_all(std::span<const Rename> files, bool durable, std::optional<FaultPlan>& fault, bool& named) {
  for (const Rename& file : files) {
    named = named || file.follows;
    if (fault && fault->after-- == 0) {
      if (fault->kill)
        (void)std::raise(SIGKILL);
      return system_status("publish", file.to, fault->fault.error);
    }
    if (Status status = publish_one(file, durable); !status.ok())
      return status;
  }
  named = true;
  return {};
}

// The candidates for one temporary name.
struct TemporaryNames {
  static constexpr size_t k_in_turn = 16;  // tried in a fixed order; then random ones follow

  std::string begin;  // of each name

  std::string numbered(size_t number) const { return begin + letters_of(number); }
  std::string candidate(size_t number) const {
    return number < k_in_turn ? numbered(number) : begin + random_letters();
  }
};

// Removes leftovers of killed jobs until one name has none. Without memory they stay: the caller's temporary file must
// not be lost.
void remove_leftovers_from(const TemporaryNames& names, size_t number) noexcept {
  (void)guard([&] {
    while (number < TemporaryNames::k_in_turn && remove_leftover(names.numbered(number)))
      ++number;
    return Status();
  });
}

// Takes the place of a leftover of a killed job.
int make_or_replace(TemporaryFile& temporary, const std::optional<mode_t>& mode) {
  const int error = make_locked_file(temporary.temporary_path, mode, temporary.held);
  if (error == EEXIST && remove_leftover(temporary.temporary_path))
    return make_locked_file(temporary.temporary_path, mode, temporary.held);
  return error;
}

Result<TemporaryFile> start_temporary_file_of(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos)
    return Status(Code::bad_argument, "create: a path is one or more characters other than NUL");
  Result<std::string> resolved = resolve_links(path);
  if (!resolved.ok())
    return resolved.status();
  const std::string& final_path = resolved.value();
  const Split parts = split(final_path);
  if (parts.name.empty() || parts.name == "." || parts.name == "..")
    return Status(Code::bad_argument, fmt::format("create \"{}\": is a directory", path));
  const Result<std::optional<mode_t>> mode = mode_to_keep(final_path);
  if (!mode.ok())
    return mode.status();
  const TemporaryNames names{fmt::format("{}.{}{}", parts.folder, stem_of(parts), k_mark)};
  constexpr size_t k_most_tries = 100;  // there are 36^4 names: that so many are taken is not chance
  for (size_t tries = 0; tries < k_most_tries; ++tries) {
    // Complete before the file exists: without memory later, its name would be lost.
    TemporaryFile temporary{names.candidate(tries), final_path};
    const int error = make_or_replace(temporary, mode.value());
    if (error == 0) {
      remove_leftovers_from(names, tries + 1);
      return temporary;
    }
    if (error != EEXIST && error != EINTR)
      return system_status("create", path, error);
  }
  return system_status("create", path, EEXIST);
}

// A file under a sidecar's temporary name is a leftover of a killed job, since the name of the temporary file belongs
// to this process.
Status start_sidecar(const TemporaryFile& temporary, const Rename& sidecar, HeldFile& held) {
  Result<std::optional<mode_t>> mode = mode_to_keep(sidecar.to);
  if (!mode.ok())
    return mode.status();
  struct stat about {};
  if (!mode.value() && ::stat(temporary.temporary_path.c_str(), &about) == 0)
    mode.value() = about.st_mode & 07777;
  int error = make_file(sidecar.from, mode.value(), held);
  if (error == EEXIST && ::unlink(sidecar.from.c_str()) == 0)
    error = make_file(sidecar.from, mode.value(), held);
  return error == 0 ? Status() : system_status("create", sidecar.to, error);
}

bool remove_sidecar(const std::string& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0)
    return false;
  return S_ISDIR(about.st_mode) ? remove_folder(path).ok() : ::unlink(path.c_str()) == 0;
}

// What follows a stem: the mark and the random characters. A sidecar has its ending last, or before the mark if it was
// replaced alone.
bool is_temporary_end(std::string_view rest) noexcept {
  for (const std::string_view sidecar : {".kerchunk.json", ".json"})
    if (rest.starts_with(sidecar))
      rest.remove_prefix(sidecar.size());
  if (!rest.starts_with(k_mark))
    return false;
  rest.remove_prefix(k_mark.size());
  if (rest.size() < k_random_letters || (rest.size() > k_random_letters && rest[k_random_letters] != '.'))
    return false;
  return rest.substr(0, k_random_letters).find_first_not_of(k_letters) == std::string_view::npos;
}

bool is_leftover(std::string_view entry, std::string_view stem) noexcept {
  return entry.starts_with('.') && entry.substr(1).starts_with(stem) && is_temporary_end(entry.substr(1 + stem.size()));
}

}  // namespace

Result<TemporaryFile> start_temporary_file(const std::string& path) {
  return guard([&] { return start_temporary_file_of(path); });
}

Status check_file_size(const std::string& path, int64_t bytes) {
  if (beyond_file_size_limit(bytes))
    return guard([&] { return system_status(fmt::format("a file of {} beside", format_bytes(bytes)), path, EFBIG); });
  return guard([&]() -> Status {
    const Result<TemporaryFile> temporary = start_temporary_file(path);
    if (!temporary.ok())
      return {};
    const int error = ::truncate(temporary.value().temporary_path.c_str(), bytes) == 0 ? 0 : errno;
    remove_temporary_file(temporary.value());
    return error == EFBIG ? system_status(fmt::format("a file of {} beside", format_bytes(bytes)), path, error)
                          : Status();
  });
}

Status start_sidecars(const TemporaryFile& temporary, std::span<const Rename> sidecars, std::vector<HeldFile>* held) {
  return guard([&] {
    Status status;
    std::vector<HeldFile> made(sidecars.size());
    for (size_t i = 0; i < sidecars.size() && status.ok(); ++i)
      status = start_sidecar(temporary, sidecars[i], made[i]);
    if (held != nullptr)
      *held = std::move(made);
    return status;
  });
}

Status start_folder(const TemporaryFile& temporary, const std::string& path, HeldFile* held) {
  int error = ::mkdir(path.c_str(), 0777) == 0 ? 0 : errno;
  if (error == EEXIST && remove_folder(path).ok())
    error = ::mkdir(path.c_str(), 0777) == 0 ? 0 : errno;
  if (error != 0)
    return system_status("create", path, error);
  if (held != nullptr)
    *held = HeldFile(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat file {};
  struct stat folder {};
  if (::stat(temporary.temporary_path.c_str(), &file) != 0 || ::stat(path.c_str(), &folder) != 0)
    return system_status("create", path, errno);
  // Reading a file in a folder needs search permission, and creating one needs write permission.
  const mode_t readers = file.st_mode & 0444, writers = file.st_mode & 0222;
  const mode_t mode = (folder.st_mode & 07777) & (readers | (readers >> 2) | writers | 0700);
  return ::chmod(path.c_str(), mode) == 0 ? Status() : system_status("create", path, errno);
}

Status replaced_by_others(const std::string& path) {
  struct stat about {};
  const bool gone = ::stat(path.c_str(), &about) != 0;
  if (gone && code_of_errno(errno) != Code::not_found)
    return system_status("stat of", path, errno);
  return {Code::io, fmt::format("\"{}\" was {} by another program since it was opened", path,
                                gone ? "removed or renamed" : "replaced")};
}

// Allocates nothing, since callers may be without memory.
Status remove_folder(const std::string& path) {
  DIR* const folder = ::opendir(path.c_str());
  if (folder == nullptr)
    return errno == ENOENT || errno == ENOTDIR ? Status() : system_status("removal of", path, errno);
  Status status;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name(entry->d_name);
    if (name == "." || name == "..")
      continue;
    if (::unlinkat(::dirfd(folder), entry->d_name, 0) != 0 && errno != ENOENT)
      status.update(system_status("removal of", path, errno));
  }
  ::closedir(folder);
  if (status.ok() && ::rmdir(path.c_str()) != 0)
    status = system_status("removal of", path, errno);
  return status;
}

void retire_folder(const std::string& replaced, const std::string& replacing,
                   std::span<const std::string> folders) noexcept {
  (void)guard([&] {
    HeldFile mark;
    if (!replaced.empty())
      (void)make_file(fmt::format("{}/{}", replaced, k_replaced_mark), std::nullopt, mark);
    for (const std::string& folder : folders) {
      if (folder == replaced || folder == replacing ||
          ::access(fmt::format("{}/{}", folder, k_replaced_mark).c_str(), F_OK) != 0)
        continue;
      const FolderLock lock = FolderLock::take(folder);
      if (lock.is_there())
        (void)remove_folder(folder);
    }
    return Status();
  });
}

std::vector<std::string> folders_beside(const std::string& path, const std::string& mark) {
  std::vector<std::string> found;
  (void)guard([&] {
    const Split parts = split(path);
    const auto close_folder = [](DIR* folder) { ::closedir(folder); };
    const std::unique_ptr<DIR, decltype(close_folder)> folder(::opendir(folder_to_open(path).c_str()), close_folder);
    if (!folder)
      return Status();
    const std::string head = parts.name + mark;
    while (const dirent* entry = ::readdir(folder.get()))
      if (std::string_view(entry->d_name).starts_with(head))
        found.push_back(parts.folder + entry->d_name);
    return Status();
  });
  return found;
}

Status publish(std::span<const Rename> files, bool durable, const StoreOptions& options, bool* named) {
  bool unused = false;
  bool& is_named = named != nullptr ? *named : unused;
  is_named = false;
  return guard([&]() -> Status {
    Result<std::optional<FaultPlan>> fault = publish_fault(options);
    if (!fault.ok())
      return fault.status();
    // Named in advance: after the renames a lack of memory must not look like a failed publication.
    const std::vector<std::string> folders = durable ? folders_of(files) : std::vector<std::string>();
    Status status = check_renames(files);
    if (status.ok())
      status = rename_all(files, durable, fault.value(), is_named);
    for (size_t i = 0; status.ok() && i < folders.size(); ++i)
      status = sync_folder(folders[i]);
    return status;
  });
}

Status sync_folder(const std::string& folder) {
  return sync_path(folder, O_RDONLY | O_DIRECTORY);
}

void remove_temporary_file(const TemporaryFile& temporary) noexcept {
  if (temporary.held.is_at(temporary.temporary_path))
    (void)::unlink(temporary.temporary_path.c_str());
}

Status replace_content(const std::string& path, std::span<const std::byte> content, bool durable) {
  return guard([&] {
    const Result<TemporaryFile> temporary = start_temporary_file(path);
    if (!temporary.ok())
      return temporary.status();
    const auto write = [&] {
      auto store = open_store(temporary.value().temporary_path, StoreMode::update, {});
      if (!store.ok())
        return store.status();
      Status status = store.value()->write_at(0, content);
      status.update(store.value()->close());
      return status;
    };
    Status status = write();
    const Rename rename{temporary.value().temporary_path, temporary.value().final_path, &temporary.value().held};
    if (status.ok())
      status = publish(std::span(&rename, 1), durable);
    if (!status.ok())
      remove_temporary_file(temporary.value());
    return status;
  });
}

Status remove_files(std::span<const std::string> paths) {
  Status status;
  for (const std::string& path : paths)
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
      status.update(system_status("removal of", path, errno));
  return status;
}

bool is_temporary(std::string_view name) noexcept {
  const size_t mark = name.rfind(k_mark);
  return name.starts_with('.') && mark != std::string_view::npos && mark > 1 && is_temporary_end(name.substr(mark));
}

std::vector<std::string> leftovers(const std::string& path) {
  std::vector<std::string> found;
  Status out_of_memory_only = guard([&] {
    const Result<std::string> resolved = resolve_links(path);
    const Split parts = split(resolved.ok() ? resolved.value() : path);
    const auto close_folder = [](DIR* folder) { ::closedir(folder); };
    const std::unique_ptr<DIR, decltype(close_folder)> folder(::opendir(folder_to_open(parts.folder).c_str()),
                                                              close_folder);
    if (!folder || parts.name.empty())
      return Status();
    const std::string_view stem = stem_of(parts);
    while (const dirent* entry = ::readdir(folder.get()))
      if (is_leftover(entry->d_name, stem) || is_leftover(entry->d_name, k_calibration))
        found.push_back(parts.folder + entry->d_name);
    std::sort(found.begin(), found.end());
    return Status();
  });
  (void)out_of_memory_only;  // a list for users: partial results are acceptable
  return found;
}

std::vector<std::string> remove_leftovers(const std::string& path) {
  std::vector<std::string> removed;
  (void)guard([&] {
    for (const std::string& each : leftovers(path)) {
      const std::string temporary = each.substr(0, each.rfind(k_mark) + k_mark.size() + k_random_letters);
      struct stat about {};
      // The temporary file is created before its sidecar and removed after it. So a sidecar without one has no owner.
      const bool is_alone = temporary != each && ::lstat(temporary.c_str(), &about) != 0 && errno == ENOENT;
      if (temporary == each ? remove_leftover(each) : is_alone && remove_sidecar(each))
        removed.push_back(each);
    }
    return Status();
  });
  return removed;
}

}  // namespace windrow
