// SPDX-License-Identifier: BSD-3-Clause
// Computes the work of a candidate as numbers.
#include <algorithm>
#include <cmath>

#include "plan/candidates.hpp"
#include "plan/choose.hpp"
#include "plan/domains.hpp"

namespace windrow {
namespace {

// The agreements of create, define, flush and close with a new plan; counted in src/session.
constexpr double k_agreements = 10;

double number(int64_t count) noexcept {
  return static_cast<double>(std::max<int64_t>(0, count));
}
double at_least_one(double count) noexcept {
  return std::max(1.0, count);
}

// The pattern as averages. Divisors are never 0.
struct Facts {
  Facts(const Pattern& pattern, const Topology& topology, const PlanLimits& limits)
      : reading(pattern.reading),
        never_written(pattern.never_written),
        ranks(at_least_one(number(topology.ranks))),
        hosts(std::clamp(number(static_cast<int64_t>(topology.host_roots.size())), 1.0, ranks)),
        ranks_of_host(std::ceil(ranks / hosts)),
        holders(std::clamp(number(pattern.ranks_with_data), 1.0, ranks)),
        bytes(number(pattern.bytes)),
        pieces(std::clamp(number(pattern.pieces), 1.0, at_least_one(bytes))),
        buffer(at_least_one(number(limits.buffer_bytes))),
        bounds(limits),
        rows(pattern.pieces <= pattern.entries || pieces <= holders) {
    for (const Extent& region : pattern.regions)
      region_bytes += number(region.size());
    if (region_bytes <= 0)
      region_bytes = bytes;
    // A few ranks may hold nearly all of it.
    busiest = std::clamp(number(pattern.largest_rank_bytes), bytes / holders, bytes);
    holes = std::max(0.0, region_bytes - bytes);
    mean = at_least_one(bytes / pieces);
    if (limits.layout && limits.layout->is_striped()) {
      targets = number(count_targets(limits));
      stripe = at_least_one(number(lock_unit(*limits.layout)));
      stripes = std::ceil(region_bytes / stripe);
    }
  }

  // The share of the busiest of several parts of the regions, if parts are whole stripes.
  double busiest_share(double of) const noexcept {
    return stripes > 0 ? std::min(1.0, std::ceil(stripes / of) * stripe / region_bytes) : 1 / of;
  }

  bool reading, never_written;
  double ranks, hosts, ranks_of_host, holders;  // holders: ranks with data
  double bytes, pieces, buffer;
  const PlanLimits& bounds;
  bool rows;  // each request of a rank is one piece
  double region_bytes = 0, holes = 0, mean = 1;
  double busiest = 0;                           // bytes of one holder
  double targets = 0, stripe = 0, stripes = 0;  // stripes: of the regions. 0: unknown
};

void add_storage(Work& work, StorageWork part, const Facts& facts) {
  if (work.storage_parts == work.storage.size())
    return;
  part.reading = facts.reading;
  part.targets = facts.targets;
  part.target_bytes = facts.targets > 0 ? part.bytes * facts.busiest_share(facts.targets) : 0;
  part.stripe_bytes = facts.stripe;
  work.storage[work.storage_parts++] = part;
}

// Each holder moves its own pieces; `share` of all bytes, in pieces of `mean`.
void add_own_pieces(Work& work, const Facts& facts, double share, double mean, bool mapped) {
  const Sharing sharing = mapped ? Sharing::mapped : facts.rows ? Sharing::apart : Sharing::interleaved;
  // A row is contiguous; other pieces may lie anywhere.
  const double own = facts.busiest * share,
               span = facts.rows ? own
                                 : std::min(facts.region_bytes, std::ceil(own / mean) * std::max(mean, facts.stripe));
  add_storage(work,
              {.sharing = sharing,
               .ranks = facts.holders,
               .bytes = facts.bytes * share,
               .rank_bytes = own,
               .request_bytes = mean,
               .span_bytes = span},
              facts);
}

// Ranks pass their data to the root of their team: by shared memory on the same host, by messages otherwise.
double add_teams(Work& work, const Candidate& candidate, const Facts& facts) {
  double size = facts.ranks_of_host;
  if (candidate.strategy.gather == Gather::team)
    size = std::clamp(number(facts.reading ? candidate.strategy.team_read : candidate.strategy.team_write), 1.0,
                      facts.ranks);
  const double on_its_host = std::min(size, facts.ranks_of_host), elsewhere = size - on_its_host;
  const double of_rank = facts.bytes / facts.ranks, pieces_of_rank = facts.pieces / facts.ranks;
  work.rank_copies += facts.busiest + elsewhere * of_rank;
  work.host_copies += facts.bytes / facts.hosts + elsewhere * of_rank;
  work.rank_pieces += pieces_of_rank * (1 + elsewhere);
  work.host_pieces += facts.pieces / facts.hosts;
  work.rank_sends += elsewhere * of_rank;
  work.host_sends += elsewhere * of_rank;
  work.messages += elsewhere;
  work.sends += elsewhere > 0 ? facts.bytes * elsewhere / size : 0;
  return std::ceil(facts.ranks / size);
}

void add_roots_at_storage(Work& work, const Facts& facts, double roots) {
  const double together = facts.rows
                              ? facts.region_bytes / roots
                              : facts.mean * facts.ranks / roots;  // consecutive ranks usually hold consecutive pieces
  const bool apart = facts.rows || roots <= 1;
  const double unbroken = roots <= 1 ? facts.buffer : std::min(facts.buffer, std::max(facts.mean, together));
  work.rounds = std::ceil(facts.region_bytes / (apart ? roots : 1) / facts.buffer);
  add_storage(work,
              {.sharing = apart ? Sharing::apart : Sharing::interleaved,
               .ranks = roots,
               .bytes = facts.bytes,
               .rank_bytes = facts.bytes / roots,
               .request_bytes = facts.holes > 0 ? facts.mean : unbroken,
               .span_bytes = facts.buffer},
              facts);
}

// Senders pass their data to the aggregators of the domains. A host with an aggregator keeps its share of its own data.
void add_domains(Work& work, const Facts& facts, double writers, double senders, double share) {
  const double bytes = facts.bytes * share, pieces = facts.pieces * share;
  const double writing_hosts = std::min(writers, facts.hosts), writers_of_host = std::ceil(writers / facts.hosts);
  const double in = bytes / writing_hosts * (facts.hosts - 1) / facts.hosts,
               out = bytes / facts.hosts * (1 - 1 / writing_hosts);
  const double of_sender = std::max(facts.busiest * share, bytes / senders);
  const double in_pieces = pieces * (bytes > 0 ? in / bytes : 0);
  work.rank_copies += of_sender + in / writers_of_host;
  work.host_copies += bytes / facts.hosts + in;
  work.rank_pieces += pieces / std::min(senders, facts.holders) + in_pieces / writers_of_host;
  work.host_pieces += pieces / facts.hosts + in_pieces;
  work.rank_sends += std::max(in / writers_of_host, facts.hosts > 1 ? of_sender : 0);
  work.host_sends += std::max(in, out);
  work.sends += bytes * (facts.hosts - 1) / facts.hosts;
  if (facts.hosts < 2)
    return;
  const double senders_elsewhere = std::max(0.0, senders - std::ceil(senders / facts.hosts));
  const double taken = std::min(senders_elsewhere * work.rounds, pieces / writers),
               sent = std::min(writers * work.rounds, pieces / senders);
  work.messages += std::max(at_least_one(taken), sent);
}

bool is_dealt(Domains domains) noexcept {
  return domains == Domains::target || domains == Domains::cyclic;
}

// Bytes of a window of a domain, as make_plan() sizes it.
double window_of_domain(const Facts& facts, const Strategy& strategy, double domain) {
  const auto buffer = static_cast<int64_t>(std::min(facts.buffer, 1e18));
  const auto largest = static_cast<int64_t>(std::min(domain, 1e18));
  if (is_dealt(strategy.domains)) {
    const auto stripe = std::max<int64_t>(1, static_cast<int64_t>(facts.stripe));
    return at_least_one(number(window_of_stripes(largest, buffer, stripe)));
  }
  int64_t window = window_of(largest, buffer);
  const bool can_be_short = facts.hosts < 2 && strategy.gather == Gather::none;
  if (can_be_short && has_short_windows(largest, window, facts.bounds))
    window = facts.bounds.short_window;
  return at_least_one(number(window));
}

Sharing sharing_of(Domains domains, double writers) noexcept {
  if (domains == Domains::target)
    return Sharing::targets;
  return domains == Domains::cyclic && writers > 1 ? Sharing::interleaved : Sharing::apart;
}

void add_domains_at_storage(Work& work, const Facts& facts, const Candidate& candidate, double writers, double share) {
  const Domains domains = candidate.strategy.domains;
  const double domain = facts.region_bytes * share / writers;
  const double window = window_of_domain(facts, candidate.strategy, domain);
  work.rounds = std::ceil(domain / window);
  const Sharing sharing = sharing_of(domains, writers);
  const bool sieves = candidate.strategy.access == Access::sieve && facts.holes > 0;
  const bool is_broken = facts.holes > 0 && !sieves;
  const double unbroken = is_broken ? facts.mean : window;
  const double within_stripe = is_dealt(domains) && facts.stripe > 0 ? facts.stripe : window;
  const double bytes = sieves ? facts.region_bytes * share : std::min(facts.bytes, facts.region_bytes) * share;
  const double share_of_writer = domains == Domains::even ? 1 / writers : facts.busiest_share(writers);
  add_storage(work,
              {.sieving = sieves && !facts.never_written,
               .sharing = sharing,
               .ranks = writers,
               .bytes = bytes,
               .rank_bytes = bytes * share_of_writer,
               .request_bytes = std::min({unbroken, within_stripe, at_least_one(domain)}),
               .span_bytes = window},
              facts);
  // A lock covers all free bytes of an object, so it moves from the first writer to the next, and back for the rest.
  const double with_stripes = std::min(writers, facts.stripes);
  if (sharing == Sharing::targets && !facts.reading && facts.targets > 0 && with_stripes > facts.targets)
    work.call_backs = std::ceil(with_stripes / facts.targets);
}

}  // namespace

LocksLeft locks_left(const Pattern& pattern, const Topology& topology, const PlanLimits& limits) {
  const int64_t targets = count_targets(limits);
  if (!pattern.reading || topology.host_roots.size() < 2 || targets == 0 || pattern.bytes <= 0)
    return {};
  Pattern written = pattern;
  written.reading = false;
  int64_t direct_bytes = 0;
  std::vector<std::string> reasons;
  const Strategy strategy = choose({}, written, topology, limits, direct_bytes, reasons);
  LocksLeft left{.domains = strategy.domains, .writers = 0, .at_a_target = 1};
  if (strategy.domains != Domains::none)
    left.writers = dealt_writers(strategy.domains, automatic_writers(strategy, written, topology, limits), limits);
  if (strategy.domains == Domains::target)
    left.at_a_target = std::ceil(at_least_one(number(left.writers)) / number(targets));
  return left;
}

namespace {

void add_transfer(Work& work, const Facts& facts, const Candidate& candidate, const Pattern& pattern,
                  const LocksLeft& left) {
  const bool gathers = candidate.strategy.gather == Gather::host || candidate.strategy.gather == Gather::team;
  const bool as_written = !gathers && candidate.strategy.domains == left.domains && candidate.writers == left.writers;
  if (left.domains != Domains::automatic && !as_written)
    work.call_backs = left.at_a_target;
  if (candidate.writers <= 0 && !gathers) {
    add_own_pieces(work, facts, 1, facts.mean, candidate.strategy.access == Access::mapped);
    return;
  }
  const double senders = gathers ? add_teams(work, candidate, facts) : facts.ranks;
  if (candidate.writers <= 0) {
    add_roots_at_storage(work, facts, senders);
    return;
  }
  // Long pieces that their holders move are not exchanged.
  const bool direct = candidate.direct_bytes > 0 && pattern.long_pieces > 0;
  const double longs = direct ? std::clamp(number(pattern.long_bytes) / facts.bytes, 0.0, 1.0) : 0;
  if (direct)
    add_own_pieces(work, facts, longs, number(pattern.long_bytes) / number(pattern.long_pieces), false);
  const double writers = std::clamp(number(candidate.writers), 1.0, facts.ranks);
  add_domains_at_storage(work, facts, candidate, writers, 1 - longs);
  add_domains(work, facts, writers, senders, 1 - longs);
}

}  // namespace

Work work_of(const Candidate& candidate, const Pattern& pattern, const Topology& topology, const PlanLimits& limits,
             const LocksLeft& left) {
  const Facts facts(pattern, topology, limits);
  Work work;
  work.ranks = facts.ranks;
  work.hosts = facts.hosts;
  work.agreements = k_agreements;
  if (pattern.shrinks_to_of_64 > 0)
    work.shrinks_to = number(pattern.shrinks_to_of_64) / 64;
  work.compresses = facts.hosts > 1 && candidate.strategy.codec != Codec::off;
  if (facts.bytes > 0)
    add_transfer(work, facts, candidate, pattern, left);
  return work;
}

}  // namespace windrow
