// SPDX-License-Identifier: BSD-3-Clause
#include "subfiling/set_layouts.hpp"

#include <algorithm>
#include <iterator>

#include "comm/agree.hpp"
#include "comm/sparse.hpp"
#include "layout/line.hpp"
#include "subfiling/subfile_set.hpp"

namespace windrow {

Status SetLayouts::find(Status local, const StripingOptions& options, const StorageLayout& base, DataFile& data) {
  const Subfiles& map = *set_.map();
  const int64_t used = map.used(), known = std::min<int64_t>(used, static_cast<int64_t>(subfiles_.size()));
  if (used >= static_cast<int64_t>(k_most_files_of_line)) {
    line_ = nullptr;
    return local;
  }
  if (known < used) {
    std::vector<std::byte> mine, all;
    if (local.ok())
      local = guard([&] { return find_own(options, known, mine); });
    local = gather_to_all(set_.comm(), std::move(local), std::move(mine), all);
    if (local.ok())
      local = guard([&] { return take(all, known, used); });
  }
  if (local.ok())
    local = guard([&] {
      std::vector<StorageLayout> files{base};
      files.insert(files.end(), subfiles_.begin(), subfiles_.begin() + static_cast<std::ptrdiff_t>(used));
      auto line = layout_of_line(files, FileLine::k_begin, map.line().room);
      line_ = line ? std::make_shared<const StorageLayout>(std::move(*line)) : nullptr;
      data.tally_line_by(line_);
      return Status{};
    });
  // Whether the layouts are known must be the same on all ranks, since the next step depends on it.
  Status verdict = agree(set_.comm(), std::move(local));
  if (!verdict.ok()) {
    subfiles_.clear();
    line_.reset();
    data.tally_line_by(line_);
  }
  return verdict;
}

// Local. Queries the layouts of the own subfiles from number `known` on.
Status SetLayouts::find_own(const StripingOptions& options, int64_t known, std::vector<std::byte>& message) {
  SubfileLayouts own;
  for (int64_t number = known; number < set_.map()->used(); ++number)
    if (set_.is_own(number))
      own.subfiles.push_back(find_striping(options, set_.map()->names().path(number)).layout);
  message = own.encode();
  return {};
}

// Local. Takes the layouts of the subfiles from number `known` to `used` out of a message.
Status SetLayouts::take(std::span<const std::byte> message, int64_t known, int64_t used) {
  auto decoded = SubfileLayouts::decode(message, static_cast<size_t>(used - known));
  if (!decoded.ok())
    return decoded.status();
  std::vector<StorageLayout> found(subfiles_.begin(), subfiles_.begin() + static_cast<std::ptrdiff_t>(known));
  std::ranges::move(decoded.value().subfiles, std::back_inserter(found));
  subfiles_ = std::move(found);
  return {};
}

}  // namespace windrow
