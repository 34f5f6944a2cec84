// SPDX-License-Identifier: BSD-3-Clause
// FileLock: one handle of a file that is changed in place. Two of one program would each count on metadata that the
// other moves.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "base/status.hpp"

namespace windrow {

class FileLock {
 public:
  // bad_state: this process holds one, by whatever name or link. Of a file that is not there: nothing is claimed, and
  // opening it will say why.
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
