// SPDX-License-Identifier: BSD-3-Clause
// What a rank can tell about a file that MPI has opened. Local.
#pragma once

#include <cstdint>
#include <string>

namespace mpiio {

// Why Windrow leaves a file to MPI. The ranks agree on the highest.
enum class Refusal : int {
  none,
  error,  // Windrow cannot open it
  hint,
  file_system,
  not_regular,
  prefix,
  sequential,
  not_opened,  // by MPI
  one_rank,
  no_core  // on some rank
};

const char* name_of(Refusal refusal) noexcept;

// The path without a prefix of ROMIO that names a file system of POSIX, as an absolute path. Empty: the prefix names
// another one. May throw std::bad_alloc.
std::string path_of(const char* name);

struct FileFacts {
  uint64_t device = 0;
  uint64_t inode = 0;
  bool is_regular = false;
  // Whether a host may not see at once what another host has written.
  bool is_cached_by_hosts = false;
};

FileFacts facts_of(const std::string& path) noexcept;

}  // namespace mpiio
