// SPDX-License-Identifier: BSD-3-Clause
// Asks the file system how it spreads a file, and tells it how to spread a new one. All goes through a table of system
// calls, so that what no test bed has, ioctls above all, is tested with answers made by hand. One rank calls these;
// none of them talks.
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

// As the system's calls of these names; each sets errno. mounts: the text of /proc/self/mountinfo. ceph: libcephfs,
// loaded when it is first asked for.
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
  StorageLayout layout;                          // always one: where nobody tells, the blocks of the file system
  FileSystem file_system = FileSystem::unknown;  // that has told, or that was told
  std::string reason;                            // why it is no more than blocks, where it could be; "" else
};

// How the file, or new files in the folder, are spread. Never fails: what goes wrong is the reason. `told`: what the
// path lies on; unknown: the system is asked. What it does not know is asked as CephFS and Lustre are, since both may
// stand behind FUSE.
ProbedLayout probe_layout(const std::string& path, FileSystem told = FileSystem::unknown,
                          const SystemCalls& calls = system_calls());

// Whether the folder has a layout of its own, that somebody gave it.
bool folder_has_layout(const std::string& folder, FileSystem kind, const SystemCalls& calls = system_calls());

// Gives an empty file these stripes. Lustre gives a file its objects when it is made, so there another one, without
// objects, takes the name of this one, by rename. unsupported: the file system has no such call; else as the system
// says. After an error the file is as it was.
Status set_stripes(const std::string& path, const StripeNumbers& numbers, const ProbedLayout& now,
                   const SystemCalls& calls = system_calls());

}  // namespace windrow
