// SPDX-License-Identifier: BSD-3-Clause
// Turns a request into a plan, and loads into seconds. turns.cpp has the work of each rank.
#include "sim/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "extent/bins.hpp"
#include "layout/stripes.hpp"
#include "plan/limits.hpp"
#include "sim/turns.hpp"

namespace windrow {
namespace {

struct Prepared {
  Places places;
  Strategy strategy;
  PlanLimits limits;
};

// From the option stripe, otherwise from the machine.
Result<FileStripes> stripes_of(const SimulationRequest& request) {
  const MachineStorage& storage = request.machine.storage;
  FileStripes stripes{.bytes = storage.stripe_bytes, .count = storage.stripe_count, .targets = storage.targets};
  const auto asked = parse_stripes(request.settings.text("stripe"));
  if (!asked.ok())
    return asked.status();
  if (asked.value().kind != StripeRequest::Kind::numbers)
    return stripes;
  const StripeNumbers& numbers = asked.value().numbers;
  if (numbers.bytes > 0)
    stripes.bytes = numbers.bytes;
  if (numbers.count != 0)
    stripes.count = numbers.count == k_all_targets ? storage.targets : numbers.count;
  if (stripes.count <= storage.targets)
    return stripes;
  return Status{Code::bad_argument,
                fmt::format("stripe=\"{}\" needs {}, but machine \"{}\" has {}", request.settings.text("stripe"),
                            counted(stripes.count, "target"), request.machine.name, storage.targets)};
}

// The requested number; with preset subfiling without a number, one for every 8 ranks, as in the library. A file of
// plain bytes is never divided.
int64_t files_of(const SimulationRequest& request, const Strategy& strategy) {
  constexpr int64_t k_ranks_a_file = 8;
  const Choice asked = request.settings.choice("files");
  if (request.workload.plain_bytes)
    return 1;
  if (strategy.files == Files::per_rank)
    return request.workload.ranks;
  if (strategy.files != Files::subfiles)
    return 1;
  return asked.argument > 0 ? asked.argument : std::max<int64_t>(1, request.workload.ranks / k_ranks_a_file);
}

// The values of a local disk, where they were not set.
void fit_to_local(const Settings& settings, PlanLimits& limits) {
  constexpr int64_t k_local_read = int64_t{16} << 10, k_local_row = 4096, k_local_hole = 4096;
  if (!settings.is_set("direct_bytes")) {
    limits.direct_read_bytes = k_local_read;
    limits.direct_row_bytes = k_local_row;
  }
  if (!settings.is_set("sieve_hole"))
    limits.hole_bytes = k_local_hole;
  if (!settings.is_set("buffer") && settings.integer("buffers") == 0)
    limits.short_window = k_local_window;
}

void fit_unit(const std::string& storage, const Places& places, const Strategy& strategy, PlanLimits& limits) {
  constexpr int64_t k_local_unit = int64_t{64} << 10;
  if (storage == "local")
    limits.least_unit = k_local_unit;
  // file systems on which the library can query targets
  const bool shows_targets = storage == "lustre" || storage == "beegfs";
  limits.unit = shows_targets ? places.stripes().bytes : std::max(limits.unit, places.stripes().bytes);
  // For a set, the library queries the stripes of its files only with domains by target.
  const bool wants_layout = places.files() == 1 || strategy.domains == Domains::target;
  if (auto layout = shows_targets && wants_layout ? places.layout() : std::nullopt)
    limits.layout = std::make_shared<const StorageLayout>(std::move(*layout));
}

// Replaces the queries of the library to the file system and rank 0's machine.
void fit_limits(const SimulationRequest& request, const Places& places, PlanLimits& limits, Strategy& strategy) {
  const std::string& storage = request.machine.storage.kind;
  constexpr int64_t k_buffers = 4;
  if (limits.buffers == 0)
    limits.buffers = k_buffers;
  if (request.by_machine) {
    limits.machine = std::make_shared<const Machine>(request.machine);
    limits.machine_measured = true;
  }
  if (storage == "local")
    fit_to_local(request.settings, limits);
  if (request.settings.bytes("align") == 0)
    fit_unit(storage, places, strategy, limits);
  if (places.files() == 1)
    return;
  if (limits.writers == 0)
    limits.writers = std::min<int64_t>(places.files(), request.workload.ranks);
  if (strategy.access == Access::mapped)
    strategy.access = Access::automatic;
}

Result<Prepared> prepare(const SimulationRequest& request) {
  const Machine& machine = request.machine;
  const Workload& workload = request.workload;
  if (workload.division == Division::same && !workload.reading)
    return Status{Code::bad_argument, "pattern: same is for reading only"};
  if (workload.ranks > machine.hosts * machine.ranks_per_host)
    return Status{
        Code::bad_argument,
        fmt::format("machine \"{}\" has {} with {} each, fewer than {}", machine.name, counted(machine.hosts, "host"),
                    counted(machine.ranks_per_host, "rank"), counted(workload.ranks, "rank"))};
  auto strategy = parse_strategy(request_of(request.settings));
  if (!strategy.ok())
    return strategy.status();
  auto limits = limits_of(request.settings);
  if (!limits.ok())
    return limits.status();
  auto stripes = stripes_of(request);
  if (!stripes.ok())
    return stripes.status();
  const SplitRequest split{.axes = request.settings.text("split"), .parts = request.settings.text("split_parts")};
  auto places = Places::make(workload, files_of(request, strategy.value()), split, stripes.value(),
                             strategy.value().domains == Domains::target);
  if (!places.ok())
    return places.status();
  Prepared prepared{std::move(places).value(), std::move(strategy).value(), limits.value()};
  fit_limits(request, prepared.places, prepared.limits, prepared.strategy);
  return prepared;
}

// Where a file has data: of plain bytes the bins with a listed byte, as ByteFile finds them.
std::vector<Extent> regions_of(const Workload& workload, const Places& places) {
  if (!workload.plain_bytes)
    return places.regions();
  Extent all{INT64_MAX, 0};
  for (const Pieces& list : workload.lists)
    if (!list.empty())
      all = {std::min(all.begin, hull(list).begin), std::max(all.end, hull(list).end)};
  HullBins bins(all);
  for (const Pieces& list : workload.lists)
    bins.mark(list);
  return bins.regions();
}

// The reduction over all ranks.
Pattern pattern_of(const SimulationRequest& request, const Prepared& prepared) {
  const Workload& workload = request.workload;
  Pattern pattern{.reading = workload.reading,
                  .shared_reads = workload.division == Division::same,
                  .uniform = workload.division == Division::same,
                  .regions = regions_of(workload, prepared.places)};
  pattern.entries = workload.variables * workload.ranks;
  pattern.points = workload.points;
  pattern.load = workload.load;
  for (int rank = 0; rank < workload.ranks; ++rank) {
    const PlacedBytes held = prepared.places.place(held_by(workload, rank));
    int64_t bytes = 0;
    for (const Share& share : held.shares()) {
      bytes += share.total;
      pattern.pieces += extent_count(share.bytes);
      for (NestCursor cursor(share.bytes); !cursor.done(); cursor.next()) {
        if (cursor.nest().run.length < prepared.limits.direct_bytes)
          continue;
        pattern.long_bytes += cursor.nest().bytes();
        pattern.long_pieces += cursor.nest().pieces();
      }
    }
    pattern.bytes += bytes;
    pattern.ranks_with_data += bytes > 0 ? 1 : 0;
    pattern.largest_rank_bytes = std::max(pattern.largest_rank_bytes, bytes);
  }
  int64_t region_bytes = 0;
  for (const Extent& region : pattern.regions)
    region_bytes += region.size();
  // Written variables are new.
  pattern.never_written = !workload.reading && !workload.plain_bytes && region_bytes > pattern.bytes;
  if (!workload.reading)
    pattern.shrinks_to_of_64 = ratio_of_64(request.shrinks_to);
  return pattern;
}

Topology topology_of(const Machine& machine, int ranks) {
  Topology topology{.ranks = ranks, .host_roots = {}, .link_seconds = 1 / machine.network.bytes_per_s};
  for (int64_t root = 0; root < ranks; root += machine.ranks_per_host)
    topology.host_roots.push_back(static_cast<int>(root));
  return topology;
}

// Each window is simulated.
Status check_windows(const Plan& plan) {
  constexpr double k_most = 2e9;
  double windows = 0;
  for (size_t i = 0; i < plan.domains.size(); ++i)
    windows += static_cast<double>(windows_of(plan, i).count());
  for (const Extent& region : plan.pattern.regions)
    windows += static_cast<double>(region.size()) / static_cast<double>(plan.window_bytes);
  if (windows < k_most)
    return {};
  return {Code::bad_argument,
          fmt::format("the plan has {:.2g} rounds of {}: too many to simulate; use longer stripes or a larger buffer",
                      windows, format_bytes(plan.window_bytes))};
}

double tree_depth(int ranks) {
  return std::ceil(std::log2(std::max(2, ranks)));
}

// Every client accesses the single metadata server; a new file is created by one client.
double metadata_seconds(const Machine& machine, int64_t clients, int64_t files_made) {
  const MachineMetadata& metadata = machine.metadata;
  return metadata.open_s + static_cast<double>(clients) / metadata.opens_per_s +
         static_cast<double>(files_made) / metadata.creates_per_s;
}

// Overlaps the two parts of a transfer: the storage starts a phase when its first round has arrived, and finishes it
// before the next. In step, each waits for the other, except for what fits into the hosts' memory.
double transfer_seconds(const RankTurns& turns, const std::vector<double>& exchange, StageSeconds& seconds,
                        bool in_step) {
  const size_t phases = turns.phases();
  const auto together =
      std::max<size_t>(1, static_cast<size_t>(std::min(static_cast<double>(phases), turns.phases_ahead())));
  const bool waits = in_step && together == 1;
  double exchanged = 0, stored = 0;
  for (size_t first = 0; first < phases; first += together) {
    const size_t last = std::min(phases, first + together);
    const double begun = exchanged;
    for (size_t phase = first; phase < last; ++phase)
      exchanged += exchange[phase];
    const double work = turns.storage().bound_of(first, last).seconds;
    seconds.storage += work;
    const double rounds = static_cast<double>(last - first) * static_cast<double>(turns.rounds_of_phase());
    const double begins = waits ? exchanged : begun + (exchanged - begun) / rounds;
    // The storage cannot finish before the whole phase has arrived.
    stored = std::max(std::max(stored, begins) + work, exchanged);
    if (waits)
      exchanged = stored;
  }
  const double locks = turns.storage().lock_seconds();
  seconds.storage += locks;
  return std::max(stored, exchanged) + locks;
}

void add_seconds(const SimulationRequest& request, const RankTurns& turns, Simulation& simulation) {
  const Machine& machine = request.machine;
  const int ranks = request.workload.ranks;
  const auto times = static_cast<double>(request.times);
  StageSeconds& seconds = simulation.seconds;
  const double word = tree_depth(ranks) * machine.network.latency_s;
  seconds.split = static_cast<double>(request.library.splits) * machine.network.split_rank_s * ranks;
  const int64_t opens = request.library.all_open ? ranks * simulation.files : simulation.data_opens + simulation.files;
  const int64_t made = request.workload.reading ? 0 : simulation.files;
  seconds.open = times * (metadata_seconds(machine, opens, made) + 2 * word);
  seconds.close = times * (metadata_seconds(machine, opens, 0) + 2 * word);
  constexpr double k_agreements = 3;  // of the queues, of the plan, of the end; each goes up and down a tree
  seconds.plan = times * k_agreements * 2 * word;
  seconds.describe = times * turns.describe_seconds();
  std::vector<double> exchange = turns.exchange_seconds();
  for (double& each : exchange) {
    if (request.library.in_step)
      each += 2 * word;  // of each round
    seconds.exchange += each;
  }
  seconds.transfer = transfer_seconds(turns, exchange, seconds, request.library.in_step) * times;
  seconds.exchange *= times;
  seconds.storage *= times;
}

}  // namespace

Result<Simulation> simulate(const SimulationRequest& asked) {
  SimulationRequest request = asked;
  if (Status status = complete(request.workload); !status.ok())
    return status;
  if (request.library.list_pieces < 1)
    return Status{Code::bad_argument,
                  fmt::format("a list request has {} pieces; it must be at least 1", request.library.list_pieces)};
  if (request.times < 1 || request.library.splits < 0)
    return Status{Code::bad_argument,
                  "the number of repetitions must be at least 1, and the number of split communicators not negative"};
  if (!(request.shrinks_to > 0 && request.shrinks_to <= 1))
    return Status{Code::bad_argument,
                  fmt::format("messages cannot be compressed to {} of their bytes; it must be above 0 and at most 1",
                              request.shrinks_to)};
  auto prepared = prepare(request);
  if (!prepared.ok())
    return prepared.status();
  const Topology topology = topology_of(request.machine, request.workload.ranks);
  const Pattern pattern = pattern_of(request, prepared.value());
  auto plan = make_plan(prepared.value().strategy, pattern, topology, prepared.value().limits);
  if (!plan.ok())
    return plan.status();
  if (Status status = check_windows(plan.value()); !status.ok())
    return status;
  Simulation simulation;
  simulation.plan = std::move(plan).value();
  simulation.workload = workload_text(request.workload);
  simulation.machine = request.machine.name;
  const Places& places = prepared.value().places;
  if (places.files() > 1)
    simulation.plan.strategy.files = Files::subfiles;
  simulation.layout = fmt::format("stripes of {} on {} of {}", format_bytes(places.stripes().bytes),
                                  places.stripes().count, counted(places.stripes().targets, "target"));
  simulation.hosts = static_cast<int64_t>(topology.host_roots.size());
  simulation.files = places.files();
  simulation.bytes = pattern.bytes;
  RankTurns turns(request, simulation.plan, places, prepared.value().limits, simulation);
  turns.run();
  add_seconds(request, turns, simulation);
  return simulation;
}

}  // namespace windrow
