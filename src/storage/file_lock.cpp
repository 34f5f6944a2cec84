// SPDX-License-Identifier: BSD-3-Clause
#include "storage/file_lock.hpp"

#include <sys/stat.h>

#include <mutex>
#include <set>

namespace windrow {
namespace {

struct LockedFiles {
  std::mutex mutex;
  std::set<std::pair<dev_t, ino_t>> files;
};

LockedFiles& claimed() {
  static LockedFiles* const all =
      new LockedFiles;  // never destroyed: destructors of static objects may still close files
  return *all;
}

}  // namespace

Result<FileLock> FileLock::take(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0)
    return FileLock();
  const Identity file(about.st_dev, about.st_ino);
  const std::scoped_lock lock(claimed().mutex);
  if (!claimed().files.insert(file).second)
    return Status(Code::bad_state,
                  "\"" + path + "\" is open for update already in this program: close that handle first");
  return FileLock(file);
}

FileLock::~FileLock() {
  if (!file_)
    return;
  const std::scoped_lock lock(claimed().mutex);
  claimed().files.erase(*file_);
}

}  // namespace windrow
