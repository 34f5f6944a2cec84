// SPDX-License-Identifier: BSD-3-Clause
// SubfileSet: growth of parts, and the records that a killed job has left in them.
#include <algorithm>

#include "base/checked.hpp"
#include "chunking/leftovers.hpp"
#include "subfiling/set_checksums.hpp"
#include "subfiling/subfile_set.hpp"

namespace windrow {

void SubfileSet::update_records() noexcept {
  for (auto& [number, split] : map_->variables()) {
    const auto variable = static_cast<size_t>(number);
    if (!split.grows || split.records == catalog_.variables[variable].shape.front())
      continue;
    split.records = catalog_.variables[variable].shape.front();
    complete_ = false;                // the subfiles do not have these records yet
    state_[variable].changed = true;  // new records may be filled without any put
  }
}

bool SubfileSet::has_room_for(int64_t records) const noexcept {
  int64_t bytes = 0;
  for (const Variable& variable : catalog_.variables) {
    if (!variable.is_interleaved())
      continue;
    int64_t row = element_bytes(variable.type, variable.details) + 4;
    for (size_t dimension = 1; dimension < variable.shape.size(); ++dimension)
      row *= variable.shape[dimension];  // cannot overflow: the definition was accepted with one record
    bytes += row;
  }
  const auto all = checked_multiply(bytes, records);
  return all && *all < map_->longest_file() / 2;
}

Status SubfileSet::extend_parts(int variable, const SplitVariable& split, int64_t records) {
  return for_own(split.split.parts(), [&](int64_t part, Format& format) -> Status {
    if (Status status = prepare_growth(format, variable, split, part); !status.ok())
      return status;
    map_->forget_leftover(variable, part);
    std::vector<int64_t> shape = split.split.box(part).count;
    shape[0] = records;
    return format.extend(split.path, shape);
  });
}

// Local. Called before an own chunked part grows for the first time.
Status SubfileSet::prepare_growth(Format& format, int variable, const SplitVariable& split, int64_t part) {
  if (!split.is_chunked() || grown_.contains({variable, part}) || mode_ != FormatMode::update)
    return {};
  // An unfiltered last chunk is changed in place, so its checksum is removed before. A filtered chunk gets a new place:
  // the new index and the removal of the checksum become visible together.
  Status status;
  if (split.filters.empty())
    status =
        SetChecksums(*this).withdraw(part, format, [&](const SplitVariable& each) { return each.path == split.path; });
  else if (map_->is_summed(part))
    status = map_->drop_sum(format, split.path);
  if (!status.ok())
    return status;
  const int64_t found = map_->leftover(variable, part);
  SplitVariable as_found = split;
  as_found.records = std::max(found, split.records);
  const auto layout = layout_in_subfile(variable, as_found, part);
  if (!layout.ok())
    return layout.status();
  status = found > split.records ? blank_records(*data_, format, layout.value(), split.records)
                                 : blank_tail(*data_, format, layout.value(), split.records);
  if (status.ok())
    grown_.insert({variable, part});
  return status;
}

// The layout of the chunks of one part, as if it were the whole variable.
Result<ChunkLayout> SubfileSet::layout_in_subfile(int variable, const SplitVariable& split, int64_t part) const {
  auto chunking = split.chunking(part);
  if (!chunking.ok())
    return chunking.status();
  auto grid = ChunkGrid::make(split.shape(part), chunking.value().shape);
  if (!grid.ok())
    return grid.status();
  ChunkLayout layout;
  layout.path = split.path;
  layout.fill_value = catalog_.variables[static_cast<size_t>(variable)].fill;
  layout.element_bytes = split.element_bytes;
  const FileLine& line = map_->line();
  layout.parts.push_back({part, std::move(grid).value(), std::move(chunking).value(), 0, comm_.rank(),
                          line.place(part + 1, 0), line.room});
  return layout;
}

Status SubfileSet::cut(int64_t records) {
  return for_own(map_->used(), [&](int64_t number, Format& format) {
    const auto is_longer = [&](const SplitVariable& split) { return split.grows && map_->has_more_records(number); };
    Status status = SetChecksums(*this).withdraw(number, format, is_longer);
    return status.ok() ? format.cut(records) : status;
  });
}

}  // namespace windrow
