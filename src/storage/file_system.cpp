// SPDX-License-Identifier: BSD-3-Clause
#include "storage/file_system.hpp"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace windrow {

bool is_on_local_disk(const std::string& path) noexcept {
  // linux/magic.h has those that the kernel itself brings; ZFS's is in its own vdev_impl.h, XFS's in xfs_format.h.
  constexpr uint32_t k_zfs = 0x2fc12fc1, k_xfs = 0x58465342;
  constexpr std::array<uint32_t, 8> k_local{EXT4_SUPER_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC, RAMFS_MAGIC,
                                            F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, k_xfs, k_zfs};
  struct statfs about {};
  if (::statfs(path.c_str(), &about) != 0) return false;
  return std::find(k_local.begin(), k_local.end(), static_cast<uint32_t>(about.f_type)) != k_local.end();
}

}  // namespace windrow
