// SPDX-License-Identifier: BSD-3-Clause
// FileLock: excludes a second handle of this process on a file that is changed in place. Each handle caches metadata
// that the other would change.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "base/status.hpp"

namespace windrow {

class FileLock {
 public:
  // bad_state: this process holds a lock of the file, under any name or link. A file that does not exist is not locked;
  // opening it reports the error.
  static Result<FileLock> take(const std::string& path);

  FileLock() = default;
  FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, std::nullopt)) {}
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  using Identity = std::pair<dev_t, ino_t>;
  explicit FileLock(Identity file) noexcept : file_(file) {}

  std::optional<Identity> file_;
};

}  // namespace windrow
