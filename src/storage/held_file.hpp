// SPDX-License-Identifier: BSD-3-Clause
// HeldFile: a temporary file or folder that this process has made, open for as long as it is needed. So nothing else
// can be taken for it, and a
// lock of the open file tells other programs that its maker lives: a process id would tell them nothing on other hosts.
#pragma once

#include <string>
#include <utility>

#include "base/status.hpp"

namespace windrow {

class HeldFile {
 public:
  HeldFile() = default;
  explicit HeldFile(int descriptor) noexcept : descriptor_(descriptor) {}  // takes it over
  HeldFile(HeldFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  HeldFile& operator=(HeldFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;
  ~HeldFile() { release(); }

  // What has the name, without a lock, and without being opened to be read; nothing is held where nothing has it.
  static HeldFile at(const std::string& path) noexcept;

  bool is_held() const noexcept { return descriptor_ >= 0; }
  int descriptor() const noexcept { return descriptor_; }
  // False: another process has the lock. Where the file system has no locks, nobody has.
  bool lock() noexcept;
  // Whether `path` is this very file. True where nothing is held: nothing is known.
  bool is_at(const std::string& path) const noexcept;
  // The same for a path that may lead there through symbolic links.
  bool is_behind(const std::string& path) const noexcept;
  // Holds what has the name now, where this process has given it to another file.
  Status follow(const std::string& path);
  void release() noexcept;  // ends the lock
  void unlock() noexcept;   // the file stays held

 private:
  int descriptor_ = -1;
};

// Removes a temporary file whose maker has ended, and what it has made beside it: names that go on behind `path` with a
// dot. Returns whether it has. Left
// alone: a file that is locked; one on a file system whose locks do not reach all its hosts, or where that is not
// known; what is no file.
bool remove_leftover(const std::string& path);

}  // namespace windrow
