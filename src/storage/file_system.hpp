// SPDX-License-Identifier: BSD-3-Clause
// The kind of file system of a path, as far as the local kernel knows it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace windrow {

// local: a disk or the memory of this host, where a request costs a system call instead of network latency.
enum class FileSystem : int {
  unknown = 0,
  local,
  nfs,
  lustre,
  beegfs,
  cephfs,
  gpfs
};

FileSystem file_system_of(const std::string& path) noexcept;
FileSystem file_system_of_type(uint64_t type) noexcept;  // type: statfs.f_type

// Names as in the option file_system; unknown for any other name.
FileSystem file_system_called(std::string_view name) noexcept;
std::string_view name_of(FileSystem kind) noexcept;

// A number that distinguishes a file from all earlier and later files of its name. It does not change with renames and
// writes, and is the same on all hosts of the file system. 0: no such file, or its numbers may change.
uint64_t file_number(int descriptor) noexcept;
uint64_t file_number(const std::string& path) noexcept;

}  // namespace windrow
