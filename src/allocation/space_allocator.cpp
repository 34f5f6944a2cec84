// SPDX-License-Identifier: BSD-3-Clause
#include "allocation/space_allocator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "comm/agree.hpp"
#include "extent/chunks.hpp"

namespace windrow {

Status check_growth(const Variable& variable, int64_t records, bool has_room) {
  std::vector<int64_t> shape = variable.shape;
  shape.front() = records;
  const auto elements = checked_product(shape);
  const auto bytes =
      elements ? checked_multiply(*elements, element_bytes(variable.type, variable.details)) : std::nullopt;
  if (!bytes)
    return {Code::bad_argument, fmt::format("\"{}\" with {} exceeds the maximum size of a file", variable.path,
                                            counted(records, "record"))};
  if (!has_room)
    return {Code::bad_argument, fmt::format("\"{}\" with {} exceeds the maximum size of a set of subfiles",
                                            variable.path, counted(records, "record"))};
  if (variable.chunking.empty())
    return {};
  return ChunkGrid::make(shape, variable.chunking.shape).status();
}

void SpaceAllocator::start(bool creates, bool updates) noexcept {
  unplaced_ = metadata_.traits().places_late && creates;  // an empty file has a header too
  updates_ = updates;
  first_records_ = metadata_.records();
}

void SpaceAllocator::reserve(size_t variables) {
  wanted_.resize(variables);
  numbers_.resize(variables);
}

bool SpaceAllocator::may_have_leftovers() const noexcept {
  return metadata_.traits().grows_as_one && updates_ && !is_cut_;
}

std::span<int64_t> SpaceAllocator::start_wanted() noexcept {
  std::fill(wanted_.begin(), wanted_.end(), 0);
  return wanted();
}

std::span<int64_t> SpaceAllocator::start_sums() noexcept {
  std::fill(numbers_.begin(), numbers_.end(), 0);
  return std::span(numbers_).first(variables());
}

Status SpaceAllocator::agree_on_wanted(Status local) {
  return agree(comm_, std::move(local), Reduction{.maximum = wanted(), .sum = {}, .bits = {}});
}

bool SpaceAllocator::lacks_place(size_t variable) const noexcept {
  const Variable& each = metadata_.catalog().variables[variable];
  return each.held && each.content.empty() && wanted_[variable] > 0;
}

bool SpaceAllocator::grows(size_t variable) const noexcept {
  const Variable& each = metadata_.catalog().variables[variable];
  return each.extendible && wanted_[variable] > each.shape.front();
}

Status SpaceAllocator::give_places(Format* format) {
  bool any = false;
  for (size_t i = 0; i < variables(); ++i)
    any = any || lacks_place(i);
  if (!any)
    return {};
  std::fill(numbers_.begin(), numbers_.end(), -1);
  Status local = guard([&]() -> Status {
    for (size_t i = 0; format != nullptr && i < variables(); ++i) {
      if (!lacks_place(i))
        continue;
      auto offset = format->give_place(metadata_.catalog().variables[i].path);
      if (!offset.ok())
        return offset.status();
      numbers_[i] = offset.value();
    }
    return {};
  });
  const std::span<int64_t> places = std::span(numbers_).first(variables());
  if (Status verdict = agree(comm_, std::move(local), Reduction{.maximum = places, .sum = {}, .bits = {}});
      !verdict.ok())
    return verdict;
  for (size_t i = 0; i < variables(); ++i) {
    if (!lacks_place(i))
      continue;
    metadata_.give_place(static_cast<int>(i), places[i]);
    wanted_[i] = 0;
  }
  return {};
}

bool SpaceAllocator::any_grows() const noexcept {
  bool any = false;
  for (size_t i = 0; i < variables(); ++i)
    any = any || grows(i);
  return any;
}

Status SpaceAllocator::for_each_growing(FunctionRef<Status(int, int64_t)> work) const {
  for (size_t i = 0; i < variables(); ++i)
    if (grows(i))
      if (Status status = work(static_cast<int>(i), wanted_[i]); !status.ok())
        return status;
  return {};
}

Status SpaceAllocator::lengthen(Status local, FunctionRef<void(int)> entered) {
  if (Status verdict = agree(comm_, std::move(local)); !verdict.ok())
    return verdict;
  is_cut_ = true;
  for (size_t i = 0; i < variables(); ++i) {
    if (!grows(i))
      continue;
    metadata_.lengthen(static_cast<int>(i), wanted_[i]);
    entered(static_cast<int>(i));
  }
  return {};
}

}  // namespace windrow
