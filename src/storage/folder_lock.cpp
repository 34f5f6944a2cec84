// SPDX-License-Identifier: BSD-3-Clause
#include "storage/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace windrow {
namespace {

// A folder that was removed while this process waited is still open, but no longer has its name.
bool has_name(int descriptor, const std::string& path) noexcept {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

}  // namespace

FolderLock FolderLock::lock(const std::string& path, int how, std::chrono::milliseconds backoff) noexcept {
  FolderLock lock(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!lock.is_there())
    return lock;
  const auto end = std::chrono::steady_clock::now() + backoff;
  for (;;) {
    const bool refused = ::flock(lock.descriptor_, how | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!refused)
      break;
    if (std::chrono::steady_clock::now() >= end)
      return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return has_name(lock.descriptor_, path) ? std::move(lock) : FolderLock();
}

FolderLock FolderLock::share(const std::string& path) noexcept {
  return lock(path, LOCK_SH, {});
}
FolderLock FolderLock::take(const std::string& path, std::chrono::milliseconds backoff) noexcept {
  return lock(path, LOCK_EX, backoff);
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

}  // namespace windrow
