// SPDX-License-Identifier: BSD-3-Clause
// The mounts of this process from Linux, and the position of a path within a CephFS.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace windrow {

// A line of /proc/self/mountinfo, with escapes resolved: "\040" is a blank.
struct Mount {
  std::string root;   // the mounted part of the file system: "/", or the folder of a bind mount
  std::string point;  // mount point
  std::string type;   // "ceph", "fuse.ceph-fuse"
  std::string source;
  std::string options;  // mount options of the file system, comma-separated
  friend bool operator==(const Mount&, const Mount&) = default;
};

std::string mounts_of_process();  // the text; "" if unavailable

// Skips malformed lines. Source: Linux, Documentation/filesystems/proc.rst, section 3.5.
std::vector<Mount> parse_mounts(std::string_view text);

// The mount that contains an absolute path without links; nullptr if there is none. It is the innermost mount, and the
// last one if there are several on one mount point.
const Mount* mount_of(std::span<const Mount> mounts, std::string_view path) noexcept;

// Data with which another CephFS client finds a file that is mounted here.
struct CephPlace {
  std::string user;         // without "client."; "" if the mount does not have it: Ceph's settings decide
  std::string file_system;  // "": the default file system
  std::string root;         // the mounted part: "/", or a folder
  std::string path;         // path of the file relative to root
  friend bool operator==(const CephPlace&, const CephPlace&) = default;
};

// unsupported: the path is on no mount of CephFS. The kernel client's sources are "monitor,monitor:/folder" and
// "user@cluster.file_system=/folder". ceph-fuse has no such source, so its root is assumed to be "/": the caller must
// check that the file found is the same.
Result<CephPlace> place_in_cephfs(std::span<const Mount> mounts, std::string_view path);

}  // namespace windrow
