// SPDX-License-Identifier: BSD-3-Clause
// Queries and sets the striping of files. All system calls go through a table, so that ioctls which no test system
// supports can be tested with prepared answers. One rank calls these functions; none of them communicates.
#pragma once

#include <sys/types.h>
#include <sys/vfs.h>

#include <cstddef>
#include <functional>
#include <string>

#include "base/status.hpp"
#include "layout/layout.hpp"
#include "layout/stripes.hpp"
#include "storage/file_system.hpp"

namespace windrow {

struct CephLibrary;

// The system calls of these names; each sets errno. mounts: the text of /proc/self/mountinfo. ceph: libcephfs, loaded
// at the first use.
struct SystemCalls {
  std::function<int(const char* path, struct statfs* about)> statfs;
  std::function<ssize_t(const char* path, const char* name, void* value, size_t size)> getxattr;
  std::function<int(const char* path, const char* name, const void* value, size_t size)> setxattr;
  std::function<int(const char* path, int flags, mode_t mode)> open;
  std::function<int(int descriptor, unsigned long request, void* argument)> ioctl;
  std::function<std::string()> mounts;
  std::function<Result<const CephLibrary*>()> ceph;
};
const SystemCalls& system_calls();

struct ProbedLayout {
  StorageLayout layout;                          // always set: by default the blocks of the file system
  FileSystem file_system = FileSystem::unknown;  // the source of the layout, or as given
  std::string reason;                            // why only blocks are known; "" if that is expected
};

// The striping of a file, or of new files in a folder. Never fails: an error becomes the reason. `given`: the file
// system of the path; unknown: it is detected. If detection fails, the queries of CephFS and Lustre are tried, since
// both may be mounted through FUSE.
ProbedLayout probe_layout(const std::string& path, FileSystem given = FileSystem::unknown,
                          const SystemCalls& calls = system_calls());

// Whether the folder has its own layout, which somebody has set.
bool folder_has_layout(const std::string& folder, FileSystem kind, const SystemCalls& calls = system_calls());

// Sets the stripes of an empty file. Lustre creates objects together with the file. There, a new file without objects
// replaces this one by rename. unsupported: the file system has no such call; otherwise the system's error. After an
// error the file is unchanged.
Status set_stripes(const std::string& path, const StripeNumbers& numbers, const ProbedLayout& now,
                   const SystemCalls& calls = system_calls());

}  // namespace windrow
