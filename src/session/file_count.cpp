// SPDX-License-Identifier: BSD-3-Clause
#include "session/file_count.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace windrow {

// Source: K. Gao et al., ICPP 2009, section V: with 8 processes a subfile GPFS was faster than with one file or one for each process, and Lustre faster than
// with one file. Their hosts had 2 to 4 processes; the ranks of a host hand their data to one writer here, which one file keeps busy.
// Where a layout shows several targets, a file for each is what they can take: a first model. One that shows a single target says nothing, since the next file
// gets another.
FileCount choose_file_count(FileSystem kind, bool can_split, int64_t ranks, int64_t hosts, int64_t targets) {
  constexpr int64_t k_ranks_a_file = 8;
  const auto one = [](std::string why) { return FileCount{1, "files one: " + std::move(why)}; };
  const std::string_view name = name_of(kind);
  switch (kind) {
    case FileSystem::local: return one("on a disk of this host, or in its memory, one file is as fast and easier to handle");
    case FileSystem::nfs: return one("nfs has one server, and more files are no more ways to it");
    case FileSystem::unknown: return one("the file system is none of those that several files are known to help");
    case FileSystem::lustre:
    case FileSystem::beegfs:
    case FileSystem::cephfs:
    case FileSystem::gpfs: break;
  }
  if (!can_split) return one(fmt::format("{} is parallel, but files of this format cannot be split", name));
  if (targets > 1 && hosts < 2) return one(fmt::format("{} spreads a file over {} targets, but the ranks are on one host, and one writer has one file to write", name, targets));
  if (targets > 1) {
    const int64_t each = std::min(targets, hosts);
    return {each, fmt::format("files subfiles({}): {} is parallel; a file for each of {} targets of its layout, and no more than {} hosts; no part is smaller than 64 MiB", each, name,
                              targets, hosts)};
  }
  const int64_t files = std::min(ranks / k_ranks_a_file, hosts);
  if (files < 2) return one(fmt::format("{} is parallel, but {} ranks on {} hosts are too few for a file for every {} ranks and a host for each", name, ranks, hosts, k_ranks_a_file));
  return {files, fmt::format("files subfiles({}): {} is parallel; a file for every {} of {} ranks, and no more than {} hosts; no part is smaller than 64 MiB", files, name,
                             k_ranks_a_file, ranks, hosts)};
}

}  // namespace windrow
