// SPDX-License-Identifier: BSD-3-Clause
// Variables that grow: before a flush moves anything, they are made as long as what is queued asks for.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "comm/agree.hpp"
#include "session/file.hpp"

namespace windrow {

Status File::check_growth(const Variable& variable, int64_t records) const {
  std::vector<int64_t> shape = variable.shape;
  shape.front() = records;
  const auto elements = checked_product(shape);
  const auto bytes =
      elements ? checked_multiply(*elements, element_bytes(variable.type, variable.details)) : std::nullopt;
  if (!bytes)
    return {Code::bad_argument, fmt::format("\"{}\" with {} exceeds the maximum size of a file", variable.path,
                                            counted(records, "record"))};
  if (subfiles_ && !set_.has_room_for(records))
    return {Code::bad_argument, fmt::format("\"{}\" with {} exceeds the maximum size of a set of subfiles",
                                            variable.path, counted(records, "record"))};
  if (variable.chunking.empty())
    return {};
  return ChunkGrid::make(shape, variable.chunking.shape).status();
}

// Variables that nobody has ever written get a place when the first puts to them are about to move. One agreement, when
// there are some.
Status File::give_places() {
  const auto lacks = [this](size_t i) {
    return catalog_.variables[i].held && catalog_.variables[i].content.empty() && wanted_rows_[i] > 0;
  };
  const size_t count = catalog_.variables.size();
  bool any = false;
  for (size_t i = 0; i < count; ++i)
    any = any || lacks(i);
  if (!any)
    return {};
  std::fill(places_.begin(), places_.end(), -1);
  Status local = guard([&]() -> Status {
    for (size_t i = 0; comm_->rank() == 0 && i < count; ++i) {
      if (!lacks(i))
        continue;
      auto offset = format_->give_place(catalog_.variables[i].path);
      if (!offset.ok())
        return offset.status();
      places_[i] = offset.value();
    }
    return {};
  });
  if (Status verdict =
          agree(*comm_, std::move(local), Reduction{.maximum = std::span(places_).first(count), .sum = {}, .bits = {}});
      !verdict.ok())
    return verdict;
  for (size_t i = 0; i < count; ++i) {
    if (!lacks(i))
      continue;
    metadata_.give_place(static_cast<int>(i), places_[i]);
    wanted_rows_[i] = 0;
  }
  return {};
}

// One agreement, of all variables that there are (memory may be there for more, of definitions that were refused), and
// one more when something grows. Plans of what has grown are forgotten, by all ranks alike: they know the old length.
Status File::extend_for_queue(Status local) {
  std::fill(wanted_rows_.begin(), wanted_rows_.end(), 0);
  if (local.ok())
    local = guard([&]() -> Status {
      for (const QueuedRequest& entry : queue_) {
        const Variable& variable = catalog_.variables[static_cast<size_t>(entry.variable)];
        if (!entry.put || (entry.record < 0 && !variable.held))
          continue;
        int64_t& wanted = wanted_rows_[static_cast<size_t>(entry.variable)];
        wanted = std::max(wanted,
                          variable.held ? entry.ordinal + 1 : entry.record + 1);  // of one that is held: how many puts
        if (!variable.extendible || wanted <= variable.shape.front())
          continue;
        if (Status status = check_growth(variable, wanted); !status.ok())
          return status;
      }
      return {};
    });
  if (Status verdict =
          agree(*comm_, std::move(local),
                Reduction{.maximum = std::span(wanted_rows_).first(catalog_.variables.size()), .sum = {}, .bits = {}});
      !verdict.ok())
    return verdict;
  if (Status verdict = write_held(); !verdict.ok())
    return verdict;
  if (Status verdict = give_places(); !verdict.ok())
    return verdict;
  const auto grows = [this](size_t i) {
    return catalog_.variables[i].extendible && wanted_rows_[i] > catalog_.variables[i].shape.front();
  };
  bool any = false;
  for (size_t i = 0; i < catalog_.variables.size(); ++i)
    any = any || grows(i);
  if (!any)
    return {};
  local = guard([&] { return cut_leftovers(); });
  if (comm_->rank() == 0 && local.ok())
    local = guard([&]() -> Status {
      for (size_t i = 0; i < catalog_.variables.size(); ++i) {
        if (!grows(i))
          continue;
        std::vector<int64_t> shape = catalog_.variables[i].shape;
        shape.front() = wanted_rows_[i];
        if (Status status = blank_tail_of(static_cast<int>(i)); !status.ok())
          return status;
        if (Status status = format_->extend(catalog_.variables[i].path, shape); !status.ok())
          return status;
      }
      return {};
    });
  if (local.ok() && subfiles_ && !traits().places_late)
    local = guard([&]() -> Status {
      for (size_t i = 0; i < catalog_.variables.size(); ++i) {
        const SplitVariable* split = grows(i) ? subfiles_->find(static_cast<int>(i)) : nullptr;
        if (split == nullptr)
          continue;
        if (Status status = set_.extend_parts(static_cast<int>(i), *split, wanted_rows_[i]); !status.ok())
          return status;
      }
      return {};
    });
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  is_cut_ = true;
  for (size_t i = 0; i < catalog_.variables.size(); ++i) {
    if (!grows(i))
      continue;
    metadata_.lengthen(static_cast<int>(i), wanted_rows_[i]);
    layouts_.erase(static_cast<int>(i));
    planner_.cache().forget_if([&path = catalog_.variables[i].path](const PreparedPlan& prepared) {
      const ChunkPlan* chunks = chunk_plan_of(prepared);
      return chunks != nullptr && chunks->layout->path == path;
    });
  }
  counted_variables_ = 0;
  grow_as_one(0);
  update_set();
  return {};
}

}  // namespace windrow
