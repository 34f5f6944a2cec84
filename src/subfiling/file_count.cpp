// SPDX-License-Identifier: BSD-3-Clause
#include "subfiling/file_count.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/units.hpp"
#include "model/predict.hpp"

namespace windrow {

// Source: K. Gao et al., ICPP 2009, section V: with 8 processes per subfile GPFS was faster than with one file or one
// per process, and Lustre faster than with one file. Their nodes had 2 to 4 processes. Here the ranks of a host send
// their data to one writer, which a single file keeps busy. If a layout has several targets, one file per target group
// is a first model. A layout with a single target gives no information, because the next file has another target.
FileCount choose_file_count(const FileCountInput& input) {
  const auto [kind, can_split, ranks, hosts, targets] = input;
  constexpr int64_t k_ranks_a_file = 8;
  const auto one = [](std::string why) { return FileCount{1, "files one: " + std::move(why)}; };
  const std::string_view name = name_of(kind);
  switch (kind) {
    case FileSystem::local:
      return one("on a local disk or in memory one file is as fast and easier to handle");
    case FileSystem::nfs:
      return one("nfs has a single server, so several files are not faster");
    case FileSystem::unknown:
      return one("several files are not known to be faster on this file system");
    case FileSystem::lustre:
    case FileSystem::beegfs:
    case FileSystem::cephfs:
    case FileSystem::gpfs:
      break;
  }
  if (!can_split)
    return one(fmt::format("{} is parallel, but files of this format cannot be split", name));
  if (targets > 1 && hosts < 2)
    return one(fmt::format("{} spreads a file over {}, but all ranks are on one host with one writer", name,
                           counted(targets, "target")));
  if (targets > 1) {
    const int64_t each = std::min(targets, hosts);
    return {each, fmt::format("files subfiles({}): {} is parallel; one file for each of {} of its layout, at most {}; "
                              "parts have at least 64 MiB",
                              each, name, counted(targets, "target"), counted(hosts, "host"))};
  }
  const int64_t files = std::min(ranks / k_ranks_a_file, hosts);
  if (files < 2)
    return one(fmt::format("{} is parallel, but {} on {} are too few: each file needs {} ranks and a host", name,
                           counted(ranks, "rank"), counted(hosts, "host"), k_ranks_a_file));
  return {files,
          fmt::format(
              "files subfiles({}): {} is parallel; one file for every {} of {}, at most {}; parts have at least 64 MiB",
              files, name, k_ranks_a_file, counted(ranks, "rank"), counted(hosts, "host"))};
}

namespace {

constexpr double k_worth = 0.9;  // fraction of one file's seconds: more files are harder to handle

// Seconds for this number of files with one writer each, or for one file with a writer per host. Measurements of one
// file are ignored, because they do not apply to several.
double seconds_with(int64_t files, Machine machine, int64_t ranks, int64_t hosts, int64_t bytes) {
  machine.writes.clear();
  const double all = static_cast<double>(bytes),
               writers = static_cast<double>(files == 1 ? hosts : files);  // on different hosts
  Work work{.ranks = static_cast<double>(ranks), .hosts = writers, .storage_parts = 1};
  work.storage[0] = {
      .sharing = files == 1 ? Sharing::apart : Sharing::targets,
      .ranks = writers,
      .bytes = all,
      .rank_bytes = all / writers,
      .request_bytes = static_cast<double>(machine.storage.request_bytes),
      .targets = static_cast<double>(std::min(machine.storage.targets, files * machine.storage.stripe_count))};
  return predict(work, machine).total + (files == 1 ? 0 : static_cast<double>(files) / machine.metadata.creates_per_s);
}

}  // namespace

FileCount choose_file_count_by(const Machine& machine, const FileCountInput& input, int64_t bytes) {
  FileCount rule = choose_file_count(input);
  const int64_t ranks = input.ranks, hosts = input.hosts, targets = input.targets;
  Machine here = machine;
  if (targets > 0)
    here.storage.stripe_count = targets;
  here.storage.targets = std::max(here.storage.targets, here.storage.stripe_count);
  if (!input.can_split || here.storage.targets < 2)
    return rule;
  const int64_t written = bytes > 0 ? bytes : ranks * k_least_part_bytes;
  const int64_t most = std::min({ranks, hosts, std::max<int64_t>(1, written / k_least_part_bytes)});
  std::set<int64_t> numbers{1, most, std::min(most, here.storage.targets)};
  for (int64_t files = 2; files < most; files *= 2)
    numbers.insert(files);
  const double one = seconds_with(1, here, ranks, hosts, written);
  double best = one;
  int64_t chosen = 1;
  for (const int64_t files : numbers)
    if (const double seconds = seconds_with(files, here, ranks, hosts, written); seconds < best) {
      best = seconds;
      chosen = files;
    }
  const std::string of = fmt::format("{}{}", format_bytes(written), bytes > 0 ? "" : " (expected_bytes is not set)");
  if (most == 1)
    return {1,
            fmt::format("files one: {}; parts have at least 64 MiB, and there are at most as many files as hosts ({})",
                        of, hosts)};
  if (chosen == 1 || best > k_worth * one)
    return {1, fmt::format("files one: {} for {} are predicted by {}, and less than 10 % shorter with up to {}",
                           format_seconds(one), of, machine.name, counted(most, "file"))};
  return {
      chosen,
      fmt::format("files subfiles({}): {} for {} are predicted by {}, and {} with one file; parts have at least 64 MiB",
                  chosen, format_seconds(best), of, machine.name, format_seconds(one))};
}

}  // namespace windrow
