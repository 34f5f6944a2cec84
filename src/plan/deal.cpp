// SPDX-License-Identifier: BSD-3-Clause
#include "plan/deal.hpp"

#include <algorithm>
#include <map>

#include "base/checked.hpp"

namespace windrow {
namespace {

constexpr int64_t k_longest_period = int64_t{1} << 61;  // so that the end of one is a number, wherever bytes of a file can lie

bool fits(int64_t stripe_bytes, int64_t stripes) noexcept {
  const auto bytes = checked_multiply(stripe_bytes, stripes);
  return bytes && *bytes <= k_longest_period;
}

// Behind the last component its stripes go on.
Extent bytes_of(const StorageLayout& layout, const LayoutComponent& component) noexcept {
  return &component == &layout.components.back() ? Extent{component.bytes.begin, k_no_end} : component.bytes;
}

// What holds the stripes of a column: a target, or where nobody knows it a number of the column's own, which no target has.
int64_t holder_of(const LayoutComponent& component, int64_t column) noexcept {
  if (component.on_metadata_server) return INT64_MIN;
  const int64_t target = component.targets.empty() ? k_no_target : component.targets[static_cast<size_t>(column)];
  return target != k_no_target ? target : k_no_target - 1 - column;
}

// Bytes of an extent by column. What is many periods long is not looked at stripe by stripe.
void add_bytes(const LayoutComponent& component, Extent bytes, std::vector<int64_t>& columns) {
  const int64_t period = component.stripe_bytes * component.stripe_count;
  const int64_t periods = std::max<int64_t>(0, bytes.size() / period - 1);
  for (int64_t& each : columns) each += periods * component.stripe_bytes;
  bytes.begin += periods * period;
  while (!bytes.empty()) {
    const int64_t stripe = bytes.begin / component.stripe_bytes;
    const int64_t end = std::min(bytes.end, (stripe + 1) * component.stripe_bytes);
    columns[static_cast<size_t>(stripe % component.stripe_count)] += end - bytes.begin;
    bytes.begin = end;
  }
}

struct Holder {
  int64_t number = 0;
  int64_t bytes = 0;
  int group = 0;
};

// Those that hold bytes of the regions, in order of their first columns. None: of some bytes nobody knows.
std::vector<Holder> holders_of(const std::vector<Extent>& regions, const StorageLayout& layout) {
  std::vector<Holder> holders;
  std::map<int64_t, size_t> places;
  for (const LayoutComponent& component : layout.components) {
    std::vector<int64_t> columns(static_cast<size_t>(component.stripe_count));
    const Extent whole = bytes_of(layout, component);
    for (const Extent& region : regions) {
      const Extent part = intersect(region, whole);
      if (part.empty()) continue;
      if (component.stripe_count == 0 || !fits(component.stripe_bytes, component.stripe_count)) return {};
      add_bytes(component, part, columns);
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] == 0) continue;
      const int64_t number = holder_of(component, static_cast<int64_t>(i));
      const auto [place, fresh] = places.try_emplace(number, holders.size());
      if (fresh) holders.push_back({.number = number});
      holders[place->second].bytes += columns[i];
    }
  }
  return holders;
}

// Neighbours to the same group, each group at least one, the bytes as even as that allows.
void group(std::vector<Holder>& holders, int groups) {
  int64_t all = 0, before = 0;
  for (const Holder& holder : holders) all += holder.bytes;
  int number = 0;
  for (size_t i = 0; i < holders.size(); ++i) {
    holders[i].group = number;
    before += holders[i].bytes;
    const auto left = static_cast<int64_t>(holders.size() - i - 1), groups_left = static_cast<int64_t>(groups - number - 1);
    const int64_t share = all / groups * (number + 1) + all % groups * (number + 1) / groups;
    if (groups_left > 0 && (before >= share || left == groups_left)) ++number;
  }
}

}  // namespace

std::optional<Dealing> deal_by_target(const std::vector<Extent>& regions, int64_t most, const StorageLayout& layout) {
  std::vector<Holder> holders = holders_of(regions, layout);
  const int64_t groups = std::min(most, static_cast<int64_t>(holders.size()));
  if (groups < 2) return std::nullopt;
  group(holders, static_cast<int>(groups));
  std::map<int64_t, int> group_of;
  for (const Holder& holder : holders) group_of[holder.number] = holder.group;
  Dealing dealing{.parts = {}, .groups = static_cast<int>(groups)};
  for (const LayoutComponent& component : layout.components) {
    // Without bytes of the regions it may be of any kind; who has it does not matter.
    const bool known = component.stripe_count > 0 && fits(component.stripe_bytes, component.stripe_count);
    DealtPart part{.bytes = bytes_of(layout, component), .stripe_bytes = known ? component.stripe_bytes : 1, .groups = {}};
    for (int64_t column = 0; column < (known ? component.stripe_count : 1); ++column) {
      const auto found = group_of.find(holder_of(component, column));
      part.groups.push_back(known && found != group_of.end() ? found->second : 0);
    }
    dealing.parts.push_back(std::move(part));
  }
  return dealing;
}

std::optional<Dealing> deal_in_turn(int64_t groups, const StorageLayout& layout) {
  if (groups < 2) return std::nullopt;
  Dealing dealing{.parts = {}, .groups = static_cast<int>(groups)};
  for (const LayoutComponent& component : layout.components) {
    if (!fits(component.stripe_bytes, groups)) return std::nullopt;
    DealtPart part{.bytes = bytes_of(layout, component), .stripe_bytes = component.stripe_bytes, .groups = {}};
    for (int each = 0; each < dealing.groups; ++each) part.groups.push_back(each);
    dealing.parts.push_back(std::move(part));
  }
  return dealing;
}

int64_t longest_row(const Dealing& dealing) noexcept {
  int64_t longest = 0;
  for (const DealtPart& part : dealing.parts) {
    int64_t row = 0;
    for (size_t i = 0; i < part.groups.size(); ++i) {
      row = i > 0 && part.groups[i] == part.groups[i - 1] ? row + part.stripe_bytes : part.stripe_bytes;
      longest = std::max(longest, row);
    }
  }
  return longest;
}

Deal::Deal(const Dealing& dealing, int64_t cell_bytes, int64_t cells_of_window)
    : groups_(dealing.groups), cell_bytes_(cell_bytes), cells_of_window_(cells_of_window) {
  for (const DealtPart& dealt : dealing.parts) {
    const auto stripes = static_cast<int64_t>(dealt.groups.size());
    std::vector<std::vector<Row>> rows(static_cast<size_t>(groups_));
    for (int64_t stripe = 0; stripe < stripes; ++stripe) {
      std::vector<Row>& own = rows[static_cast<size_t>(dealt.groups[static_cast<size_t>(stripe)])];
      const int64_t begin = stripe * dealt.stripe_bytes, end = begin + dealt.stripe_bytes;
      if (!own.empty() && own.back().end == begin)
        own.back().end = end;
      else
        own.push_back({.begin = begin, .end = end});
    }
    Part part{.bytes = dealt.bytes, .period_bytes = stripes * dealt.stripe_bytes, .rows = {}, .first_row = {0}, .cells = {}, .bytes_of_group = {}};
    for (std::vector<Row>& own : rows) {
      int64_t cells = 0, bytes = 0;
      for (Row& row : own) {
        row.first_cell = cells;
        row.bytes_before = bytes;
        cells += ceil_divide(row.end - row.begin, cell_bytes);
        bytes += row.end - row.begin;
        part.rows.push_back(row);
      }
      part.first_row.push_back(part.rows.size());
      part.cells.push_back(cells);
      part.bytes_of_group.push_back(bytes);
    }
    parts_.push_back(std::move(part));
  }
}

std::span<const Deal::Row> Deal::rows_of(const Part& part, int group) const noexcept {
  const auto own = static_cast<size_t>(group);
  return std::span(part.rows).subspan(part.first_row[own], part.first_row[own + 1] - part.first_row[own]);
}

Deal::Reach Deal::reach_of(const Part& part, Extent stretch, int group) const noexcept {
  Reach reach{.bytes = intersect(part.bytes, stretch)};
  if (reach.bytes.empty()) return reach;
  reach.first_period = reach.bytes.begin / part.period_bytes;
  const int64_t periods = (reach.bytes.end - 1) / part.period_bytes - reach.first_period + 1;
  reach.cells = periods * part.cells[static_cast<size_t>(group)];
  return reach;
}

int64_t Deal::cells(Extent stretch, int group) const noexcept {
  int64_t cells = 0;
  for (const Part& part : parts_) cells += reach_of(part, stretch, group).cells;
  return cells;
}

Extent Deal::cell(Extent stretch, int group, int64_t index) const noexcept {
  for (const Part& part : parts_) {
    const Reach reach = reach_of(part, stretch, group);
    if (index >= reach.cells) {
      index -= reach.cells;
      continue;
    }
    const int64_t of_period = part.cells[static_cast<size_t>(group)], place = index % of_period;
    const int64_t period = (reach.first_period + index / of_period) * part.period_bytes;
    const std::span<const Row> rows = rows_of(part, group);
    const Row& row = *std::prev(std::partition_point(rows.begin(), rows.end(), [&](const Row& each) { return each.first_cell <= place; }));
    const int64_t begin = period + row.begin + (place - row.first_cell) * cell_bytes_;
    const int64_t end = std::min(begin + cell_bytes_, period + row.end);
    const auto inside = [&](int64_t offset) { return std::clamp(offset, reach.bytes.begin, reach.bytes.end); };
    return {inside(begin), inside(end)};
  }
  return {stretch.end, stretch.end};
}

int64_t Deal::index_of(Extent stretch, int group, int64_t offset) const noexcept {
  int64_t before = 0;
  for (const Part& part : parts_) {
    const Reach reach = reach_of(part, stretch, group);
    if (offset >= reach.bytes.end || reach.cells == 0) {
      before += reach.cells;
      continue;
    }
    const int64_t of_period = part.cells[static_cast<size_t>(group)];
    const int64_t at = std::max(offset, reach.bytes.begin), period = at / part.period_bytes, place = at % part.period_bytes;
    const std::span<const Row> rows = rows_of(part, group);
    const auto row = std::partition_point(rows.begin(), rows.end(), [&](const Row& each) { return each.end <= place; });
    const bool later = row == rows.end();  // in the period behind
    const Row& found = later ? rows.front() : *row;
    const int64_t of_found = period + (later ? 1 : 0);
    if (of_found * part.period_bytes + found.begin >= reach.bytes.end) {
      before += reach.cells;
      continue;
    }
    return before + (of_found - reach.first_period) * of_period + found.first_cell + (later ? 0 : std::max<int64_t>(0, place - found.begin) / cell_bytes_);
  }
  return before;
}

// Of those from the part's own zero on.
int64_t Deal::bytes_before(const Part& part, int group, int64_t offset) const noexcept {
  const int64_t period = offset / part.period_bytes, place = offset % part.period_bytes;
  const std::span<const Row> rows = rows_of(part, group);
  const auto row = std::partition_point(rows.begin(), rows.end(), [&](const Row& each) { return each.end <= place; });
  const int64_t whole = period * part.bytes_of_group[static_cast<size_t>(group)];
  if (row == rows.end()) return whole + part.bytes_of_group[static_cast<size_t>(group)];
  return whole + row->bytes_before + std::max<int64_t>(0, place - row->begin);
}

int64_t Deal::bytes_in(Extent extent, int group) const noexcept {
  int64_t bytes = 0;
  for (const Part& part : parts_) {
    const Extent inside = intersect(part.bytes, extent);
    if (!inside.empty()) bytes += bytes_before(part, group, inside.end) - bytes_before(part, group, inside.begin);
  }
  return bytes;
}

}  // namespace windrow
