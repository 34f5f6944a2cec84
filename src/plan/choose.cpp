// SPDX-License-Identifier: BSD-3-Clause
#include "plan/choose.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/units.hpp"

namespace windrow {
namespace {

// Each stripe is a request with domains=target, so it must be large enough to be worth one. The measurements behind the
// bounds of this file: docs/internals/notes/2026-11-29-fixed-rule.md.
constexpr int64_t k_least_stripe = int64_t{512} << 10;

void choose_owner(Strategy& strategy, const Pattern& pattern, std::vector<std::string>& reasons) {
  if (needs_flags(strategy.owner) && pattern.replicas && !pattern.owned_flags) {
    reasons.push_back(
        fmt::format("owner first: owner={} needs ownership flags, and there are none", name_of(strategy.owner)));
    strategy.owner = Owner::first;
  }
  if (pattern.holes > 0 && !pattern.reading)
    reasons.push_back(fmt::format("{} of {} are held by no rank: they keep their values, or have the fill value",
                                  pattern.holes, counted(pattern.points, "point")));
  if (strategy.owner != Owner::automatic)
    return;
  strategy.owner = pattern.owned_flags ? Owner::partitioner : pattern.replicas ? Owner::balanced : Owner::first;
  if (pattern.reading)
    return;
  if (pattern.owned_flags)
    reasons.emplace_back("owner partitioner: the points have ownership flags");
  else if (pattern.replicas)
    reasons.emplace_back("owner balanced: several ranks hold the same points, which are assigned in long rows");
}

constexpr std::string_view k_tree = "bips3d-tree";

int64_t bytes_of(const std::vector<Extent>& regions) noexcept {
  int64_t bytes = 0;
  for (const Extent& region : regions)
    bytes += region.size();
  return bytes;
}

// Figure 7 of "Optimization and evaluation of parallel I/O in BIPS3D": lists over Fast Ethernet; over Myrinet, two
// phases for small loads, with a bound that depends on the size of the mesh. The link is classified by its seconds for
// each byte, at the middle of the two networks (12.5 and 250 MB/s). One host counts as the faster kind.
void choose_by_tree(Strategy& strategy, const Pattern& pattern, const Topology& topology,
                    std::vector<std::string>& reasons) {
  constexpr double k_slow_link = 1 / 56e6;
  constexpr int64_t k_large_mesh = 70'000, k_load_of_small = 90, k_load_of_large = 50;
  if (strategy.preset != k_tree || strategy.domains != Domains::automatic || strategy.access != Access::automatic ||
      pattern.points == 0)
    return;
  const bool slow = topology.host_roots.size() > 1 && topology.link_seconds > k_slow_link;
  const int64_t bound = pattern.points < k_large_mesh ? k_load_of_small : k_load_of_large;
  const bool two_phase = !slow && pattern.load < bound;
  strategy.domains = two_phase ? Domains::even : Domains::none;
  strategy.access = two_phase ? Access::contiguous : Access::list;
  reasons.push_back(slow
                        ? fmt::format("tree: the network is slow ({:.0f} MB/s), so lists", 1e-6 / topology.link_seconds)
                        : fmt::format("tree: {} with {} each, {} than {}, so {}", counted(pattern.points, "point"),
                                      counted(pattern.load, "element"), two_phase ? "fewer" : "not fewer", bound,
                                      two_phase ? "two phases" : "lists"));
}

// Decides by the length of pieces. Short pieces are copied from the mapped file: one copy, no request and no message.
// Long pieces take one request each, which avoids a page fault every 64 KiB; but data in the other byte order would
// then be copied twice.
Access access_in_memory(const Pattern& pattern, const PlanLimits& limits, std::vector<std::string>& reasons) {
  const int64_t mean = pattern.pieces > 0 ? pattern.bytes / pattern.pieces : 0;
  const bool are_long = mean > 0 && mean >= limits.direct_read_bytes && !pattern.swapped;
  if (are_long) {
    reasons.push_back(
        fmt::format("access list: pieces are {} long on average, so each rank reads its own, although the file is in "
                    "this host's memory",
                    counted(mean, "byte")));
    return Access::list;
  }
  reasons.emplace_back("access mapped: the file is in this host's memory, so each rank copies its pieces out of it");
  return Access::mapped;
}

// Mapped writes do not exist: every page that they dirty is expensive.
void choose_mapped(Strategy& strategy, const Pattern& pattern, const PlanLimits& limits,
                   std::vector<std::string>& reasons) {
  const bool may_gather_nothing = strategy.gather == Gather::automatic || strategy.gather == Gather::none;
  const bool may_have_no_domains = strategy.domains == Domains::automatic || strategy.domains == Domains::none;
  const bool alone = may_gather_nothing && may_have_no_domains;
  if (strategy.access == Access::automatic && pattern.reading && pattern.in_memory && alone)
    strategy.access = access_in_memory(pattern, limits, reasons);
  if (strategy.access != Access::mapped)
    return;
  if (pattern.reading && alone) {
    strategy.domains = Domains::none;
    return;
  }
  strategy.access = Access::automatic;
  reasons.emplace_back(pattern.reading ? "access mapped is not used: it needs domains=none and gather=none"
                                       : "access mapped is not used: it is for reading only");
}

// If ranks of several hosts move their own bytes, they meet at every target: locks move between them, and requests
// queue. If there are as many hosts as targets, one writer for each target is faster (Y-Lib, section III). The
// exception is a rank whose pieces span several rows of stripes over all targets: it accesses all targets in any case.
bool hosts_meet_at_targets(const Pattern& pattern, const Topology& topology, const PlanLimits& limits) {
  const auto hosts = static_cast<int64_t>(topology.host_roots.size());
  const int64_t targets = count_targets(limits), writers = limits.writers > 0 ? limits.writers : hosts;
  if (limits.direct_asked || hosts < 2 || pattern.ranks_with_data < 2 || targets == 0 ||
      targets > std::min(hosts, writers))
    return false;
  constexpr int64_t k_rows_of_stripes = 4;
  if (pattern.bytes / std::max<int64_t>(1, pattern.pieces) / k_rows_of_stripes / targets >= lock_unit(*limits.layout))
    return false;
  return wants_targets(pattern, limits);
}

// With more clients at each target, contention costs more than gathering the bytes. On Ranger (Y-Lib, section V) 128
// writers of 128 targets gained nothing from one writer for each target, 256 gained a factor of 1.5, and 1024 a factor
// of 3.
constexpr double k_most_clients_of_a_target = 128;

double clients_of_a_target(const Pattern& pattern, const PlanLimits& limits) {
  const auto targets = static_cast<double>(count_targets(limits)), ranks = static_cast<double>(pattern.ranks_with_data);
  if (targets < 1 || ranks < 1)
    return 0;
  const double stripes =
      std::ceil(static_cast<double>(pattern.bytes) / ranks / static_cast<double>(lock_unit(*limits.layout)));
  return ranks * std::clamp(stripes, 1.0, targets) / targets;
}

bool ranks_crowd_at_targets(const Pattern& pattern, const Topology& topology, const PlanLimits& limits) {
  if (limits.direct_asked || topology.host_roots.size() < 2 || !wants_targets(pattern, limits))
    return false;
  return clients_of_a_target(pattern, limits) > k_most_clients_of_a_target;
}

// Long pieces are written by their holder, since aggregation would only copy them. Short pieces are aggregated to long
// rows, since a request has a fixed cost. If there are both, each kind is moved in its way, unless the long pieces are
// few: without them the rows would have holes.
class DomainRule {
 public:
  DomainRule(Strategy& strategy, const Pattern& pattern, const Topology& topology, const PlanLimits& limits,
             std::vector<std::string>& reasons)
      : strategy_(strategy), pattern_(pattern), limits_(limits), reasons_(reasons) {
    mean_ = pattern.pieces > 0 ? pattern.bytes / pattern.pieces : 0;
    long_from_ = pattern.reading ? limits.direct_read_bytes : limits.direct_bytes;
    together_ = ranks_of_root(strategy, pattern.reading, topology);
    const bool may_meet = strategy.access != Access::list && strategy.gather == Gather::none;
    crowd_at_targets_ = may_meet && ranks_crowd_at_targets(pattern, topology, limits);
    meet_at_targets_ = crowd_at_targets_ || (may_meet && hosts_meet_at_targets(pattern, topology, limits));
  }

  void choose(int64_t& direct_bytes) {
    if (are_rows())
      return take(Domains::none, rows_text());
    if (are_long() || is_alone())
      return take(Domains::none, fmt::format("domains none: pieces are {} long on average, so each rank {} its own",
                                             counted(mean_, "byte"), pattern_.reading ? "reads" : "writes"));
    if (meet_at_targets_)
      return take(Domains::target, targets_text());
    if (wants_targets(pattern_, limits_))
      return take(Domains::target, fmt::format("domains target: pieces are {} long on average, shorter than {}, and "
                                               "the file lies on several targets",
                                               counted(mean_, "byte"), long_from_));
    if (has_short_stripes())
      reasons_.push_back(fmt::format("domains aligned, not target: stripes of {} are too short for a request each",
                                     format_bytes(lock_unit(*limits_.layout))));
    if (!are_both_kinds())
      return take(Domains::aligned,
                  fmt::format("domains aligned: pieces are {} long on average, shorter than {}, so they are aggregated",
                              counted(mean_, "byte"), long_from_));
    direct_bytes = limits_.direct_bytes;
    take(Domains::aligned, both_kinds_text());
  }

 private:
  void take(Domains domains, std::string reason) {
    strategy_.domains = domains;
    reasons_.push_back(std::move(reason));
  }

  // The rows of ranks are consecutive already, so domains gain nothing. The root of a team has those of consecutive
  // ranks in one piece (SCORPIO, section III). Of blocks it has many short pieces, which two-phase I/O among the roots
  // turns into fewer requests.
  bool are_rows() const {
    if (meet_at_targets_ || strategy_.access == Access::sieve)
      return false;
    const bool one_each = pattern_.pieces > 0 && pattern_.pieces <= pattern_.entries;
    return one_each && mean_ >= ceil_divide(limits_.direct_row_bytes, together_);
  }

  bool are_long() const {
    if (strategy_.access == Access::list)
      return true;
    return !meet_at_targets_ && pattern_.pieces > 0 && mean_ >= long_from_;
  }

  bool is_alone() const {
    constexpr int64_t k_least_piece = 4096;
    return pattern_.ranks_with_data <= 1 && strategy_.access != Access::sieve && mean_ >= k_least_piece;
  }

  bool has_short_stripes() const {
    return limits_.layout && lock_unit(*limits_.layout) < k_least_stripe &&
           deal_by_target(pattern_.regions, 2, *limits_.layout);
  }

  bool are_both_kinds() const {
    if (strategy_.access == Access::sieve)  // it writes back the holes, so no other rank may write there
      return false;
    return pattern_.long_bytes >= pattern_.bytes / 4 && pattern_.long_pieces > 0 && strategy_.gather == Gather::none;
  }

  std::string rows_text() const {
    const char* who = together_ > 1 ? "root gathers" : pattern_.reading ? "rank gets" : "rank puts";
    return fmt::format("domains none: what a {} of a variable is one piece", who);
  }

  std::string targets_text() const {
    const char* kind = pattern_.reading ? "reader" : "writer";
    if (!crowd_at_targets_)
      return fmt::format(
          "domains target: there are at least as many hosts as targets, so each target has its own {}s, "
          "for long pieces too",
          kind);
    return fmt::format(
        "domains target: {:.0f} ranks would access each target; more than {:.0f} are slower than one {} for each "
        "target",
        clients_of_a_target(pattern_, limits_), k_most_clients_of_a_target, kind);
  }

  std::string both_kinds_text() const {
    return fmt::format(
        "direct: {} of at least {}, {} in all, are {} by the ranks that hold them; domains aligned for the other {}",
        counted(pattern_.long_pieces, "piece"), counted(limits_.direct_bytes, "byte"),
        counted(pattern_.long_bytes, "byte"), pattern_.reading ? "read" : "written",
        pattern_.pieces - pattern_.long_pieces);
  }

  Strategy& strategy_;
  const Pattern& pattern_;
  const PlanLimits& limits_;
  std::vector<std::string>& reasons_;
  int64_t mean_ = 0;               // bytes of a piece
  int64_t long_from_ = 0;          // bytes of the shortest long piece
  int64_t together_ = 1;           // ranks that gather to one root
  bool crowd_at_targets_ = false;  // more ranks access each target than it serves well
  bool meet_at_targets_ = false;   // ranks of several hosts access the same targets
};

// Whether to sieve: for many short pieces with small holes, reading the holes and writing them back costs less than one
// request a piece. This requires that the aggregator owns its domain alone.
bool sieves(const Strategy& strategy, const Pattern& pattern, const PlanLimits& limits, int64_t direct_bytes,
            std::vector<std::string>& reasons) {
  if (strategy.domains == Domains::none || direct_bytes > 0 || pattern.pieces == 0 || pattern.overlapping)
    return false;
  const int64_t holes = bytes_of(pattern.regions) - pattern.bytes;
  if (holes <= 0)
    return false;
  const int64_t hole = holes / pattern.pieces, piece = pattern.bytes / pattern.pieces;
  if (hole > limits.hole_bytes || piece > (pattern.reading ? 4 : 1) * limits.hole_bytes)
    return false;
  if (!pattern.reading && !limits.may_sieve_writes) {
    reasons.push_back(
        fmt::format("access contiguous: a request per piece, because the file system has no locks, under which holes "
                    "of {} could be read and written back",
                    counted(hole, "byte")));
    return false;
  }
  reasons.push_back(
      fmt::format("access sieve: pieces are {} long on average with holes of {}: {} across them costs less than a "
                  "request per piece",
                  counted(piece, "byte"), hole, pattern.never_written ? "writing zeros" : "reading"));
  return true;
}

}  // namespace

// Local disks have blocks but no targets.
bool wants_targets(const Pattern& pattern, const PlanLimits& limits) {
  return limits.layout != nullptr && lock_unit(*limits.layout) >= k_least_stripe &&
         deal_by_target(pattern.regions, 2, *limits.layout).has_value();
}

bool asks_for_link(const Strategy& strategy) noexcept {
  return strategy.preset == k_tree;
}

Strategy choose(Strategy strategy, const Pattern& pattern, const Topology& topology, const PlanLimits& limits,
                int64_t& direct_bytes, std::vector<std::string>& reasons) {
  choose_owner(strategy, pattern, reasons);
  choose_by_tree(strategy, pattern, topology, reasons);
  choose_mapped(strategy, pattern, limits, reasons);
  if (strategy.gather == Gather::automatic)
    strategy.gather = Gather::none;
  if (strategy.domains == Domains::automatic)
    DomainRule(strategy, pattern, topology, limits, reasons).choose(direct_bytes);
  if (strategy.access == Access::automatic) {
    const bool own = strategy.domains == Domains::none && strategy.gather == Gather::none;
    strategy.access = own                                                        ? Access::list
                      : sieves(strategy, pattern, limits, direct_bytes, reasons) ? Access::sieve
                                                                                 : Access::contiguous;
  }
  if (strategy.files == Files::automatic)
    strategy.files = Files::one;
  return strategy;
}

// One aggregator a host, at most one a unit. If there are few stripes, still one for each target: with fewer, some
// aggregators would have targets without data and no work.
int64_t automatic_writers(const Strategy& strategy, const Pattern& pattern, const Topology& topology,
                          const PlanLimits& limits) {
  const int64_t region_bytes = bytes_of(pattern.regions);
  const auto hosts = static_cast<int64_t>(topology.host_roots.size());
  int64_t useful = std::max<int64_t>(1, ceil_divide(region_bytes, limits.unit));
  if (strategy.domains == Domains::target)
    useful = std::max(useful, count_targets(limits));
  return std::min({hosts, useful, count_roots(strategy, pattern.reading, topology)});
}

int64_t ranks_of_root(const Strategy& strategy, bool reading, const Topology& topology) {
  const int64_t ranks = topology.ranks;
  if (strategy.gather == Gather::host)
    return ceil_divide(ranks, static_cast<int64_t>(topology.host_roots.size()));
  return strategy.gather == Gather::team
             ? std::clamp<int64_t>(reading ? strategy.team_read : strategy.team_write, 1, ranks)
             : 1;
}

int64_t count_roots(const Strategy& strategy, bool reading, const Topology& topology) {
  if (strategy.gather == Gather::host)
    return static_cast<int64_t>(topology.host_roots.size());
  return ceil_divide(static_cast<int64_t>(topology.ranks), ranks_of_root(strategy, reading, topology));
}

int64_t dealt_writers(Domains domains, int64_t writers, const PlanLimits& limits) {
  const int64_t groups = domains == Domains::target ? std::min(writers, count_targets(limits)) : 0;
  return groups > 1 ? writers / groups * groups : writers;
}

int64_t count_targets(const PlanLimits& limits) {
  int64_t targets = 0;
  if (limits.layout && limits.layout->is_striped())
    for (const LayoutComponent& each : limits.layout->components)
      targets = std::max(targets, count_targets(each));
  return targets;
}

}  // namespace windrow
