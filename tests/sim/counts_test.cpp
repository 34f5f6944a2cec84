// SPDX-License-Identifier: BSD-3-Clause
// The simulator counts the same as the library itself, for the same pattern, options and number of ranks: messages,
// descriptions, requests, bytes, accesses to the file, and the memory of the rank with the most.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <windrow/windrow.hpp>

#include "../temporary_folder.hpp"
#include "extent/pieces.hpp"
#include "sim/simulate.hpp"

namespace windrow::test {
namespace {

using nlohmann::json;
using Options = std::vector<std::pair<std::string, std::string>>;

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int ranks_of_world() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

std::string shared_path(const std::string& name) {
  static const TemporaryFolder folder;
  std::string path = folder.path();
  path.resize(4096);
  MPI_Bcast(path.data(), static_cast<int>(path.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  return std::string(path.c_str()) + "/" + name;
}

// As the ranks of this program are.
Machine this_machine() {
  const char* each = std::getenv("WINDROW_RANKS_PER_HOST");
  Machine machine;
  machine.ranks_per_host = each ? std::atoi(each) : ranks_of_world();
  machine.hosts = ranks_of_world();
  machine.storage.targets = machine.storage.stripe_count = 3;
  machine.storage.stripe_bytes = 65536;
  return machine;
}

// What this rank holds, as blocks that the library takes.
::windrow::Decomposition decomposition_of(const Workload& workload) {
  if (workload.division == Division::same)
    return ::windrow::Decomposition::same(MPI_COMM_WORLD, workload.shape);
  const HeldElements held = held_by(workload, rank_of_world());
  if (workload.division == Division::grid) {
    const Extent whole = hull(held.elements);
    std::vector<int64_t> start, count(workload.shape.size(), 0);
    int64_t first = whole.begin, last = whole.end - 1, inner = workload.elements();
    for (size_t i = 0; i < workload.shape.size(); ++i) {
      inner /= workload.shape[i];
      start.push_back(first / inner);
      if (!whole.empty())
        count[i] = last / inner - first / inner + 1;
      first %= inner, last %= inner;
    }
    return ::windrow::Decomposition::block(MPI_COMM_WORLD, workload.shape, start, count);
  }
  std::vector<int64_t> starts, counts;
  for_each_piece(held.elements, {0, workload.elements()},
                 [&](const Piece& piece) { starts.push_back(piece.file), counts.push_back(piece.length); });
  const std::vector<int64_t> flat{workload.elements()};
  return ::windrow::Decomposition::blocks(MPI_COMM_WORLD, flat, starts, counts);
}

std::vector<int64_t> shape_of(const Workload& workload) {
  if (workload.division == Division::grid || workload.division == Division::same)
    return workload.shape;
  return {workload.elements()};
}

// The report of the call that moves lists of plain bytes.
json measured_bytes(const Workload& workload, const ::windrow::Options& options) {
  const std::string path = shared_path("plain bytes");
  std::vector<int64_t> offsets, lengths;
  for_each_piece(held_by(workload, rank_of_world()).elements, {0, workload.elements()},
                 [&](const Piece& piece) { offsets.push_back(piece.file), lengths.push_back(piece.length); });
  std::vector<char> data(static_cast<size_t>(workload.elements()));
  windrow_byte_list* list = nullptr;
  windrow_bytes* file = nullptr;
  const char* report = nullptr;
  ::windrow::check(
      windrow_byte_list_pieces(static_cast<int64_t>(offsets.size()), offsets.data(), nullptr, lengths.data(), &list));
  if (rank_of_world() == 0)  // it exists, with data between the listed bytes
    std::ofstream(path, std::ios::binary).write(data.data(), workload.elements());
  MPI_Barrier(MPI_COMM_WORLD);
  ::windrow::check(windrow_bytes_open(MPI_COMM_WORLD, path.c_str(), WINDROW_UPDATE, options.get(), &file));
  ::windrow::check(workload.reading ? windrow_bytes_read(file, list, data.data(), nullptr)
                                    : windrow_bytes_write(file, list, data.data()));
  ::windrow::check(windrow_bytes_report(file, "json", &report));
  json parsed = json::parse(report);
  ::windrow::check(windrow_bytes_close(file));
  windrow_byte_list_free(list);
  return parsed;
}

// The report of the flush that the library really makes.
json measured(const Workload& workload, const Options& options) {
  const std::string path = shared_path("a file.raw");
  ::windrow::Options all;
  for (const auto& [key, value] : options)
    all.set(key, value);
  if (workload.plain_bytes)
    return measured_bytes(workload, all);
  const auto decomposition = decomposition_of(workload);
  const auto each = static_cast<size_t>(total_bytes(held_by(workload, rank_of_world()).elements));
  std::vector<std::vector<double>> data(static_cast<size_t>(workload.variables),
                                        std::vector<double>(each, rank_of_world()));
  std::vector<int> numbers;
  auto file = ::windrow::File::create(MPI_COMM_WORLD, path, all);
  for (size_t i = 0; i < data.size(); ++i)
    numbers.push_back(file.define_variable<double>("v" + std::to_string(i), shape_of(workload)));
  if (workload.reading) {
    // For any writer: the bytes read belong to some rank, and there is no hole.
    const auto rows = ::windrow::Decomposition::same(MPI_COMM_WORLD, shape_of(workload));
    const std::vector<double> whole(static_cast<size_t>(workload.elements()));
    for (const int number : numbers)
      file.put(number, rows, whole);
    file.close();
    file = ::windrow::File::open(MPI_COMM_WORLD, path, ::windrow::Mode::read, all);
    for (size_t i = 0; i < data.size(); ++i)
      file.get(file.find_variable("v" + std::to_string(i)), decomposition, data[i]);
  } else {
    for (size_t i = 0; i < data.size(); ++i)
      file.put(numbers[i], decomposition, data[i]);
  }
  file.flush();
  const json report = json::parse(file.report("json"));
  file.close();
  return report;
}

constexpr const char* k_by_machine =
    "machine";  // an option whose value is for the library: the simulation has the same numbers

void expect_same_counts(Workload workload, Options options, const Machine& machine = this_machine()) {
  workload.ranks = ranks_of_world();
  workload.element_bytes = workload.plain_bytes ? 1 : sizeof(double);
  ASSERT_TRUE(complete(workload).ok());
  SimulationRequest request{.workload = workload, .machine = machine, .settings = {}, .library = {}};
  // The test's own settings: what a machine without measured links and with cores to spare does.
  for (const auto& [key, value] : Options{{"buffers", "4"}, {"codec", "off"}})
    options.emplace_back(key, value);
  for (const auto& [key, value] : options) {
    if (key == k_by_machine)
      request.by_machine = true;
    ASSERT_TRUE(key == k_by_machine || request.settings.set(key, value).ok()) << key;
  }
  const auto simulation = simulate(request);
  ASSERT_TRUE(simulation.ok()) << simulation.status().message();
  options.emplace_back("layout", "mock:stripe=64KiB,count=3");
  options.emplace_back("file_system", "lustre");
  const json report = measured(workload, options);
  std::string what = workload_text(workload);
  for (const auto& [key, value] : options)
    what += " " + key + "=" + value;
  SCOPED_TRACE(what + "\n" + describe_text(simulation.value().plan));
  const json& plan = report["plans"].back();
  const Simulation& counted = simulation.value();
  EXPECT_EQ(plan["domains"], std::string(name_of(counted.plan.strategy.domains)));
  EXPECT_EQ(plan["access"], std::string(name_of(counted.plan.strategy.access)));
  EXPECT_EQ(plan["writers"].get<std::vector<int>>(), counted.plan.writers);
  EXPECT_EQ(plan["buffer"], counted.plan.window_bytes);
  EXPECT_EQ(report["bytes"], counted.bytes);
  EXPECT_EQ(plan["expected"]["messages"], counted.messages);
  EXPECT_EQ(report["messages"], counted.messages);
  EXPECT_EQ(report["bytes_sent"], counted.message_bytes);
  EXPECT_EQ(report["description_messages"], counted.descriptions);
  EXPECT_EQ(report["write_requests"], counted.write_requests);
  EXPECT_EQ(report["read_requests"], counted.read_requests);
  EXPECT_EQ(report["writers"], counted.clients);
  // Messages between hosts are counted as long as they can be, and those of several ranks at once as long together as a
  // window.
  EXPECT_LE(report["peak_memory"].get<int64_t>(), 2 * counted.most_memory);
  EXPECT_GE(report["peak_memory"].get<int64_t>(), counted.most_memory / 2);
  const bool exact = counted.hosts > 1 || report["peak_memory"] == counted.most_memory;
  EXPECT_TRUE(exact) << report["peak_memory"] << " and not " << counted.most_memory;
}

void expect_same_counts_both_ways(Workload workload, const Options& options) {
  expect_same_counts(workload, options);
  workload.reading = true;
  expect_same_counts(std::move(workload), options);
}

Workload grid() {
  return {.division = Division::grid, .shape = {40, 61, 50}, .variables = 2};
}
Workload rows() {
  return {.division = Division::rows, .shape = {33'099}, .variables = 2};
}
Workload cyclic() {
  return {.division = Division::cyclic, .shape = {100'001}, .block = 100};
}

}  // namespace

TEST(Counts, are_the_librarys_of_automatic_choices) {
  for (const Workload& workload : {grid(), rows(), cyclic()})
    expect_same_counts_both_ways(workload, {});
}

// Of one pattern by machines that are good at different things: each chooses otherwise, and the simulation as the
// library does.
TEST(Counts, are_the_librarys_of_what_a_machine_file_chooses) {
  Machine requests = this_machine(), locks = this_machine(), links = this_machine();
  requests.storage.request_s = requests.storage.target_request_s = 0.01;
  locks.storage.lock_s = 1, locks.storage.target_write_bytes_per_s = 1e6;
  links.network.latency_s = links.network.message_s = links.metadata.flush_s = 0.1;
  for (const Machine& machine : {requests, locks, links}) {
    const std::string path = shared_path("a machine.json");
    if (rank_of_world() == 0)
      std::ofstream(path) << machine_text(machine);
    MPI_Barrier(MPI_COMM_WORLD);
    for (Workload workload : {grid(), rows(), cyclic()})
      for (const bool reading : {false, true}) {
        workload.reading = reading;
        expect_same_counts(workload, {{k_by_machine, path}, {"gather", "none"}}, machine);
      }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(Counts, are_the_librarys_of_each_kind_of_domains) {
  for (const char* domains : {"even", "aligned", "cyclic", "target"})
    for (const char* writers : {"0", "2", "3"})
      expect_same_counts_both_ways(grid(), {{"domains", domains}, {"writers", writers}});
  expect_same_counts_both_ways(cyclic(), {{"domains", "target"}, {"writers", "4"}, {"buffer", "64KiB"}});
}

// Of each 64 elements the ranks hold 48 in turn; no rank holds the others. New data can be written over holes without
// reading, unless no writer owns them.
TEST(Counts, are_the_librarys_of_what_is_sieved) {
  constexpr int64_t k_groups = 700;
  const int64_t each = 48 / ranks_of_world();
  Workload holed{.division = Division::lists, .shape = {64 * k_groups}, .variables = 2};
  for (int rank = 0; rank < ranks_of_world(); ++rank) {
    PiecesBuilder list;
    if (each > 0)
      list.add(::windrow::Run{.file = rank * each,
                              .memory = 0,
                              .length = each,
                              .file_stride = 64,
                              .memory_stride = each,
                              .count = k_groups});
    holed.lists.push_back(list.take());
  }
  for (const char* writers : {"1", "2"})
    expect_same_counts_both_ways(holed, {{"domains", "even"}, {"access", "sieve"}, {"writers", writers}});
  expect_same_counts_both_ways(holed, {{"domains", "aligned"}, {"access", "contiguous"}});
}

// The file has other data before the lists and between them, which is never overwritten with zeros.
TEST(Counts, are_the_librarys_of_plain_bytes) {
  constexpr int64_t k_begin = 1'000'000, k_pieces = 700, k_length = 48;
  Workload bytes{.division = Division::lists, .shape = {3 * k_begin}, .plain_bytes = true};
  for (int rank = 0; rank < ranks_of_world(); ++rank) {
    PiecesBuilder list;
    for (const int64_t begin : {k_begin, 2 * k_begin})
      list.add(::windrow::Run{.file = begin + rank * k_length,
                              .memory = 0,
                              .length = k_length,
                              .file_stride = 64 * ranks_of_world(),
                              .memory_stride = k_length,
                              .count = k_pieces});
    bytes.lists.push_back(list.take());
  }
  expect_same_counts_both_ways(bytes, {});
  for (const char* access : {"sieve", "list", "contiguous"})
    expect_same_counts_both_ways(bytes, {{"domains", "even"}, {"access", access}, {"writers", "2"}});
  expect_same_counts_both_ways(bytes, {{"domains", "target"}});
}

TEST(Counts, are_the_librarys_of_teams) {
  for (const char* team : {"team(2)", "team(3)", "host"}) {
    expect_same_counts_both_ways(rows(), {{"gather", team}, {"domains", "none"}});
    expect_same_counts_both_ways(grid(), {{"gather", team}, {"domains", "none"}, {"access", "contiguous"}});
  }
}

TEST(Counts, are_the_librarys_without_domains) {
  expect_same_counts_both_ways(grid(), {{"strategy", "list"}});
  expect_same_counts_both_ways(rows(), {{"domains", "none"}, {"access", "contiguous"}});
}

TEST(Counts, are_the_librarys_where_long_pieces_go_their_own_way) {
  expect_same_counts_both_ways(
      {.division = Division::grid, .shape = {64, 4096}, .variables = 3, .rank_grid = {ranks_of_world(), 1}},
      {{"direct_bytes", "16KiB"}, {"domains", "aligned"}});
}

TEST(Counts, are_the_librarys_of_subfiles) {
  for (const char* files : {"subfiles(2)", "subfiles(3)"})
    expect_same_counts_both_ways(grid(), {{"files", files}, {"domains", "aligned"}});
  expect_same_counts_both_ways(grid(), {{"files", "subfiles(4)"}, {"split_parts", "2x1x2"}, {"strategy", "two-phase"}});
  expect_same_counts_both_ways(rows(), {{"files", "subfiles(3)"}, {"strategy", "list"}});
  // Each file's targets, by as many writers as there are ranks, or fewer.
  for (const char* writers : {"0", "1", "2", "9"})
    expect_same_counts_both_ways(grid(), {{"files", "subfiles(3)"}, {"domains", "target"}, {"writers", writers}});
  expect_same_counts_both_ways(cyclic(), {{"files", "subfiles(2)"}, {"domains", "target"}});
}

TEST(Counts, are_the_librarys_of_more_ranks_than_elements) {
  expect_same_counts_both_ways({.division = Division::rows, .shape = {2}}, {{"strategy", "two-phase"}});
  expect_same_counts_both_ways({.division = Division::grid, .shape = {1, 3}, .rank_grid = {ranks_of_world(), 1}},
                               {{"domains", "aligned"}});
}

TEST(Counts, are_the_librarys_of_what_all_read) {
  Workload all{.division = Division::same, .reading = true, .shape = {70, 701}};
  expect_same_counts(all, {});
  expect_same_counts(all, {{"domains", "even"}, {"writers", "2"}});
}

}  // namespace windrow::test
