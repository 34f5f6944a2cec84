// SPDX-License-Identifier: BSD-3-Clause
// HDF5 keeps one state of a file for all in a process who have it open; of those that it was not asked for it does not know.
#pragma once

#include <sys/types.h>

#include <utility>

namespace windrow {

enum class OpenFor { reading_without_hdf5, writing };

// A file that this process has open, as long as this lives.
class OpenFile {
 public:
  OpenFile(int descriptor, OpenFor purpose);  // may throw std::bad_alloc
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // Whether there is one of that file.
  static bool exists(int descriptor, OpenFor purpose) noexcept;

 private:
  std::pair<dev_t, ino_t> identity_;
  OpenFor purpose_;
};

}  // namespace windrow
