// SPDX-License-Identifier: BSD-3-Clause
#include "plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "model/machine.hpp"
#include "plan/candidates.hpp"
#include "plan/choose.hpp"
#include "plan/domains.hpp"

namespace windrow {
namespace {

// Assigns stripes to domains if there is a choice; `reasons` receives the explanation in either case.
std::optional<Dealing> deal_stripes(Domains domains, const Pattern& pattern, int64_t writers, const PlanLimits& limits,
                                    std::vector<std::string>& reasons) {
  std::optional<Dealing> dealing;
  if (domains == Domains::cyclic) {
    const StorageLayout units{.kind = LayoutKind::blocks,
                              .components = {{.stripe_bytes = limits.unit, .stripe_count = 1, .targets = {}}}};
    dealing = deal_in_turn(writers, limits.layout ? *limits.layout : units);
  } else if (domains == Domains::target && limits.layout) {
    dealing = deal_by_target(pattern.regions, writers, *limits.layout);
  }
  if (!dealing && (domains == Domains::cyclic || domains == Domains::target))
    reasons.push_back(fmt::format("domains aligned: {}",
                                  writers < 2      ? "one writer has all stripes"
                                  : !limits.layout ? "the targets of the bytes are unknown"
                                                   : "all bytes are on one target, or their targets are unknown"));
  return dealing;
}

std::string shares_text(const Plan& plan, const Dealing& dealing) {
  const char* kind = plan.reading ? "reader" : "writer";
  if (plan.strategy.domains == Domains::cyclic)
    return fmt::format("stripes are assigned to the {}s in turn", kind);
  const char* columns = dealing.by_column ? "columns of stripes" : "targets";
  return plan.sharers > 1 ? fmt::format("{} {}s share each of {} {}, each with a contiguous part of the file",
                                        plan.sharers, kind, dealing.groups, columns)
                          : fmt::format("{} {}s with {} of their own: no other rank accesses their stripes",
                                        dealing.groups, kind, columns);
}

// The unit for cuts: a part of one and a half large units would become one or two of them. A smaller unit, where
// allowed, keeps parts even.
int64_t unit_of_parts(const std::vector<Extent>& regions, int64_t parts, const PlanLimits& limits) {
  constexpr int64_t k_units_of_part = 8;
  int64_t bytes = 0, unit = limits.unit;
  for (const Extent& region : regions)
    bytes += region.size();
  while (limits.least_unit > 0 && unit / 2 % limits.least_unit == 0 && bytes / parts / k_units_of_part < unit)
    unit /= 2;
  return unit;
}

int64_t most_writers(const Strategy& strategy, const Pattern& pattern, const Topology& topology,
                     const PlanLimits& limits) {
  return std::min<int64_t>(limits.writers > 0 ? limits.writers : automatic_writers(strategy, pattern, topology, limits),
                           topology.ranks);
}

// Each group of stripes has `plan.sharers` writers.
void place_dealt(Plan& plan, const Dealing& dealing, const Pattern& pattern, const Topology& topology,
                 const PlanLimits& limits) {
  plan.writers = spread_among_roots(topology, plan.team, plan.sharers * dealing.groups);
  const std::vector<Extent> ranges =
      limits.layout ? cut_at_stripes(pattern.regions, plan.sharers, *limits.layout) : cut_even(pattern.regions, 1);
  // A lock of a target extends downward to the next lock. A writer that starts in the middle of its range and reaches
  // the start of it last takes that part's lock from the writer below. Long pieces are exempt: few ranks hold the
  // pieces at one position, and the writers of all targets would wait for the same rank.
  plan.sharers_in_order = plan.sharers > 1 && pattern.pieces > 0 && pattern.bytes / pattern.pieces < limits.unit;
  for (int group = 0; group < dealing.groups; ++group)
    plan.domains.insert(plan.domains.end(), ranges.begin(), ranges.end());
  plan.reasons.push_back(shares_text(plan, dealing));
  if (dealing.known_end < k_no_end && pattern.regions.back().end > dealing.known_end)
    plan.reasons.push_back(
        fmt::format("beyond {} the targets of objects are unknown: rows of them are assigned to the {}s in turn",
                    format_bytes(dealing.known_end), pattern.reading ? "reader" : "writer"));
}

void place_even(Plan& plan, const Pattern& pattern, const PlanLimits& limits) {
  plan.domains = cut_even(pattern.regions, static_cast<int64_t>(plan.writers.size()));
  if (limits.layout)
    plan.stripes_cut = stripes_cut(plan.domains, *limits.layout);
  if (plan.stripes_cut.value_or(0) > 0)
    plan.reasons.push_back(fmt::format("{} two {}s, because of domains=even",
                                       counted(*plan.stripes_cut, "stripe has", "stripes have"),
                                       plan.reading ? "reader" : "writer"));
}

void place_aligned(Plan& plan, const Pattern& pattern, const PlanLimits& limits) {
  const auto parts = static_cast<int64_t>(plan.writers.size());
  plan.strategy.domains = Domains::aligned;
  if (!limits.layout) {
    plan.domains = cut_aligned(pattern.regions, parts, unit_of_parts(pattern.regions, parts, limits));
    return;
  }
  plan.domains = cut_at_stripes(pattern.regions, parts, *limits.layout);
  plan.reasons.push_back(
      fmt::format("domains end at stripe boundaries: no stripe is in two of them{}",
                  plan.direct_bytes > 0 ? ", except for long pieces, which their holders move" : ""));
}

// Decides everything except the size of windows. Returns the stripes' assignment, if there is one.
std::optional<Dealing> place_writers(Plan& plan, const Pattern& pattern, const Topology& topology,
                                     const PlanLimits& limits) {
  const int64_t wanted = most_writers(plan.strategy, pattern, topology, limits);
  std::optional<Dealing> dealing = deal_stripes(plan.strategy.domains, pattern, wanted, limits, plan.reasons);
  if (limits.layout)
    plan.stripes_cut = 0;
  if (dealing)
    plan.sharers = wanted / dealing->groups;
  const int64_t given = dealing ? plan.sharers * dealing->groups : wanted;
  if (limits.writers == 0)
    plan.reasons.push_back(fmt::format("{}: one per host{}{}", counted(given, pattern.reading ? "reader" : "writer"),
                                       plan.team > 1 ? ", among the roots of teams" : "",
                                       given < wanted ? ", as many for each target" : ""));
  if (dealing) {
    place_dealt(plan, *dealing, pattern, topology, limits);
    return dealing;
  }
  plan.writers = spread_among_roots(topology, plan.team, wanted);
  if (plan.strategy.domains == Domains::even)
    place_even(plan, pattern, limits);
  else
    place_aligned(plan, pattern, limits);
  return std::nullopt;
}

// Bytes of the largest domain between its first and its last byte.
int64_t largest_domain(const Plan& plan, const std::optional<Dealing>& dealing) {
  int64_t largest = 0;
  for (const Extent& domain : plan.domains)
    largest = std::max(largest, domain.size());
  return dealing ? ceil_divide(largest, dealing->groups) : largest;
}

// Windows of whole cells: a stripe, or consecutive stripes of one group, up to the size of a buffer. Each cell is a
// request, so their number in a window is bounded.
void give_cells(Plan& plan, const Dealing& dealing) {
  constexpr int64_t k_most_cells = 256;
  const int64_t cell = std::min(longest_row(dealing), plan.window_bytes),
                cells = std::min(k_most_cells, plan.window_bytes / cell);
  plan.window_bytes = cell * cells;
  plan.deal = std::make_shared<const Deal>(dealing, cell, cells);
}

// As many whole units as the buffer holds; fewer in a small domain, so that one window fills while another is written.
int64_t window_in_units(int64_t largest, int64_t buffer, int64_t unit) {
  constexpr int64_t k_rounds = 4;
  return unit *
         std::clamp<int64_t>(std::min(buffer, largest / k_rounds) / unit, 1, std::max<int64_t>(1, buffer / unit));
}

constexpr int64_t k_least_window = 4096;

// If messages come from other hosts, two windows must leave room for them.
int64_t buffer_beside_messages(const PlanLimits& limits) {
  const int64_t quarter = limits.buffers * limits.buffer_bytes / 4;
  return std::min(limits.buffer_bytes,
                  quarter < k_least_window ? std::max<int64_t>(1, quarter) : round_down(quarter, k_least_window));
}

// The root of a team that is also an aggregator holds windows of its team and of its domain: two each, in addition to
// the messages that fill them.
void fit_two_stages(Plan& plan, int64_t bytes) {
  constexpr int64_t k_windows = 8;
  plan.window_bytes =
      std::min(plan.window_bytes, std::max(k_least_window, round_down(bytes / k_windows, k_least_window)));
}

// Sizes the buffers other than windows, a tenth of the windows in total: two messages in flight, three if they are
// compressed, and the bytes of holes. With small buffers messages exceed the tenth: shorter messages would cost more
// than they save.
void give_messages(Plan& plan, int64_t bytes) {
  constexpr int64_t k_share = 36, k_share_of_holes = 64, k_least = int64_t{64} << 10, k_most = int64_t{512} << 10;
  plan.message_bytes = round_down(std::clamp(bytes / k_share, k_least, k_most), k_least_window);
  plan.read_before_bytes = round_down(std::clamp(bytes / k_share_of_holes, k_least_window, k_most), k_least_window);
}

// As many slots as allowed. Messages are stored in slots before their bytes are copied into a window, so with messages
// the same memory has half as many windows.
void give_slots(Plan& plan, int64_t buffers, int64_t bytes, bool several_hosts) {
  const int64_t window = std::max<int64_t>(1, plan.window_bytes),
                of_stage = plan.gathers() && plan.has_domains() ? bytes / 2 : bytes;
  plan.slots_of_messages = std::clamp<int64_t>(of_stage / 2 / window, 1, std::max<int64_t>(2, buffers / 2));
  plan.slots = several_hosts ? plan.slots_of_messages : buffers;
}

// A team of one rank has nothing to gather. If all ranks are one team, its root has everything, so domains would only
// add two copies.
Strategy without_idle_stages(Strategy strategy, bool reading, int64_t ranks, std::vector<std::string>& reasons) {
  if (strategy.gather != Gather::team)
    return strategy;
  const int64_t team = std::min(reading ? strategy.team_read : strategy.team_write, ranks);
  if (team == 1) {
    strategy.gather = Gather::none;
    reasons.emplace_back("gather none: a team of one rank gathers nothing");
  } else if (team == ranks && strategy.domains == Domains::automatic) {
    strategy.domains = Domains::none;
    reasons.emplace_back(reading ? "domains none: all ranks are one team, whose root reads everything"
                                 : "domains none: all ranks are one team, whose root writes everything");
  }
  return strategy;
}

// The fixed rule chooses. On a measured machine, the predicted seconds of all alternatives choose. Otherwise nothing is
// predicted here; weigh() can predict it later from the plan's input. Domains of chunks are cut by chunks and not
// predicted.
void choose_strategy(Plan& plan, const Strategy& asked, const Pattern& pattern, const Topology& topology,
                     PlanLimits& limits) {
  const size_t reasons_before = plan.reasons.size();
  plan.strategy = choose(asked, pattern, topology, limits, plan.direct_bytes, plan.reasons);
  if (limits.machine == nullptr || limits.window_unit > 0 || pattern.bytes <= 0)
    return;
  Candidate rule{.strategy = plan.strategy, .direct_bytes = plan.direct_bytes};
  if (rule.strategy.domains != Domains::none)
    rule.writers = dealt_writers(rule.strategy.domains, most_writers(rule.strategy, pattern, topology, limits), limits);
  plan.input = std::make_shared<const PlanInput>(
      PlanInput{.asked = asked, .pattern = pattern, .topology = topology, .limits = limits, .rule = rule});
  if (!limits.machine_measured)
    return;
  const Weighing weighing = weigh(*plan.input);
  const std::vector<Alternative>& all = weighing.alternatives;
  const Alternative& taken = chosen_of(weighing);
  if (taken.candidate == rule)
    return;
  const auto ruled =
      std::find_if(all.begin(), all.end(), [&](const Alternative& each) { return each.candidate == rule; });
  plan.reasons.resize(reasons_before);
  Strategy strategy = taken.candidate.strategy;
  strategy.owner = asked.owner;  // the owner's reasons still hold
  plan.strategy = choose(strategy, pattern, topology, limits, plan.direct_bytes, plan.reasons);
  plan.direct_bytes = taken.candidate.direct_bytes;
  limits.writers = taken.candidate.writers;
  plan.reasons.push_back(fmt::format("machine: {} is predicted to take {} on {}; {}, as without a machine file, {}",
                                     short_text(taken.candidate, pattern.reading), format_seconds(taken.seconds.total),
                                     weighing.machine, short_text(rule, pattern.reading),
                                     format_seconds(ruled->seconds.total)));
}

// If compressing and decompressing a byte takes longer than sending it, compression cannot gain, whatever the ratio.
bool is_too_fast_for_codecs(const Machine& machine, const Topology& topology) {
  if (machine.codecs.empty())
    return false;
  const double ranks_of_host = static_cast<double>(topology.ranks) / static_cast<double>(topology.host_roots.size());
  const double at_work =
      machine.cores_per_host > 0 ? std::min(ranks_of_host, static_cast<double>(machine.cores_per_host)) : ranks_of_host;
  double fastest = 0;
  for (const MachineCodec& codec : machine.codecs)
    fastest = std::max(fastest, 1 / (1 / codec.encode_bytes_per_s + 1 / codec.decode_bytes_per_s));
  return fastest * at_work < machine.network.host_bytes_per_s;
}

// `machine`: of which rates were measured; nullptr: none.
void explain_automatic_codec(Plan& plan, const Pattern& pattern, size_t hosts, const Machine* machine) {
  plan.reasons.push_back(
      fmt::format("codec auto: between {}, by measurements of the link and the data", counted(hosts, "host")));
  if (machine == nullptr || machine->codecs.empty() || plan.broadcast)
    return;
  if (pattern.shrinks_to_of_64 == 0) {
    plan.reasons.emplace_back("codec: predictions assume compression to half where it is faster");
    return;
  }
  plan.reasons.push_back(fmt::format(
      "codec: a sample of the data was compressed to {} of 64 bytes; predictions assume this ratio where compression "
      "is faster",
      pattern.shrinks_to_of_64));
}

// Messages within a host are never compressed.
void choose_codec(Plan& plan, const Strategy& asked, const Pattern& pattern, const Topology& topology,
                  const PlanLimits& limits) {
  const size_t hosts = topology.host_roots.size();
  const bool has_messages = hosts > 1 && (plan.gathers() || plan.has_domains() || plan.broadcast);
  const bool is_automatic = asked.codec == Codec::automatic;
  if (!has_messages) {
    if (!is_automatic && asked.codec != Codec::off)
      plan.reasons.push_back(
          fmt::format("codec off: {}", hosts > 1 ? "no data is sent between ranks" : "all ranks are on one host"));
    plan.strategy.codec = Codec::off;
    plan.strategy.codec_shuffle = false;
    plan.strategy.codec_level = 0;
    return;
  }
  plan.strategy.codec = asked.codec;
  if (!is_automatic)
    return;
  const Machine* machine = limits.machine_measured ? limits.machine.get() : nullptr;
  if (machine == nullptr || !is_too_fast_for_codecs(*machine, topology)) {
    explain_automatic_codec(plan, pattern, hosts, machine);
    return;
  }
  plan.strategy.codec = Codec::off;
  plan.reasons.push_back(
      fmt::format("codec off: the link of a host transfers {}/s, faster than the fastest compressor of {}",
                  format_bytes(static_cast<int64_t>(machine->network.host_bytes_per_s)), machine->name));
}

constexpr int64_t k_broadcast_window = int64_t{1} << 20;
constexpr int64_t k_least_measured = int64_t{256} << 10;  // of a broadcast

// On one host ranks copy from shared memory instead.
bool broadcasts(const Strategy& strategy, const Pattern& pattern, const Topology& topology) {
  return pattern.reading && pattern.uniform && pattern.bytes > 0 && topology.host_roots.size() > 1 &&
         (strategy.gather == Gather::automatic || strategy.gather == Gather::none) &&
         strategy.domains == Domains::automatic && strategy.access == Access::automatic;
}

void plan_broadcast(Plan& plan, const Strategy& asked, const Pattern& pattern, const Topology& topology,
                    const PlanLimits& limits) {
  // Every rank has two windows, so these are small, but large enough for a request of the access mode.
  plan.window_bytes = std::min(plan.window_bytes, k_broadcast_window);
  plan.strategy = {.preset = asked.preset,
                   .owner = Owner::first,
                   .gather = Gather::none,
                   .domains = Domains::none,
                   .codec = asked.codec,
                   .codec_shuffle = asked.codec_shuffle,
                   .codec_level = asked.codec_level,
                   .codec_preferred = asked.codec_preferred,
                   .access = Access::contiguous,
                   .files = Files::one};
  plan.reasons.push_back(fmt::format("broadcast: all ranks on {} read the same, so one reads it and sends it to all",
                                     counted(topology.host_roots.size(), "host")));
  Strategy measurable = asked;
  const int64_t bytes_of_rank = pattern.bytes / topology.ranks;
  if (asked.codec == Codec::automatic && bytes_of_rank < k_least_measured) {
    measurable.codec = Codec::off;
    plan.reasons.push_back(fmt::format("codec off: {} are too few to measure links for", format_bytes(bytes_of_rank)));
  }
  choose_codec(plan, measurable, pattern, topology, limits);
}

void choose_teams(Plan& plan, const Topology& topology) {
  if (plan.strategy.gather == Gather::team)
    plan.team = plan.reading ? plan.strategy.team_read : plan.strategy.team_write;
  plan.team = std::min<int64_t>(plan.team, topology.ranks);
  if (plan.strategy.gather == Gather::host)
    plan.host_roots = topology.host_roots;
}

// Whether the ranks move each byte of the regions once, and all through windows.
bool is_whole(const Plan& plan, const Pattern& pattern) {
  int64_t region_bytes = 0;
  for (const Extent& region : pattern.regions)
    region_bytes += region.size();
  return region_bytes > 0 && plan.direct_bytes == 0 && pattern.bytes >= region_bytes && !pattern.shared_reads &&
         !pattern.overlapping;
}

// Short windows: more of them fit into the same memory.
void size_windows(Plan& plan, const std::optional<Dealing>& dealing, bool several_hosts, PlanLimits& limits) {
  const int64_t largest = largest_domain(plan, dealing), buffer = limits.buffer_bytes;
  if (limits.window_unit > 0) {
    plan.window_bytes = window_in_units(largest, buffer, limits.window_unit);
    return;
  }
  plan.window_bytes = dealing ? window_of_stripes(largest, buffer, limits.unit) : window_of(largest, buffer);
  const bool can_be_short = !several_hosts && !dealing && !plan.gathers();
  if (can_be_short && has_short_windows(largest, plan.window_bytes, limits)) {
    limits.buffers *= limits.buffer_bytes / limits.short_window;
    plan.window_bytes = limits.short_window;
  }
}

}  // namespace

bool are_alike(const PlanLimits& a, const PlanLimits& b) noexcept {
  const auto layouts_are = [](const StorageLayout* one, const StorageLayout* other) {
    return one == other || (one != nullptr && other != nullptr && *one == *other);
  };
  if (!layouts_are(a.layout.get(), b.layout.get()))
    return false;
  PlanLimits compared = a;
  compared.layout = b.layout;
  return compared == b;
}

int64_t ratio_of_64(double left_of_one) noexcept {
  int64_t of_64 = 64;
  while (of_64 > 1 && left_of_one * 64 < 0.7 * static_cast<double>(of_64))
    of_64 /= 2;
  return of_64;
}

Result<Plan> make_plan(const Strategy& strategy, const Pattern& pattern, const Topology& topology,
                       const PlanLimits& given) {
  PlanLimits limits = given;
  if (limits.buffer_bytes < 1 || limits.unit < 1)
    return Status{Code::internal, "a plan needs a buffer and a unit of at least one byte"};
  Plan plan;
  plan.reading = pattern.reading;
  plan.ranks = topology.ranks;
  const bool several_hosts = topology.host_roots.size() > 1;
  if (several_hosts)
    limits.buffer_bytes = buffer_beside_messages(limits);
  plan.window_bytes = limits.buffer_bytes;
  plan.pattern = pattern;
  plan.broadcast = broadcasts(strategy, pattern, topology);
  if (plan.broadcast) {
    plan_broadcast(plan, strategy, pattern, topology, limits);
    return plan;
  }
  const Strategy asked = without_idle_stages(strategy, pattern.reading, topology.ranks, plan.reasons);
  choose_strategy(plan, asked, pattern, topology, limits);
  if (plan.input && limits.machine_measured)
    plan.reasons.emplace_back(
        "owner, files: not chosen by predicted seconds, because they change the result; set them to change them");
  plan.whole = is_whole(plan, pattern);
  choose_teams(plan, topology);
  std::optional<Dealing> dealing;
  if (plan.strategy.domains != Domains::none)
    dealing = place_writers(plan, pattern, topology, limits);
  plan.whole_windows = limits.window_unit > 0;
  if (!plan.domains.empty())
    size_windows(plan, dealing, several_hosts, limits);
  const int64_t bytes = given.buffers * given.buffer_bytes;
  if (plan.gathers() && plan.has_domains())
    fit_two_stages(plan, bytes);
  if (dealing)
    give_cells(plan, *dealing);
  give_slots(plan, limits.buffers, bytes, several_hosts);
  give_messages(plan, bytes);
  choose_codec(plan, asked, pattern, topology, limits);
  return plan;
}

Windows windows_of(const Plan& plan, size_t domain) {
  Windows windows{.domain = plan.domains[domain],
                  .bytes = plan.window_bytes,
                  .deal = plan.deal,
                  .group = plan.deal ? static_cast<int>(static_cast<int64_t>(domain) / plan.sharers) : 0,
                  .message_bytes = plan.message_bytes};
  const bool is_first_sharer = static_cast<int64_t>(domain) % plan.sharers == 0;
  // Bytes that are filled in addition to windows follow the order of the file.
  if (plan.deal && !plan.whole_windows && (is_first_sharer || !plan.sharers_in_order))
    windows.start = windows.count() / plan.deal->groups() * windows.group;
  return windows;
}

int team_root(const Plan& plan, int rank, int host_root) {
  if (plan.team > 0)
    return static_cast<int>(rank / plan.team * plan.team);
  return plan.host_roots.empty() ? rank : host_root;
}

namespace {

// The chosen alternative first, then the others, fastest first.
std::string weighing_text(const Weighing& weighing, bool reading) {
  constexpr size_t k_most = 6;
  std::string text;
  size_t count = 0;
  for (const bool chosen : {true, false})
    for (const Alternative& each : weighing.alternatives) {
      if (each.chosen != chosen || count == k_most)
        continue;
      ++count;
      text += fmt::format("  {:<8} {}: {}", chosen ? "predicted" : "instead", short_text(each.candidate, reading),
                          format_seconds(each.seconds.total));
      text += fmt::format(" (open {}, plan {}, exchange {}, storage {})\n", format_seconds(each.seconds.open),
                          format_seconds(each.seconds.plan), format_seconds(each.seconds.exchange),
                          format_seconds(each.seconds.storage));
    }
  return text + fmt::format("  machine  {}{}\n", weighing.machine,
                            weighing.measured ? "" : ": not measured, so the seconds do not influence the choice");
}

}  // namespace

std::string describe_text(const Plan& plan) {
  const Strategy& s = plan.strategy;
  std::string gather(name_of(s.gather));
  if (plan.team > 0)
    gather = fmt::format("team({})", plan.team);
  std::string text = fmt::format("plan to {} with {}, strategy {}\n", plan.reading ? "read" : "write",
                                 counted(plan.ranks, "rank"), s.preset);
  const auto line = [&text](std::string_view axis, std::string_view choice) {
    text += fmt::format("  {:<8} {}\n", axis, choice);
  };
  line("owner", name_of(s.owner));
  line("gather", gather);
  line("domains", plan.has_domains() ? fmt::format("{}, {}", name_of(s.domains),
                                                   counted(plan.writers.size(), plan.reading ? "reader" : "writer"))
                                     : std::string(name_of(s.domains)));
  if (plan.broadcast)
    line("broadcast", "from rank 0");
  line("codec", codec_text(s));
  line("access", name_of(s.access));
  line("files", name_of(s.files));
  if (plan.direct_bytes > 0)
    line("direct", fmt::format("pieces of at least {}", counted(plan.direct_bytes, "byte")));
  line("buffer", fmt::format("up to {} of {}", plan.slots, counted(plan.window_bytes, "byte")));
  for (const std::string& reason : plan.reasons)
    text += fmt::format("  because  {}\n", reason);
  if (plan.input)
    text += weighing_text(weigh(*plan.input), plan.reading);
  return text;
}

}  // namespace windrow
