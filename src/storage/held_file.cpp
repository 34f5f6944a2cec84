// SPDX-License-Identifier: BSD-3-Clause
#include "storage/held_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "storage/file_system.hpp"
#include "storage/mounts.hpp"
#include "storage/publish.hpp"
#include "storage/system_error.hpp"

namespace windrow {
namespace {

// Sets an open file description lock of a byte beyond any file. flock() is unsuitable: HDF5 uses it, and NFS and Lustre
// treat both kinds as one.
constexpr off_t k_owners_byte = INT64_MAX - 2, k_tried_byte = INT64_MAX - 3;
int lock_byte(int descriptor, short how = F_WRLCK, off_t which = k_owners_byte) noexcept {
  struct flock byte {};
  byte.l_type = how;
  byte.l_whence = SEEK_SET;
  byte.l_start = which;
  byte.l_len = 1;
  int result = 0;
  do
    result = ::fcntl(descriptor, F_OFD_SETLK, &byte);
  while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

bool is_locked_by_another(int error) noexcept {
  return error == EAGAIN || error == EACCES;
}

bool has_option(std::string_view options, std::string_view wanted) noexcept {
  for (size_t begin = 0; begin <= options.size();) {
    const size_t end = std::min(options.find(',', begin), options.size());
    if (options.substr(begin, end - begin) == wanted)
      return true;
    begin = end + 1;
  }
  return false;
}

// The mount options for a path; "" if unknown.
std::string mount_options(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  if (real == nullptr)
    return "";
  const std::vector<Mount> mounts = parse_mounts(mounts_of_process());
  const Mount* const mount = mount_of(mounts, real.get());
  return mount != nullptr ? mount->options : "";
}

// Whether a lock that is free here is free on every host of the file system.
bool locks_reach_all_hosts(int descriptor, const std::string& path) {
  struct statfs about {};
  if (::fstatfs(descriptor, &about) != 0)
    return false;
  switch (file_system_of_type(static_cast<uint64_t>(about.f_type))) {
    case FileSystem::local:
    case FileSystem::cephfs:
    case FileSystem::gpfs:
      return true;
    case FileSystem::nfs: {
      const std::string options = mount_options(path);
      return !options.empty() && !has_option(options, "nolock") && !has_option(options, "local_lock=all") &&
             !has_option(options, "local_lock=posix");
    }
    case FileSystem::lustre:
      return has_option(mount_options(path), "flock");
    default:
      return false;
  }
}

bool is_same(const struct stat& one, const struct stat& other) noexcept {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// The sidecars that belong to a temporary file.
std::vector<std::string> sidecars_of(const std::string& path) {
  std::vector<std::string> found;
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1),
                    head = path.substr(folder.size()) + ".";
  const auto close_folder = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(close_folder)> open(::opendir(folder.empty() ? "." : folder.c_str()),
                                                          close_folder);
  if (open == nullptr)
    return found;
  while (const dirent* entry = ::readdir(open.get()))
    if (std::string_view(entry->d_name).starts_with(head))
      found.push_back(folder + entry->d_name);
  return found;
}

bool remove_any(const std::string& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0)
    return errno == ENOENT;
  return S_ISDIR(about.st_mode) ? remove_folder(path).ok() : ::unlink(path.c_str()) == 0;
}

}  // namespace

bool HeldFile::lock() noexcept {
  return !is_locked_by_another(lock_byte(descriptor_));
}

bool HeldFile::is_at(const std::string& path) const noexcept {
  struct stat mine {};
  struct stat there {};
  if (!is_held() || ::fstat(descriptor_, &mine) != 0)
    return true;
  return ::lstat(path.c_str(), &there) == 0 && is_same(mine, there);
}

bool HeldFile::is_reached_by(const std::string& path) const noexcept {
  struct stat mine {};
  struct stat there {};
  if (!is_held() || ::fstat(descriptor_, &mine) != 0)
    return true;
  return ::stat(path.c_str(), &there) == 0 && is_same(mine, there);
}

namespace {

// Opening a file failed for another reason than the file itself.
bool is_of_process(int error) noexcept {
  const Code code = code_of_errno(error);
  return code == Code::io || code == Code::out_of_memory;
}

}  // namespace

Result<HeldFile> HeldFile::at(const std::string& path) {
  HeldFile file(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!file.is_held() && is_of_process(errno))
    return system_status("open of", path, errno);
  return file;
}

Result<HeldFile> HeldFile::to_change(const std::string& path) {
  HeldFile file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_held() && is_of_process(errno) && errno != ENXIO)  // a pipe, which the format refuses
    return system_status("open of", path, errno);
  if (!file.is_held())
    return at(path);
  if (file.lock())
    return file;
  return Status(Code::bad_state, "\"" + path + "\" is open for update in another program: wait until it is closed");
}

Status HeldFile::follow(const std::string& path) {
  if (!is_held() || is_at(path))
    return {};
  HeldFile other(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!other.is_held())
    return system_status("open of", path, errno);
  if (!other.lock())
    return system_status("lock of", path, EAGAIN);
  *this = std::move(other);
  return {};
}

void HeldFile::unlock() noexcept {
  if (descriptor_ >= 0)
    (void)lock_byte(descriptor_, F_UNLCK);
}

void HeldFile::share() noexcept {
  if (descriptor_ >= 0)
    (void)lock_byte(descriptor_, F_RDLCK);
}

// Tries a byte that nobody else locks.
bool HeldFile::has_locks() const noexcept {
  const int error = lock_byte(descriptor_, F_RDLCK, k_tried_byte);
  if (error == 0)
    (void)lock_byte(descriptor_, F_UNLCK, k_tried_byte);
  return !means_no_locks(error);
}

void HeldFile::release() noexcept {
  if (descriptor_ >= 0)
    ::close(descriptor_);
  descriptor_ = -1;
}

// Removes the file itself last, so that the rest is found again if this process is killed. Its lock is held until then,
// so that no files are removed that another process has created under its name.
bool remove_leftover(const std::string& path) {
  bool removed = false;
  (void)guard([&] {
    if (::access(path.c_str(), F_OK) != 0)
      return Status();  // the usual case: avoids an open()
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0)
      return Status();
    const HeldFile file(descriptor);
    struct stat about {};
    if (::fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode) || !locks_reach_all_hosts(descriptor, path))
      return Status();
    if (lock_byte(descriptor) != 0 || !file.is_at(path))
      return Status();
    removed = true;
    for (const std::string& sidecar : sidecars_of(path))
      removed = remove_any(sidecar) && removed;
    removed = removed && ::unlink(path.c_str()) == 0;
    return Status();
  });
  return removed;
}

}  // namespace windrow
