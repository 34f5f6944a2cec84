// SPDX-License-Identifier: BSD-3-Clause
// bench-planning [MACHINE-FILE]: how long choosing and planning take, and how much memory, on one rank. No MPI: what is
// measured is the planner itself.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>
#include <sstream>
#include <vector>

#include "model/defaults.hpp"
#include "plan/candidates.hpp"
#include "plan/plan.hpp"

namespace {

// Bytes that are held, and the most that were.
int64_t g_held = 0, g_most = 0;

void* take(size_t size) {
  constexpr size_t k_head = 16;
  auto* head = static_cast<size_t*>(std::malloc(size + k_head));
  if (head == nullptr)
    throw std::bad_alloc();
  *head = size;
  g_held += static_cast<int64_t>(size);
  g_most = std::max(g_most, g_held);
  return reinterpret_cast<char*>(head) + k_head;
}
void give(void* memory) noexcept {
  if (memory == nullptr)
    return;
  auto* head = reinterpret_cast<size_t*>(static_cast<char*>(memory) - 16);
  g_held -= static_cast<int64_t>(*head);
  std::free(head);
}

}  // namespace

void* operator new(size_t size) {
  return take(size);
}
void* operator new[](size_t size) {
  return take(size);
}
void operator delete(void* memory) noexcept {
  give(memory);
}
void operator delete[](void* memory) noexcept {
  give(memory);
}
void operator delete(void* memory, size_t) noexcept {
  give(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  give(memory);
}

namespace {

using namespace windrow;

// Of the fastest of several: what else runs only adds.
template <class Work>
double seconds_of(Work&& work) {
  double best = 1e9;
  for (int i = 0; i < 7; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

Machine machine_of(int argc, char** argv) {
  if (argc < 2)
    return default_machine("lustre");
  std::ifstream stream(argv[1], std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  auto machine = parse_machine(text.str(), argv[1]);
  if (machine.ok())
    return std::move(machine).value();
  std::fprintf(stderr, "bench-planning: %s\n", machine.status().message().c_str());
  std::exit(2);
}

void measure(const Machine& machine, int ranks, int hosts) {
  Topology topology{.ranks = ranks, .host_roots = {}};
  for (int host = 0; host < hosts; ++host)
    topology.host_roots.push_back(static_cast<int>(int64_t{host} * ranks / hosts));
  StorageLayout layout{.kind = LayoutKind::mock,
                       .components = {{.stripe_bytes = int64_t{1} << 20, .stripe_count = 64, .targets = {}}}};
  for (int64_t target = 0; target < 64; ++target)
    layout.components[0].targets.push_back(target);
  PlanLimits limits;
  limits.layout = std::make_shared<const StorageLayout>(layout);
  limits.unit = int64_t{1} << 20;
  limits.machine = std::make_shared<const Machine>(machine);
  limits.machine_measured = true;
  const int64_t bytes = int64_t{ranks} << 24;
  const Pattern pattern{.bytes = bytes,
                        .pieces = bytes / 512,
                        .entries = ranks,
                        .ranks_with_data = ranks,
                        .largest_rank_bytes = bytes / ranks,
                        .regions = {{4096, 4096 + 2 * bytes}}};
  const Strategy automatic;
  const Candidate rule{.strategy = parse_strategy({.preset = "two-phase"}).value(), .writers = hosts};
  size_t count = 0;
  const double choosing = seconds_of([&] {
    count = weigh({.asked = automatic, .pattern = pattern, .topology = topology, .limits = limits, .rule = rule})
                .alternatives.size();
  });
  std::printf("%7d ranks on %5d hosts: choosing among %zu candidates %.3f ms;", ranks, hosts, count, 1e3 * choosing);
  const int64_t before = g_held;
  g_most = g_held;
  const double planning = seconds_of([&] { (void)make_plan(Strategy{}, pattern, topology, limits); });
  std::printf(" planning %.2f ms, %.2f MiB at most\n", 1e3 * planning,
              static_cast<double>(g_most - before) / (1 << 20));
}

}  // namespace

int main(int argc, char** argv) {
  const Machine machine = machine_of(argc, argv);
  for (const auto& [ranks, hosts] : {std::pair{8, 1}, {64, 8}, {4096, 64}, {131'072, 1024}, {131'072, 16'384}})
    measure(machine, ranks, hosts);
  return 0;
}
