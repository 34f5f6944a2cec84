// SPDX-License-Identifier: BSD-3-Clause
#include "plan/domains.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace windrow {
namespace {

int64_t bytes_of(const std::vector<Extent>& regions) {
  int64_t bytes = 0;
  for (const Extent& region : regions)
    bytes += region.size();
  return bytes;
}

// Converts byte number `index` of the regions to a file offset, for ascending indices. One past the last byte: the end
// of the last region.
class Cursor {
 public:
  explicit Cursor(const std::vector<Extent>& regions) : regions_(regions) {}
  int64_t offset_of(int64_t index) {
    while (region_ + 1 < regions_.size() && index >= before_ + regions_[region_].size())
      before_ += regions_[region_++].size();
    return regions_[region_].begin + (index - before_);
  }

 private:
  const std::vector<Extent>& regions_;
  size_t region_ = 0;
  int64_t before_ = 0;
};

// bytes * part / parts without overflow.
int64_t share(int64_t bytes, int64_t part, int64_t parts) {
  return bytes / parts * part + bytes % parts * part / parts;
}

// `unit_at(offset)`: the unit around that offset, which must not be divided between writers.
template <class UnitAt>
std::vector<Extent> cut(const std::vector<Extent>& regions, int64_t parts, UnitAt&& unit_at) {
  std::vector<Extent> domains(static_cast<size_t>(parts));
  if (regions.empty())
    return domains;
  const int64_t bytes = bytes_of(regions), end = regions.back().end;
  Cursor cursor(regions);
  int64_t begin = regions.front().begin;
  for (int64_t part = 0; part < parts; ++part) {
    int64_t cut = end;
    if (part + 1 < parts) {
      const int64_t exact = cursor.offset_of(share(bytes, part + 1, parts));
      const Extent unit = unit_at(exact);
      const int64_t nearest = exact - unit.begin <= unit.size() / 2 ? unit.begin : unit.end;
      cut = std::clamp(std::min(nearest, end), begin, end);
    }
    domains[static_cast<size_t>(part)] = {begin, cut};
    begin = cut;
  }
  return domains;
}

}  // namespace

std::vector<Extent> cut_even(const std::vector<Extent>& regions, int64_t parts) {
  return cut_aligned(regions, parts, 1);
}

std::vector<Extent> cut_aligned(const std::vector<Extent>& regions, int64_t parts, int64_t unit) {
  return cut(regions, parts, [unit](int64_t offset) {
    const int64_t begin = round_down(offset, unit);
    return Extent{begin, checked_add(begin, unit).value_or(INT64_MAX)};
  });
}

std::vector<Extent> cut_at_stripes(const std::vector<Extent>& regions, int64_t parts, const StorageLayout& layout) {
  return cut(regions, parts, [&layout](int64_t offset) { return stripe_at(layout, offset).bytes; });
}

int64_t stripes_cut(const std::vector<Extent>& parts, const StorageLayout& layout) {
  int64_t cut = 0, end = 0;  // of the last stripe that was cut
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].empty() || parts[i].begin <= parts.front().begin || parts[i].begin < end)
      continue;
    const Extent stripe = stripe_at(layout, parts[i].begin).bytes;
    if (stripe.begin == parts[i].begin)
      continue;
    ++cut;
    end = stripe.end;
  }
  return cut;
}

int64_t window_of(int64_t largest, int64_t buffer) noexcept {
  constexpr int64_t k_rounds = 8, k_least = int64_t{512} << 10;
  int64_t window = k_least;
  while (window < buffer && window * k_rounds < largest)
    window *= 2;
  return std::min(window, buffer);
}

bool has_short_windows(int64_t largest, int64_t window, const PlanLimits& limits) noexcept {
  constexpr int64_t k_long_domain = 64;
  return limits.short_window > 0 && window > limits.short_window && largest / k_long_domain >= limits.short_window;
}

int64_t window_of_stripes(int64_t largest, int64_t buffer, int64_t stripe) noexcept {
  constexpr int64_t k_good_request = int64_t{1} << 20;
  const int64_t window = std::min(buffer, std::max(window_of(largest, buffer), k_good_request));
  return stripe > window ? window : round_down(window, stripe);
}

std::vector<int> spread_writers(const Topology& topology, int64_t count) {
  const int64_t ranks = topology.ranks, hosts = static_cast<int64_t>(topology.host_roots.size());
  count = std::clamp<int64_t>(count, 1, ranks);
  std::vector<int> writers(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    writers[static_cast<size_t>(i)] = count <= hosts ? topology.host_roots[static_cast<size_t>(share(hosts, i, count))]
                                                     : static_cast<int>(share(ranks, i, count));
  return writers;
}

std::vector<int> spread_among_roots(const Topology& topology, int64_t team, int64_t count) {
  const int64_t roots = ceil_divide(static_cast<int64_t>(topology.ranks), std::max<int64_t>(1, team));
  if (team < 2 || count > roots)
    return spread_writers(topology, count);
  count = std::max<int64_t>(1, count);
  std::vector<int> writers(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    writers[static_cast<size_t>(i)] = static_cast<int>(share(roots, i, count) * team);
  return writers;
}

}  // namespace windrow
