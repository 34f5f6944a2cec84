// SPDX-License-Identifier: BSD-3-Clause
// Many clients of one target: the model of the planner and the simulator predict the same cost, and plans then assign
// each target to one writer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/predict.hpp"
#include "plan/candidates.hpp"
#include "sim/machines.hpp"
#include "sim/simulate.hpp"

namespace windrow::test {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;
constexpr int64_t k_mib = int64_t{1} << 20, k_gib = int64_t{1} << 30;

Machine ranger() {
  return parse_machine(find_machine("ranger")->file, "ranger").value();
}

// Y-Lib, section IV: each rank has its bytes in one piece; or whole stripes in turn; or bricks of them.
Workload rows(int ranks, int64_t mebibytes) {
  return {.division = Division::rows, .ranks = ranks, .shape = {ranks * mebibytes, k_mib}, .element_bytes = 1};
}
Workload stripes(int ranks) {
  return {
      .division = Division::cyclic, .ranks = ranks, .shape = {ranks * k_gib / 4}, .element_bytes = 1, .block = k_mib};
}
Workload read(Workload written) {
  written.reading = true;
  return written;
}
Workload bricks(int ranks) {
  return {.division = Division::cyclic,
          .ranks = ranks,
          .shape = {ranks * 16 * k_mib},
          .element_bytes = 1,
          .block = 64 << 10};
}

Simulation run(const Machine& machine, const Workload& workload, const Options& options, bool by_machine) {
  SimulationRequest request{
      .workload = workload, .machine = machine, .settings = {}, .library = {}, .times = 1, .by_machine = by_machine};
  for (const auto& [key, value] : options)
    EXPECT_TRUE(request.settings.set(key, value).ok()) << key;
  auto simulation = simulate(request);
  EXPECT_TRUE(simulation.ok()) << simulation.status().message();
  return simulation.ok() ? std::move(simulation).value() : Simulation{};
}

// Of the storage: what the model predicts of the plan that is simulated, over what the simulation takes.
double predicted_over_simulated(const Machine& machine, const Workload& workload, const Options& options) {
  const Simulation simulation = run(machine, workload, options, true);
  EXPECT_NE(simulation.plan.input, nullptr);
  return simulation.plan.input == nullptr
             ? 0
             : chosen_of(weigh(*simulation.plan.input)).seconds.storage / simulation.seconds.storage;
}

TEST(Contention, is_predicted_as_it_is_simulated) {
  constexpr double k_tolerance = 1.5;
  for (const int64_t targets : {int64_t{16}, int64_t{128}})
    for (const int ranks : {64, 512}) {
      Machine machine = ranger();
      machine.storage.stripe_count = targets;
      const auto few = std::to_string(std::min<int64_t>(ranks, targets)),
                 many = std::to_string(std::min<int64_t>(ranks, 4 * targets));
      const std::vector<std::tuple<const char*, Workload, const char*, std::string>> cases{
          {"rows, as they are", rows(ranks, 96), "none", "0"},
          {"rows read, as they are", read(rows(ranks, 96)), "none", "0"},
          {"rows, even domains", rows(ranks, 96), "even", few},
          {"rows, by target", rows(ranks, 96), "target", few},
          {"bricks, even domains", bricks(ranks), "even", many},
          {"bricks, by target", bricks(ranks), "target", few},
          {"bricks, four to a target", bricks(ranks), "target", many},
      };
      for (const auto& [name, workload, domains, writers] : cases) {
        const double ratio = predicted_over_simulated(machine, workload,
                                                      {{"gather", "none"}, {"domains", domains}, {"writers", writers}});
        EXPECT_LE(ratio, k_tolerance) << fmt::format("{}, {} ranks, {} targets", name, ranks, targets);
        EXPECT_GE(ratio, 1 / k_tolerance) << fmt::format("{}, {} ranks, {} targets", name, ranks, targets);
      }
    }
}

// The model does not know that each rank's stripes are on one target: it assumes all targets, and predicts at least the
// actual time.
TEST(Contention, of_stripes_in_turn_is_not_predicted_too_low) {
  EXPECT_GE(predicted_over_simulated(ranger(), stripes(512), {{"gather", "none"}, {"domains", "none"}}), 0.8);
}

// The pattern that the paper calls worst: 1024 writers at each of 128 targets.
TEST(Contention, leads_to_writers_with_targets_of_their_own) {
  const Simulation all_to_all = run(ranger(), rows(1024, 1024), {{"domains", "none"}}, false);
  for (const bool by_machine : {false, true}) {
    const Simulation chosen = run(ranger(), rows(1024, 1024), {}, by_machine);
    EXPECT_EQ(chosen.plan.strategy.domains, Domains::target) << by_machine;
    EXPECT_LT(chosen.seconds.total(), 0.75 * all_to_all.seconds.total()) << by_machine;
  }
  // Within the bound, 128 clients of a target, nothing has to be brought together.
  for (const bool by_machine : {false, true})
    EXPECT_EQ(run(ranger(), rows(128, 1024), {}, by_machine).plan.strategy.domains, Domains::none) << by_machine;
  // If the length of pieces that their holders move is set, it applies.
  EXPECT_EQ(run(ranger(), rows(1024, 1024), {{"direct_bytes", "1MiB"}}, false).plan.strategy.domains, Domains::none);
}

TEST(Contention, is_found_from_measured_rates) {
  // At a target: 10 ms a request of one client, and 1 ms more for each other.
  std::vector<MeasuredRate> rates;
  for (const int64_t ranks : {int64_t{2}, int64_t{4}, int64_t{8}})
    for (const Sharing sharing : {Sharing::apart, Sharing::targets}) {
      const double seconds = 0.010 + (sharing == Sharing::apart ? 0.001 * static_cast<double>(ranks - 1) : 0);
      rates.push_back({.request_bytes = k_mib,
                       .ranks = ranks,
                       .bytes_per_s = static_cast<double>(ranks * k_mib) / seconds,
                       .sharing = sharing});
    }
  EXPECT_NEAR(turn_seconds(rates, 8), 0.001, 1e-9);
  EXPECT_EQ(turn_seconds({}, 8), 0);
  // Clients that access a target at the same time by chance wait as long as a request takes: this is not a turn.
  const auto rates_with = [](double turn_s, double waits) {
    std::vector<MeasuredRate> found;
    for (const int64_t ranks : {int64_t{2}, int64_t{4}, int64_t{8}})
      for (const int64_t bytes : {k_mib / 16, k_mib}) {
        const double own = 0.0003 + static_cast<double>(bytes) / 200e6,
                     apart = own * (1 + waits) + turn_s * static_cast<double>(ranks - 1);
        const int64_t at_work = std::min<int64_t>(ranks, 4);  // there are 4 targets
        if (ranks <= 4)
          found.push_back({.request_bytes = bytes,
                           .ranks = ranks,
                           .bytes_per_s = static_cast<double>(ranks * bytes) / own,
                           .sharing = Sharing::targets});
        found.push_back({.request_bytes = bytes,
                         .ranks = ranks,
                         .bytes_per_s = static_cast<double>(at_work * bytes) / apart,
                         .sharing = Sharing::apart});
      }
    return found;
  };
  EXPECT_NEAR(turn_seconds(rates_with(0, 0.3), 4), 0, 1e-9);
  EXPECT_NEAR(turn_seconds(rates_with(0.0005, 0), 4), 0.0005, 1e-9);
  EXPECT_NEAR(turn_seconds(rates_with(0.0005, 0.3), 4), 0.0005, 1e-9);
  // Of 64 ranks nothing was measured: as 8, and the turns of 56 more clients of each target.
  Machine machine;
  machine.writes = rates;
  machine.storage.turn_s = 0.001;
  Work work{.ranks = 64, .hosts = 64, .storage_parts = 1};
  work.storage[0] = {.sharing = Sharing::apart,
                     .ranks = 64,
                     .bytes = 64.0 * k_gib,
                     .rank_bytes = k_gib,
                     .request_bytes = k_mib,
                     .targets = 8,
                     .stripe_bytes = k_mib};
  const double seconds = 64.0 * 1024 / 8 * (0.010 + 0.007 + 0.056);
  EXPECT_NEAR(predict(work, machine).storage, seconds, 0.01 * seconds);
}

}  // namespace
}  // namespace windrow::test
