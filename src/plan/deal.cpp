// SPDX-License-Identifier: BSD-3-Clause
#include "plan/deal.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/checked.hpp"

namespace windrow {
namespace {

constexpr int64_t k_metadata_server = INT64_MIN;  // represents a target in a list of holders
constexpr int64_t k_longest_period = int64_t{1}
                                     << 61;  // so that the end of a period is below 2^63 wherever file offsets can be

bool fits(int64_t stripe_bytes, int64_t stripes) noexcept {
  const auto bytes = checked_multiply(stripe_bytes, stripes);
  return bytes && *bytes <= k_longest_period;
}

// After the last component its stripes continue.
Extent bytes_of(const StorageLayout& layout, const LayoutComponent& component) noexcept {
  return &component == &layout.components.back() ? Extent{component.bytes.begin, k_no_end} : component.bytes;
}

// The holder of the stripes of an object: a target, or if that is unknown a number for the column, which no target has.
int64_t holder_of(const LayoutComponent& component, int64_t object) noexcept {
  if (component.on_metadata_server)
    return k_metadata_server;
  const int64_t target = component.targets.empty() ? k_no_target : component.targets[static_cast<size_t>(object)];
  return target != k_no_target ? target : k_no_target - 1 - object % component.stripe_count;
}

// A range of the file in which the assignment of stripes to holders is periodic, counted from the start of the file.
struct Section {
  Extent bytes;
  int64_t unit_bytes = 1;
  std::vector<int64_t>
      holders;       // [units of a period]; empty: their number is unknown, or they are longer than a file can be
  int64_t file = 0;  // in a line of files
  bool of_objects = false;       // the holders are those of single objects
  bool unknown_holders = false;  // the holders are unknown, and no two units have the same one
};

// Sections of columns of stripes. If objects change along the file, a target belongs to one row only, and the column
// itself represents all of its objects.
Section section_of(const StorageLayout& layout, const LayoutComponent& component) {
  Section section{.bytes = bytes_of(layout, component),
                  .unit_bytes = component.stripe_bytes,
                  .holders = {},
                  .file = component.file};
  if (!fits(component.stripe_bytes, component.stripe_count))
    return section;
  for (int64_t column = 0; column < component.stripe_count; ++column)
    section.holders.push_back(component.object_bytes > 0 ? k_no_target - 1 - column : holder_of(component, column));
  return section;
}

// If objects change, the period ends where the known targets end; after that, each whole row of objects is a unit.
void add_objects(const LayoutComponent& component, Extent bytes, std::vector<Section>& sections) {
  const int64_t known = end_of_targets(component);
  const bool alone = component.stripe_count == 1;  // the stripes of an object are then consecutive
  Section first{.bytes = {bytes.begin, known},
                .unit_bytes = alone ? component.object_bytes : component.stripe_bytes,
                .holders = {},
                .file = component.file,
                .of_objects = true};
  const int64_t units = ceil_divide(known, first.unit_bytes);
  for (int64_t unit = 0; unit < units; ++unit)
    first.holders.push_back(holder_of(component, alone ? unit : object_of(component, unit)));
  sections.push_back(std::move(first));
  if (known < bytes.end)
    sections.push_back({.bytes = {known, bytes.end},
                        .unit_bytes = component.object_bytes * component.stripe_count,
                        .holders = {},
                        .file = component.file,
                        .unknown_holders = true});
}

// Targets without bytes of the regions are useless. Lists of very many stripes would dominate the plan.
bool knows_objects(const std::vector<Extent>& regions, const LayoutComponent& component) {
  constexpr int64_t k_most_units = 65536;
  if (component.object_bytes == 0 || component.targets.empty() ||
      !fits(component.object_bytes, static_cast<int64_t>(component.targets.size())))
    return false;
  const Extent known{component.bytes.begin, end_of_targets(component)};
  if (component.stripe_count > 1 && known.end / component.stripe_bytes >= k_most_units)
    return false;
  return std::any_of(regions.begin(), regions.end(),
                     [&](const Extent& region) { return !intersect(region, known).empty(); });
}

std::vector<Section> sections_of(const std::vector<Extent>& regions, const StorageLayout& layout) {
  std::vector<Section> sections;
  for (const LayoutComponent& component : layout.components) {
    if (knows_objects(regions, component))
      add_objects(component, bytes_of(layout, component), sections);
    else
      sections.push_back(section_of(layout, component));
  }
  return sections;
}

// Adds the bytes of an extent to the units of the period. Whole periods are counted without a walk over units.
void add_bytes(const Section& section, Extent bytes, std::vector<int64_t>& units) {
  const auto count = static_cast<int64_t>(section.holders.size()), period = section.unit_bytes * count;
  const int64_t periods = std::max<int64_t>(0, bytes.size() / period - 1);
  if (periods > 0)
    for (int64_t& each : units)
      each += periods * section.unit_bytes;
  bytes.begin += periods * period;
  while (!bytes.empty()) {
    const int64_t unit = bytes.begin / section.unit_bytes;
    const int64_t end = std::min(bytes.end, (unit + 1) * section.unit_bytes);
    units[static_cast<size_t>(unit % count)] += end - bytes.begin;
    bytes.begin = end;
  }
}

// The stripes of one file on one target: locks of two files are separate even on a shared target.
using HolderName = std::pair<int64_t, int64_t>;  // file, and target or its substitute

struct Holder {
  HolderName name;
  int64_t bytes = 0;
  int group = 0;
};

// The holders with bytes of the regions, in the order of their first units. Empty: the holder of some bytes is unknown.
std::vector<Holder> holders_of(const std::vector<Extent>& regions, const std::vector<Section>& sections) {
  std::vector<Holder> holders;
  std::map<HolderName, size_t> places;
  for (const Section& section : sections) {
    if (section.unknown_holders)
      continue;
    std::vector<int64_t> units(section.holders.size());
    for (const Extent& region : regions) {
      const Extent part = intersect(region, section.bytes);
      if (part.empty())
        continue;
      if (units.empty())
        return {};
      add_bytes(section, part, units);
    }
    for (size_t i = 0; i < units.size(); ++i) {
      if (units[i] == 0)
        continue;
      const auto [place, fresh] = places.try_emplace({section.file, section.holders[i]}, holders.size());
      if (fresh)
        holders.push_back({.name = {section.file, section.holders[i]}});
      holders[place->second].bytes += units[i];
    }
  }
  return holders;
}

// Assigns neighbours to the same group: at least one to each group, with the bytes as even as possible.
void group(std::vector<Holder>& holders, int groups) {
  int64_t all = 0, before = 0;
  for (const Holder& holder : holders)
    all += holder.bytes;
  int number = 0;
  for (size_t i = 0; i < holders.size(); ++i) {
    holders[i].group = number;
    before += holders[i].bytes;
    const auto left = static_cast<int64_t>(holders.size() - i - 1),
               groups_left = static_cast<int64_t>(groups - number - 1);
    const int64_t share = all / groups * (number + 1) + all % groups * (number + 1) / groups;
    if (groups_left > 0 && (before >= share || left == groups_left))
      ++number;
  }
}

// All holders of the section that contains the regions (or of one section of each file), each weighted by its bytes in
// a whole period, in the order of their first units. Empty in two cases: the regions lie in several sections of a file,
// so holders are weighted by their bytes in the regions; or objects move with each row, so no holder keeps a lock from
// row to row.
std::vector<Holder> holders_of_period(const std::vector<Extent>& regions, const std::vector<Section>& sections) {
  const Section* before = nullptr;
  std::vector<Extent> periods;
  for (const Section& section : sections) {
    if (std::none_of(regions.begin(), regions.end(),
                     [&](const Extent& region) { return !intersect(region, section.bytes).empty(); }))
      continue;
    if ((before != nullptr && before->file == section.file) || section.unknown_holders || section.of_objects ||
        section.holders.empty())
      return {};
    before = &section;
    const int64_t period = section.unit_bytes * static_cast<int64_t>(section.holders.size());
    if (section.bytes.begin > k_no_end - 2 * period)
      return {};
    const int64_t begin = round_up(section.bytes.begin, period);
    periods.push_back(begin + period <= section.bytes.end ? Extent{begin, begin + period} : section.bytes);
  }
  return holders_of(periods, sections);
}

// All numbered targets, with equal weights.
std::vector<Holder> holders_of_numbers(int64_t targets) {
  std::vector<Holder> holders;
  for (int64_t target = 0; target < targets; ++target)
    holders.push_back({.name = {0, target}, .bytes = 1});
  return holders;
}

// Assigns holders to groups. The next flush has bytes on other targets, so the group of a target should not depend on
// the regions of this flush; otherwise locks would move between writers. All targets are therefore assigned, unless
// fewer than half as many groups would have bytes as could. Empty: there is nothing to choose.
std::vector<Holder> grouped(const std::vector<Extent>& regions, const std::vector<Section>& sections, int64_t most,
                            int64_t numbered) {
  std::vector<Holder> here = holders_of(regions, sections);
  std::vector<Holder> all = numbered > 0 ? holders_of_numbers(numbered) : holders_of_period(regions, sections);
  const auto groups = [most](const std::vector<Holder>& holders) {
    return static_cast<int>(std::min(most, static_cast<int64_t>(holders.size())));
  };
  if (groups(all) > 1 && !here.empty()) {
    group(all, groups(all));
    std::set<HolderName> present;
    for (const Holder& holder : here)
      present.insert(holder.name);
    std::set<int> busy;
    for (const Holder& holder : all)
      if (present.contains(holder.name))
        busy.insert(holder.group);
    if (2 * static_cast<int>(busy.size()) >= groups(here))
      return all;
  }
  if (groups(here) < 2)
    return {};
  group(here, groups(here));
  return here;
}

}  // namespace

std::optional<Dealing> deal_by_target(const std::vector<Extent>& regions, int64_t most, const StorageLayout& layout) {
  const std::vector<Section> sections = sections_of(regions, layout);
  const std::vector<Holder> holders = grouped(regions, sections, most, layout.numbered_targets);
  if (holders.empty())
    return std::nullopt;
  const int groups = holders.back().group + 1;
  std::map<HolderName, int> group_of;
  Dealing dealing{.parts = {}, .groups = groups};
  for (const Holder& holder : holders) {
    group_of[holder.name] = holder.group;
    const int64_t target = holder.name.second;
    dealing.by_column = dealing.by_column || (target < k_no_target && target != k_metadata_server);
  }
  for (const Section& section : sections) {
    if (section.unknown_holders)
      dealing.known_end = std::min(dealing.known_end, section.bytes.begin);
    // A section without bytes of the regions may have any holders.
    const bool in_turn = section.unknown_holders && fits(section.unit_bytes, groups);
    DealtPart part{.bytes = section.bytes,
                   .stripe_bytes = section.holders.empty() && !in_turn ? 1 : section.unit_bytes,
                   .groups = {}};
    for (const int64_t holder : section.holders) {
      const auto found = group_of.find({section.file, holder});
      part.groups.push_back(found != group_of.end() ? found->second : 0);
    }
    for (int each = 0; in_turn && each < dealing.groups; ++each)
      part.groups.push_back(each);
    if (part.groups.empty())
      part.groups.push_back(0);
    dealing.parts.push_back(std::move(part));
  }
  return dealing;
}

std::optional<Dealing> deal_in_turn(int64_t groups, const StorageLayout& layout) {
  if (groups < 2)
    return std::nullopt;
  Dealing dealing{.parts = {}, .groups = static_cast<int>(groups)};
  for (const LayoutComponent& component : layout.components) {
    if (!fits(component.stripe_bytes, groups))
      return std::nullopt;
    DealtPart part{.bytes = bytes_of(layout, component), .stripe_bytes = component.stripe_bytes, .groups = {}};
    for (int each = 0; each < dealing.groups; ++each)
      part.groups.push_back(each);
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
    Part part{.bytes = dealt.bytes,
              .period_bytes = stripes * dealt.stripe_bytes,
              .rows = {},
              .first_row = {0},
              .cells = {},
              .bytes_of_group = {}};
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

Deal::Reach Deal::reach_of(const Part& part, Extent range, int group) const noexcept {
  Reach reach{.bytes = intersect(part.bytes, range)};
  if (reach.bytes.empty())
    return reach;
  reach.first_period = reach.bytes.begin / part.period_bytes;
  const int64_t periods = (reach.bytes.end - 1) / part.period_bytes - reach.first_period + 1;
  reach.cells = periods * part.cells[static_cast<size_t>(group)];
  return reach;
}

int64_t Deal::cells(Extent range, int group) const noexcept {
  int64_t cells = 0;
  for (const Part& part : parts_)
    cells += reach_of(part, range, group).cells;
  return cells;
}

Extent Deal::cell(Extent range, int group, int64_t index) const noexcept {
  for (const Part& part : parts_) {
    const Reach reach = reach_of(part, range, group);
    if (index >= reach.cells) {
      index -= reach.cells;
      continue;
    }
    const int64_t of_period = part.cells[static_cast<size_t>(group)], place = index % of_period;
    const int64_t period = (reach.first_period + index / of_period) * part.period_bytes;
    const std::span<const Row> rows = rows_of(part, group);
    const Row& row = *std::prev(
        std::partition_point(rows.begin(), rows.end(), [&](const Row& each) { return each.first_cell <= place; }));
    const int64_t begin = period + row.begin + (place - row.first_cell) * cell_bytes_;
    const int64_t end = std::min(begin + cell_bytes_, period + row.end);
    const auto inside = [&](int64_t offset) { return std::clamp(offset, reach.bytes.begin, reach.bytes.end); };
    return {inside(begin), inside(end)};
  }
  return {range.end, range.end};
}

int64_t Deal::index_of(Extent range, int group, int64_t offset) const noexcept {
  int64_t before = 0;
  for (const Part& part : parts_) {
    const Reach reach = reach_of(part, range, group);
    if (offset >= reach.bytes.end || reach.cells == 0) {
      before += reach.cells;
      continue;
    }
    const int64_t of_period = part.cells[static_cast<size_t>(group)];
    const int64_t at = std::max(offset, reach.bytes.begin), period = at / part.period_bytes,
                  place = at % part.period_bytes;
    const std::span<const Row> rows = rows_of(part, group);
    const auto row = std::partition_point(rows.begin(), rows.end(), [&](const Row& each) { return each.end <= place; });
    const bool later = row == rows.end();  // in the next period
    const Row& found = later ? rows.front() : *row;
    const int64_t of_found = period + (later ? 1 : 0);
    if (of_found * part.period_bytes + found.begin >= reach.bytes.end) {
      before += reach.cells;
      continue;
    }
    return before + (of_found - reach.first_period) * of_period + found.first_cell +
           (later ? 0 : std::max<int64_t>(0, place - found.begin) / cell_bytes_);
  }
  return before;
}

// Counts from the zero of the part.
int64_t Deal::bytes_before(const Part& part, int group, int64_t offset) const noexcept {
  const int64_t period = offset / part.period_bytes, place = offset % part.period_bytes;
  const std::span<const Row> rows = rows_of(part, group);
  const auto row = std::partition_point(rows.begin(), rows.end(), [&](const Row& each) { return each.end <= place; });
  const int64_t whole = period * part.bytes_of_group[static_cast<size_t>(group)];
  if (row == rows.end())
    return whole + part.bytes_of_group[static_cast<size_t>(group)];
  return whole + row->bytes_before + std::max<int64_t>(0, place - row->begin);
}

int64_t Deal::bytes_in(Extent extent, int group) const noexcept {
  int64_t bytes = 0;
  for (const Part& part : parts_) {
    const Extent inside = intersect(part.bytes, extent);
    if (!inside.empty())
      bytes += bytes_before(part, group, inside.end) - bytes_before(part, group, inside.begin);
  }
  return bytes;
}

}  // namespace windrow
