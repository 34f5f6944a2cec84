// SPDX-License-Identifier: BSD-3-Clause
// What is mounted where, as Linux tells a process, and where in a CephFS a path leads.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace windrow {

// A line of /proc/self/mountinfo. Names are as they are, not as the line has them: "\040" is a blank.
struct Mount {
  std::string root;   // of the file system, what is mounted: "/", or the folder of a bind mount
  std::string point;  // where
  std::string type;   // "ceph", "fuse.ceph-fuse"
  std::string source;
  std::string options;  // of the file system, with commas between them
  friend bool operator==(const Mount&, const Mount&) = default;
};

std::string mounts_of_process();  // the text; "" where there is none

// Lines that are none are left out.
// Source: Linux, Documentation/filesystems/proc.rst, section 3.5.
std::vector<Mount> parse_mounts(std::string_view text);

// That an absolute path without links lies in: the innermost, and of several on one point the last. nullptr: none.
const Mount* mount_of(std::span<const Mount> mounts, std::string_view path) noexcept;

// What another client of a CephFS has to know to find a file that is mounted here.
struct CephPlace {
  std::string user;         // without "client."; "" where the mount does not tell: whoever Ceph's settings say
  std::string file_system;  // "": the default one
  std::string root;         // what the mount has of it: "/", or a folder
  std::string path;         // of the file in that
  friend bool operator==(const CephPlace&, const CephPlace&) = default;
};

// unsupported: the path lies on no mount of CephFS. Sources are "monitor,monitor:/folder" and
// "user@cluster.file_system=/folder" with the kernel's client; ceph-fuse tells nothing, so its root may be another than
// "/": who finds a file must look whether it is the same.
Result<CephPlace> place_in_cephfs(std::span<const Mount> mounts, std::string_view path);

}  // namespace windrow
