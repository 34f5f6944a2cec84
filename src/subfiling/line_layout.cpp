// SPDX-License-Identifier: BSD-3-Clause
// SubfileSet: the storage layouts of the subfiles, for domains by target.
#include <algorithm>
#include <iterator>

#include "comm/agree.hpp"
#include "comm/sparse.hpp"
#include "layout/line.hpp"
#include "subfiling/subfile_set.hpp"

namespace windrow {

Status SubfileSet::find_layouts(Status local, const StripingOptions& options, const StorageLayout& base) {
  const int64_t used = map_->used(), known = std::min<int64_t>(used, static_cast<int64_t>(layouts_.size()));
  if (used >= static_cast<int64_t>(k_most_files_of_line)) {
    line_layout_ = nullptr;
    return local;
  }
  if (known < used) {
    std::vector<std::byte> mine, all;
    if (local.ok())
      local = guard([&] {
        SubfileLayouts own;
        for (int64_t number = known; number < used; ++number)
          if (is_own(number))
            own.subfiles.push_back(find_striping(options, map_->names().path(number)).layout);
        mine = own.encode();
        return Status{};
      });
    local = gather_to_all(comm_, std::move(local), std::move(mine), all);
    if (local.ok())
      local = guard([&] { return learn_layouts(all, known, used); });
  }
  if (local.ok())
    local = guard([&] {
      std::vector<StorageLayout> files{base};
      files.insert(files.end(), layouts_.begin(), layouts_.begin() + static_cast<std::ptrdiff_t>(used));
      auto line = layout_of_line(files, FileLine::k_begin, map_->line().room);
      line_layout_ = line ? std::make_shared<const StorageLayout>(std::move(*line)) : nullptr;
      data_->tally_line_by(line_layout_);
      return Status{};
    });
  // Whether the layouts are known must be the same on all ranks, since the next step depends on it.
  Status verdict = agree(comm_, std::move(local));
  if (!verdict.ok()) {
    layouts_.clear();
    line_layout_.reset();
    data_->tally_line_by(line_layout_);
  }
  return verdict;
}

// Local. Takes the layouts of the subfiles from number `known` to `used` out of a message.
Status SubfileSet::learn_layouts(std::span<const std::byte> message, int64_t known, int64_t used) {
  auto decoded = SubfileLayouts::decode(message, static_cast<size_t>(used - known));
  if (!decoded.ok())
    return decoded.status();
  std::vector<StorageLayout> found(layouts_.begin(), layouts_.begin() + static_cast<std::ptrdiff_t>(known));
  std::ranges::move(decoded.value().subfiles, std::back_inserter(found));
  layouts_ = std::move(found);
  return {};
}

}  // namespace windrow
