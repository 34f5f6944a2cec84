// SPDX-License-Identifier: BSD-3-Clause
// FolderLock: whoever reads or writes the files of a folder holds one, and nobody removes the folder meanwhile. It is a
// lock of the system, which ends with the process, and follows the folder when that is renamed. Where the file system
// has none nothing is locked, and nobody is kept out.
#pragma once

#include <chrono>
#include <string>
#include <utility>

namespace windrow {

class FolderLock {
 public:
  // Together with others. `is_there()` says whether the folder was, and nobody is about to remove it.
  static FolderLock share(const std::string& path) noexcept;
  // Alone; waits so long. `is_there()` is false where somebody has it still, too.
  static FolderLock take(const std::string& path, std::chrono::milliseconds backoff = {}) noexcept;

  FolderLock() = default;
  FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FolderLock& operator=(FolderLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();
  bool is_there() const noexcept { return descriptor_ >= 0; }

 private:
  static FolderLock lock(const std::string& path, int how, std::chrono::milliseconds backoff) noexcept;
  explicit FolderLock(int descriptor) noexcept : descriptor_(descriptor) {}

  int descriptor_ = -1;
};

}  // namespace windrow
