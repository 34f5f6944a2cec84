// SPDX-License-Identifier: BSD-3-Clause
#include "allocation/space_allocator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "chunking/leftovers.hpp"
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
  if (!variable.is_chunked())
    return {};
  return ChunkGrid::make(shape, variable.chunking.shape).status();
}

void SpaceAllocator::start(bool creates, bool updates) noexcept {
  unplaced_ = metadata_.traits().places_late && creates;  // even an empty file needs a header
  updates_ = updates;
  first_records_ = metadata_.records();
}

void SpaceAllocator::reserve(size_t variables) {
  wanted_.resize(variables);
  numbers_.resize(variables);
}

Status SpaceAllocator::cut_leftovers(const Formats& formats) const {
  if (!metadata_.traits().grows_as_one || !updates_ || is_cut_)
    return {};
  if (formats.base != nullptr)
    if (Status status = formats.base->cut(first_records_); !status.ok())
      return status;
  return formats.set.map() ? formats.set.cut(first_records_) : Status{};
}

std::span<int64_t> SpaceAllocator::start_wanted() noexcept {
  std::fill(wanted_.begin(), wanted_.end(), 0);
  return wanted();
}

std::span<int64_t> SpaceAllocator::start_sums() noexcept {
  std::fill(numbers_.begin(), numbers_.end(), 0);
  return std::span(numbers_).first(variables());
}

Status SpaceAllocator::agree_on_wanted(Status local, std::span<int64_t> sums) {
  return agree(comm_, std::move(local), Reduction{.maximum = wanted(), .sum = sums, .bits = {}});
}

bool SpaceAllocator::lacks_place(size_t variable) const noexcept {
  return metadata_.catalog().variables[variable].lacks_place() && wanted_[variable] > 0;
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

// Calls work(variable, records) for each variable that grows, until a call fails.
Status SpaceAllocator::for_each_growing(FunctionRef<Status(int, int64_t)> work) const {
  for (size_t i = 0; i < variables(); ++i)
    if (grows(i))
      if (Status status = work(static_cast<int>(i), wanted_[i]); !status.ok())
        return status;
  return {};
}

// Rank 0. Called before a chunked variable grows for the first time: see blank_tail(). SubfileSet does it for the parts
// of a split variable.
Status SpaceAllocator::blank_leftovers_on_root(const Formats& formats, int variable) {
  const Variable& grown = metadata_.variable(variable);
  if (!updates_ || !grown.is_chunked() || find_split(formats.set.map().get(), variable) != nullptr ||
      grown_.contains(variable))
    return {};
  const auto layout = layout_of(grown);
  if (!layout.ok())
    return layout.status();
  if (Status status = blank_tail(formats.file, *formats.base, *layout.value(), grown.shape.front()); !status.ok())
    return status;
  grown_.insert(variable);
  return {};
}

// Rank 0.
Status SpaceAllocator::extend_on_root(const Formats& formats, int variable, int64_t records) {
  std::vector<int64_t> shape = metadata_.variable(variable).shape;
  shape.front() = records;
  if (Status status = blank_leftovers_on_root(formats, variable); !status.ok())
    return status;
  return formats.base->extend(metadata_.variable(variable).path, shape);
}

// Local. Extends the variables in the files whose metadata this rank writes.
Status SpaceAllocator::extend_formats(const Formats& formats) {
  if (Status status = cut_leftovers(formats); !status.ok())
    return status;
  if (formats.base != nullptr) {
    const auto extend = [&](int variable, int64_t records) { return extend_on_root(formats, variable, records); };
    if (Status status = for_each_growing(extend); !status.ok())
      return status;
  }
  if (!formats.set.map() || metadata_.traits().places_late)
    return {};
  return for_each_growing([&](int variable, int64_t records) {
    const SplitVariable* split = formats.set.map()->find(variable);
    return split != nullptr ? formats.set.extend_parts(variable, *split, records) : Status{};
  });
}

Status SpaceAllocator::extend(const Formats& formats, FunctionRef<void(int)> entered) {
  if (Status verdict = agree(comm_, guard([&] { return extend_formats(formats); })); !verdict.ok())
    return verdict;
  is_cut_ = true;
  for (size_t i = 0; i < variables(); ++i) {
    if (!grows(i))
      continue;
    metadata_.lengthen(static_cast<int>(i), wanted_[i]);
    entered(static_cast<int>(i));
  }
  size_check_.restart();
  grow_as_one(0);
  return {};
}

bool SpaceAllocator::predict(int64_t end, const FormatOptions& options) noexcept {
  bool any = false;
  end = std::max(end, end_of(metadata_.catalog().variables));
  for (size_t i = 0; i < variables(); ++i) {
    const int64_t bytes = metadata_.catalog().variables[i].placement.bytes;
    if (lacks_place(i)) {
      if (bytes >= options.alignment_threshold)
        end = ceil_divide(end, options.alignment) * options.alignment;
      metadata_.give_place(static_cast<int>(i), end);
      end += bytes;
      any = true;
    } else if (grows(i)) {
      metadata_.lengthen(static_cast<int>(i), wanted_[i]);
      any = true;
    }
  }
  (void)metadata_.grow_as_one(0);
  return any;
}

}  // namespace windrow
