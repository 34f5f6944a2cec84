// SPDX-License-Identifier: BSD-3-Clause
// FolderLock: a lock that readers and writers of the files of a folder hold, so that no program removes the folder. It
// is a kernel lock, which ends with the process and follows the folder when it is renamed. On a file system without
// locks nothing is locked.
#pragma once

#include <chrono>
#include <string>
#include <utility>

namespace windrow {

class FolderLock {
 public:
  // Takes the lock shared. is_there(): the folder exists, and no program is about to remove it.
  static FolderLock share(const std::string& path) noexcept;
  // Exclusive; waits up to `backoff`. is_there() is false too if another process still holds a lock.
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
