// SPDX-License-Identifier: BSD-3-Clause
#include "file_facts.hpp"

#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <string_view>

namespace mpiio {
namespace {

// ROMIO's prefixes: "lustre:/scratch/a.nc". Any other colon belongs to the name.
constexpr auto k_posix = std::to_array<std::string_view>({"ufs:", "xfs:", "lustre:", "gpfs:"});
constexpr auto k_others =
    std::to_array<std::string_view>({"daos:", "ime:", "nfs:", "panfs:", "pvfs:", "pvfs2:", "quobyte:", "testfs:"});

// Numbers of statfs(2): NFS, SMB in three versions, AFS, FUSE, 9P.
constexpr auto k_cached_by_hosts =
    std::to_array<unsigned>({0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x5346414f, 0x65735546, 0x01021997});

}  // namespace

const char* name_of(Refusal refusal) noexcept {
  switch (refusal) {
    case Refusal::none:
      return "";
    case Refusal::error:
      return "error";
    case Refusal::hint:
      return "hint";
    case Refusal::file_system:
      return "file system";
    case Refusal::not_regular:
      return "not a regular file";
    case Refusal::prefix:
      return "prefix";
    case Refusal::sequential:
      return "sequential";
    case Refusal::not_opened:
      return "not opened";
    case Refusal::one_rank:
      return "one rank";
    case Refusal::no_core:
      return "no core";
  }
  return "";
}

std::string path_of(const char* name) {
  std::string_view path(name);
  const auto begins_path = [&](std::string_view prefix) { return path.starts_with(prefix); };
  if (std::ranges::any_of(k_others, begins_path) || std::getenv("ROMIO_FSTYPE_FORCE") != nullptr)
    return {};
  if (const auto prefix = std::ranges::find_if(k_posix, begins_path); prefix != k_posix.end()) {
    // ROMIO removes the prefix, and OMPIO has it in the name.
    struct stat about {};
    if (::stat(name, &about) == 0)
      return {};
    path.remove_prefix(prefix->size());
  }
  if (path.starts_with('/'))
    return std::string(path);
  std::array<char, PATH_MAX> folder{};
  if (::getcwd(folder.data(), folder.size()) == nullptr)
    return {};
  return std::string(folder.data()) + "/" + std::string(path);
}

FileFacts facts_of(const std::string& path) noexcept {
  FileFacts facts;
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0)
    return facts;
  facts.device = about.st_dev;
  facts.inode = about.st_ino;
  facts.is_regular = S_ISREG(about.st_mode);
  struct statfs system {};
  if (::statfs(path.c_str(), &system) == 0)
    facts.is_cached_by_hosts =
        std::ranges::find(k_cached_by_hosts, static_cast<unsigned>(system.f_type)) != k_cached_by_hosts.end();
  return facts;
}

}  // namespace mpiio
