// SPDX-License-Identifier: BSD-3-Clause
// libcephfs as a table of functions, so that tests can replace it. It brings threads and twenty other libraries of 25
// MB in total. Therefore it is not linked but loaded on demand. Only ceph_library.cpp includes its header.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/status.hpp"

struct ceph_mount_info;

namespace windrow {

// The striping and identity of a file on CephFS.
struct CephFile {
  int64_t stripe_bytes = 0;
  int64_t stripe_count = 0;
  int64_t object_bytes = 0;
  uint64_t inode = 0;
};

// The functions of these names without "ceph_"; negative results are error numbers. about: of an open file,
// ceph_get_file_layout() and ceph_fstatx(). settings: ceph_conf_read_file() of the default files and
// ceph_conf_parse_env() of CEPH_ARGS.
struct CephLibrary {
  std::function<int(ceph_mount_info** client, const char* user)> create;
  std::function<int(ceph_mount_info* client)> settings;
  std::function<int(ceph_mount_info* client, const char* option, const char* value)> conf_set;
  std::function<int(ceph_mount_info* client, const char* root)> mount;
  std::function<int(ceph_mount_info* client, const char* path, int flags)> open;
  std::function<int(ceph_mount_info* client, int file, CephFile& about)> about;
  // The number of OSDs that store the object with this byte; the first one is the primary.
  std::function<int(ceph_mount_info* client, int file, int64_t offset, std::span<int> osds)> get_file_extent_osds;
  std::function<int(ceph_mount_info* client, int file)> close;
  std::function<int(ceph_mount_info* client)> unmount;
  std::function<int(ceph_mount_info* client)> release;
};

// unsupported: built without its header, or not installed. Loaded once and never unloaded.
Result<const CephLibrary*> load_ceph_library();

}  // namespace windrow
