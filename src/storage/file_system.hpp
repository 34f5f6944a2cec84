// SPDX-License-Identifier: BSD-3-Clause
// What kind of file system a path lies on, as far as that is known without asking anybody else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace windrow {

// local: a disk of this host or its memory, where a request costs a system call, not a way through a network.
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
FileSystem file_system_of_type(uint64_t type) noexcept;  // statfs.f_type

// As the option file_system has them; unknown for any other name.
FileSystem file_system_called(std::string_view name) noexcept;
std::string_view name_of(FileSystem kind) noexcept;

// A number that tells a file from all that have had its name before or get it later, whatever it is called and whoever
// writes to it. The same on all hosts that have the file system. 0: there is no such file, or its numbers are not known
// to stay.
uint64_t file_number(int descriptor) noexcept;
uint64_t file_number(const std::string& path) noexcept;

}  // namespace windrow
