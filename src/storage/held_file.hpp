// SPDX-License-Identifier: BSD-3-Clause
// HeldFile: a file or folder that this process makes or changes, kept open while it is needed. Its identity is
// therefore certain. A lock of the open file shows other programs, on any host, that its owner is alive; a process id
// would be meaningless on other hosts.
#pragma once

#include <string>
#include <utility>

#include "base/status.hpp"

namespace windrow {

class HeldFile {
 public:
  HeldFile() = default;
  explicit HeldFile(int descriptor) noexcept : descriptor_(descriptor) {}  // takes ownership
  HeldFile(HeldFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  HeldFile& operator=(HeldFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;
  ~HeldFile() { release(); }

  // The file with this name, without a lock and without read access; holds nothing if there is none, or if it cannot be
  // reached. io, out_of_memory: this process could not open it, e.g. because it has too many open files.
  static Result<HeldFile> at(const std::string& path);
  // The file with this name, locked until it is released. bad_state: another process holds the lock. Without write
  // access, or if there is none, as at(): opening it to write reports the error.
  static Result<HeldFile> to_change(const std::string& path);

  bool is_held() const noexcept { return descriptor_ >= 0; }
  int descriptor() const noexcept { return descriptor_; }
  // False: another process holds the lock. True on file systems without locks.
  bool lock() noexcept;
  // Whether `path` is this file. True if nothing is held, since nothing is known.
  bool is_at(const std::string& path) const noexcept;
  // The same for a path that may lead to it through symbolic links.
  bool is_reached_by(const std::string& path) const noexcept;
  // Holds the file that has the name now, after this process replaced it.
  Status follow(const std::string& path);
  // Whether the file system has locks of ranges of this file, which is open for writing too.
  bool has_locks() const noexcept;
  void release() noexcept;  // also ends the lock
  void unlock() noexcept;   // the file stays open
  void share() noexcept;    // the lock becomes a shared one: it refuses those who lock to change the file

 private:
  int descriptor_ = -1;
};

// Removes a temporary file whose owner has ended, with its sidecars: names that extend `path` by a dot and more.
// Returns whether it did. Keeps a locked file, one on a file system whose locks may not reach all hosts, and anything
// that is not a file.
bool remove_leftover(const std::string& path);

}  // namespace windrow
