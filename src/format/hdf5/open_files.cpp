// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/open_files.hpp"

#include <sys/stat.h>

#include <mutex>
#include <set>
#include <tuple>

namespace windrow {
namespace {

using FileAndPurpose = std::tuple<dev_t, ino_t, OpenFor>;

// Never destroyed: files are closed as late as in the destructors of a program's own objects.
struct OpenFiles {
  std::mutex mutex;
  std::multiset<FileAndPurpose> files;
  static OpenFiles& all() {
    static auto& instance = *new OpenFiles;
    return instance;
  }
};

std::pair<dev_t, ino_t> identity_of(int descriptor) noexcept {
  struct stat about {};
  return ::fstat(descriptor, &about) == 0 ? std::pair{about.st_dev, about.st_ino} : std::pair<dev_t, ino_t>{};
}

}  // namespace

OpenFile::OpenFile(int descriptor, OpenFor purpose) : identity_(identity_of(descriptor)), purpose_(purpose) {
  OpenFiles& open = OpenFiles::all();
  const std::lock_guard<std::mutex> lock(open.mutex);
  open.files.emplace(identity_.first, identity_.second, purpose_);
}

OpenFile::~OpenFile() {
  OpenFiles& open = OpenFiles::all();
  const std::lock_guard<std::mutex> lock(open.mutex);
  open.files.erase(open.files.find({identity_.first, identity_.second, purpose_}));
}

bool OpenFile::exists(int descriptor, OpenFor purpose) noexcept {
  const auto [device, number] = identity_of(descriptor);
  OpenFiles& open = OpenFiles::all();
  const std::lock_guard<std::mutex> lock(open.mutex);
  return open.files.contains({device, number, purpose});
}

}  // namespace windrow
