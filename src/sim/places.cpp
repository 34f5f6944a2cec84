// SPDX-License-Identifier: BSD-3-Clause
#include "sim/places.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "layout/line.hpp"

namespace windrow {

int64_t PlacedBytes::bytes_in(Extent window) const {
  auto share = std::partition_point(shares_.begin(), shares_.end(),
                                    [&](const Share& each) { return each.hull.end <= window.begin; });
  int64_t bytes = 0;
  for (; share != shares_.end() && share->hull.begin < window.end; ++share) {
    const bool whole = share->hull.begin >= window.begin && share->hull.end <= window.end;
    bytes += whole ? share->total
                   : bytes_within(share->bytes,
                                  {std::max<int64_t>(0, window.begin - share->base), window.end - share->base});
  }
  return bytes;
}

int64_t PlacedBytes::next_offset(int64_t offset) const {
  const auto share =
      std::partition_point(shares_.begin(), shares_.end(), [&](const Share& each) { return each.hull.end <= offset; });
  if (share == shares_.end())
    return INT64_MAX;
  return offset <= share->hull.begin ? share->hull.begin
                                     : windrow::next_offset(share->bytes, offset - share->base) + share->base;
}

int64_t PlacedBytes::total() const noexcept {
  int64_t bytes = 0;
  for (const Share& share : shares_)
    bytes += share.total;
  return bytes;
}

Pieces PlacedBytes::pieces() const {
  PiecesBuilder builder;
  int64_t memory = 0;
  for (const Share& share : shares_)
    for (NestCursor cursor(share.bytes); !cursor.done(); cursor.next()) {
      Nest nest = packed(cursor.nest(), memory);
      nest.run.file += share.base;
      memory += nest.bytes();
      if (nest.depth == 0 && nest.run.count == 1)
        builder.add(Piece{nest.run.file, nest.run.memory, nest.run.length});
      else
        builder.add(nest);
    }
  return builder.take();
}

Result<Places> Places::make(const Workload& workload, int64_t files, const SplitRequest& split, FileStripes stripes,
                            bool by_target) {
  Places places;
  places.variables_ = workload.variables;
  places.variable_bytes_ = workload.variable_bytes();
  places.element_bytes_ = workload.element_bytes;
  places.stripes_ = stripes;
  if (files <= 1)
    return places;
  SplitRequest request = split;
  request.count = files;
  auto made = make_split(request, workload.shape);
  if (!made.ok())
    return made.status();
  if (made.value().parts() == 1)
    return places;
  int64_t most = 0;
  for (int64_t part = 0; part < made.value().parts(); ++part)
    most = std::max(most, made.value().elements(part));
  // Files begin at whole units, with a gap after each.
  const int64_t unit = by_target ? k_unit_of_targets : k_unit;
  places.room_ = round_up(most * workload.element_bytes * workload.variables, unit) + unit;
  if (places.room_ > k_begin / (made.value().parts() + 1))
    return Status{Code::bad_argument, "pattern: the subfiles exceed the range of offsets"};
  places.split_ = std::move(made).value();
  return places;
}

PlacedBytes Places::place(const HeldElements& holding) const {
  PlacedBytes held;
  if (holding.elements.empty())
    return held;
  const auto add = [&](int64_t base, const Pieces& elements) {
    const PieceView bytes(elements, element_bytes_);
    const Extent of = windrow::hull(bytes);
    held.shares_.push_back(
        {.base = base, .bytes = bytes, .hull = {of.begin + base, of.end + base}, .total = total_bytes(bytes)});
  };
  if (!split_) {
    held.lists_.push_back(holding.elements);
    for (int64_t variable = 0; variable < variables_; ++variable)
      add(variable * variable_bytes_, held.lists_.back());
    return held;
  }
  for (auto& [part, elements] : split_->place(holding.elements)) {
    held.lists_.push_back(std::move(elements));
    for (int64_t variable = 0; variable < variables_; ++variable)
      add(begin_of(part) + variable * split_->elements(part) * element_bytes_, held.lists_.back());
  }
  return held;
}

std::vector<Extent> Places::regions() const {
  if (!split_)
    return {{0, variable_bytes_ * variables_}};
  std::vector<Extent> regions;
  for (int64_t part = 0; part < files(); ++part)
    regions.push_back({begin_of(part), begin_of(part) + split_->elements(part) * element_bytes_ * variables_});
  return regions;
}

StorageLayout Places::layout_of(int64_t file) const {
  LayoutComponent component{.stripe_bytes = stripes_.bytes, .stripe_count = stripes_.count, .targets = {}};
  for (int64_t column = 0; column < stripes_.count; ++column)
    component.targets.push_back(target_of(file, column));
  return {.kind = LayoutKind::mock, .components = {std::move(component)}};
}

std::optional<StorageLayout> Places::layout() const {
  if (!split_)
    return layout_of(0);
  std::vector<StorageLayout> all{layout_of(0)};  // of the base file, which is empty here
  for (int64_t file = 0; file < files(); ++file)
    all.push_back(layout_of(file));
  return layout_of_line(all, k_begin, room_);
}

}  // namespace windrow
