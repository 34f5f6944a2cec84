// SPDX-License-Identifier: BSD-3-Clause
#include "storage/file_system.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace windrow {
namespace {

constexpr std::array<std::string_view, 7> k_names{"unknown", "local", "nfs", "lustre", "beegfs", "cephfs", "gpfs"};

struct Magic {
  uint32_t number;
  FileSystem kind;
};

// linux/magic.h has the numbers of file systems in the kernel; the others are in the sources of the file systems.
constexpr std::array k_magic{
    Magic{EXT4_SUPER_MAGIC, FileSystem::local}, Magic{BTRFS_SUPER_MAGIC, FileSystem::local},
    Magic{TMPFS_MAGIC, FileSystem::local},      Magic{RAMFS_MAGIC, FileSystem::local},
    Magic{F2FS_SUPER_MAGIC, FileSystem::local}, Magic{OVERLAYFS_SUPER_MAGIC, FileSystem::local},
    Magic{0x58465342, FileSystem::local},       Magic{0x2fc12fc1, FileSystem::local},  // XFS and ZFS
    Magic{NFS_SUPER_MAGIC, FileSystem::nfs},    Magic{0x0bd00bd0, FileSystem::lustre},
    Magic{0x19830326, FileSystem::beegfs},      Magic{0x00c36400, FileSystem::cephfs},
    Magic{0x47504653, FileSystem::gpfs},
};

}  // namespace

FileSystem file_system_of(const std::string& path) noexcept {
  struct statfs about {};
  if (::statfs(path.c_str(), &about) != 0)
    return FileSystem::unknown;
  return file_system_of_type(static_cast<uint64_t>(about.f_type));
}

FileSystem file_system_of_type(uint64_t type) noexcept {
  const auto found = std::find_if(k_magic.begin(), k_magic.end(),
                                  [&](const Magic& each) { return each.number == static_cast<uint32_t>(type); });
  return found == k_magic.end() ? FileSystem::unknown : found->kind;
}

FileSystem file_system_called(std::string_view name) noexcept {
  const auto found = std::find(k_names.begin(), k_names.end(), name);
  return found == k_names.end() ? FileSystem::unknown : static_cast<FileSystem>(found - k_names.begin());
}

namespace {

// `descriptor`, `path`: as of statx().
uint64_t number_of(const struct statfs& about, int descriptor, const char* path) noexcept {
  struct statx file {};
  const FileSystem kind = file_system_of_type(static_cast<uint64_t>(about.f_type));
  const unsigned wanted = STATX_INO | STATX_BTIME;
  if (kind == FileSystem::unknown || ::statx(descriptor, path, AT_EMPTY_PATH, wanted, &file) != 0)
    return 0;
  // The inode number of a removed file is reused, so the time of birth is added. Hosts with other kernels may not
  // report it.
  if (kind != FileSystem::local || (file.stx_mask & STATX_BTIME) == 0)
    return file.stx_ino;
  constexpr uint64_t k_spread = 0x9e3779b97f4a7c15;
  const uint64_t born = static_cast<uint64_t>(file.stx_btime.tv_sec) * 1'000'000'000 + file.stx_btime.tv_nsec;
  return std::max<uint64_t>(1, file.stx_ino ^ (born * k_spread));
}

}  // namespace

uint64_t file_number(int descriptor) noexcept {
  struct statfs about {};
  return ::fstatfs(descriptor, &about) == 0 ? number_of(about, descriptor, "") : 0;
}

// Without a descriptor, which the process may not have.
uint64_t file_number(const std::string& path) noexcept {
  struct statfs about {};
  return ::statfs(path.c_str(), &about) == 0 ? number_of(about, AT_FDCWD, path.c_str()) : 0;
}

std::string_view name_of(FileSystem kind) noexcept {
  return k_names[static_cast<size_t>(kind)];
}

}  // namespace windrow
