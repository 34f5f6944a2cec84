// SPDX-License-Identifier: BSD-3-Clause
// What kind of file system a path lies on, as far as that is known without asking anybody else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace windrow {

// local: a disk of this host or its memory, where a request costs a system call, not a way through a network.
enum class FileSystem : int { unknown = 0, local, nfs, lustre, beegfs, cephfs, gpfs };

FileSystem file_system_of(const std::string& path) noexcept;
FileSystem file_system_of_type(uint64_t type) noexcept;  // statfs.f_type

// As the option file_system has them; unknown for any other name.
FileSystem file_system_called(std::string_view name) noexcept;
std::string_view name_of(FileSystem kind) noexcept;

}  // namespace windrow
