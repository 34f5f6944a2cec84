// SPDX-License-Identifier: BSD-3-Clause
// Simulation, not measurement: the headlines of the papers on the modelled machines, within factors that
// docs/simulation.md states. What each machine's numbers are fitted to is there too; a headline that a fit does not
// touch is a prediction.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <array>
#include <random>
#include <set>

#include "sim/machines.hpp"
#include "sim/simulate.hpp"

namespace windrow::test {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;
constexpr int64_t k_mib = int64_t{1} << 20, k_gib = int64_t{1} << 30;

// Collective writes and reads of MPI-IO as it was then: everybody opens the file, and rounds are in step.
constexpr LibraryModel k_mpi_io{.all_open = true, .in_step = true};

Machine machine_of(const char* name) {
  return parse_machine(find_machine(name)->file, name).value();
}

Simulation run(const Machine& machine, const Workload& workload, const Options& options, LibraryModel library = {},
               int64_t times = 1, double shrinks_to = k_usual_ratio) {
  SimulationRequest request{.workload = workload,
                            .machine = machine,
                            .settings = {},
                            .library = library,
                            .times = times,
                            .shrinks_to = shrinks_to};
  for (const auto& [key, value] : options)
    EXPECT_TRUE(request.settings.set(key, value).ok()) << key;
  auto simulation = simulate(request);
  EXPECT_TRUE(simulation.ok()) << simulation.status().message();
  return simulation.ok() ? std::move(simulation).value() : Simulation{};
}

Simulation run(const char* machine, const Workload& workload, const Options& options, LibraryModel library = {},
               int64_t times = 1) {
  return run(machine_of(machine), workload, options, library, times);
}

void expect_within(double value, double paper, double factor, const std::string& what) {
  EXPECT_LE(value, paper * factor) << what;
  EXPECT_GE(value, paper / factor) << what;
}

// Y-Lib, section IV: each rank has 1 GiB; "conforming" is one piece, "one to one" all stripes of one target.
Workload conforming(int ranks) {
  return {.division = Division::rows, .ranks = ranks, .shape = {ranks * 1024, k_mib}, .element_bytes = 1};
}
Workload one_to_one(int ranks) {
  return {.division = Division::cyclic, .ranks = ranks, .shape = {ranks * k_gib}, .element_bytes = 1, .block = k_mib};
}

// SCORPIO, section V.
Workload two_datasets(int ranks, int64_t elements, bool reading) {
  return {.division = Division::rows,
          .reading = reading,
          .ranks = ranks,
          .shape = {elements},
          .element_bytes = 4,
          .variables = 2};
}
double read_and_write(int64_t elements, const Options& options, LibraryModel library) {
  double seconds = 0;
  for (const bool reading : {true, false})
    seconds += run("jaguar", two_datasets(147'456, elements, reading), options, library).seconds.total();
  return seconds;
}

// Section II, Fig. 4: each dataset is a new opening of the file. The number of datasets read is not given; two, as in
// the benchmark of section V.
constexpr int k_datasets = 2;
double read_of_pflotran(bool by_teams) {
  const Workload dataset{
      .division = Division::rows, .reading = true, .ranks = 65'536, .shape = {18'000'000}, .element_bytes = 8};
  return by_teams ? run("jaguar", dataset, {{"strategy", "scorpio"}}, {.splits = 1}, k_datasets).seconds.total()
                  : run("jaguar", dataset, {{"strategy", "two-phase"}}, k_mpi_io, k_datasets).seconds.total();
}

// Section III, Fig. 5: groups of 16, "a 3-d block of data to a specified offset". The grid and the 5.8 GB are Fig.
// 10's: three variables of 8 bytes.
Workload blocks_of_pflotran(int ranks) {
  return {.division = Division::grid, .ranks = ranks, .shape = {960, 960, 240}, .element_bytes = 8, .variables = 3};
}
double write_of_pflotran(int ranks, bool by_teams) {
  return by_teams ? run("jaguar", blocks_of_pflotran(ranks), {{"strategy", "scorpio"}}, {.splits = 1}).seconds.total()
                  : run("jaguar", blocks_of_pflotran(ranks), {{"strategy", "two-phase"}}, k_mpi_io).seconds.total();
}

// BIPS3D's meshes (table 3), each with the intervals a part that table 4 counts with 8 parts: METIS's owners, and
// IDG's.
struct Mesh {
  int64_t nodes;
  double metis, idg;
};
constexpr std::array<Mesh, 4> k_meshes{
    {{47'219, 258, 88.3}, {32'888, 203.8, 67.1}, {73'260, 244, 57}, {289'650, 965.5, 126}}};

// The meshes are not published: each part has an equal share of the nodes, in so many intervals of random lengths, and
// parts have theirs in turn. Integers of 4 bytes.
Workload mesh_of(int64_t nodes, int parts, double intervals, int64_t load) {
  const auto each = static_cast<int64_t>(intervals + 0.5);
  std::minstd_rand random(12'345);
  std::vector<std::vector<int64_t>> ends(static_cast<size_t>(parts));
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t mine = nodes * (part + 1) / parts - nodes * part / parts;
    std::set<int64_t> cuts{mine};
    while (static_cast<int64_t>(cuts.size()) < each)
      cuts.insert(1 + static_cast<int64_t>(random()) % (mine - 1));
    ends[static_cast<size_t>(part)].assign(cuts.begin(), cuts.end());
  }
  std::vector<PiecesBuilder> builders(static_cast<size_t>(parts));
  int64_t node = 0;
  for (size_t interval = 0; interval < static_cast<size_t>(each); ++interval)
    for (size_t part = 0; part < builders.size(); ++part) {
      const int64_t begin = interval == 0 ? 0 : ends[part][interval - 1], length = ends[part][interval] - begin;
      builders[part].add(Piece{node * load, begin * load, length * load});
      node += length;
    }
  Workload workload{.division = Division::lists,
                    .ranks = parts,
                    .shape = {nodes * load},
                    .element_bytes = 4,
                    .points = nodes,
                    .load = load};
  for (PiecesBuilder& builder : builders)
    workload.lists.push_back(builder.take());
  return workload;
}

// PVFS's list I/O carries 64 pieces. The paper's times are without opening the file.
double without_opening(const Simulation& simulation) {
  return simulation.seconds.total() - simulation.seconds.open - simulation.seconds.close;
}
double by_lists(const char* machine, const Workload& mesh) {
  return without_opening(
      run(machine, mesh, {{"strategy", "list"}, {"owner", "first"}}, {.all_open = true, .list_pieces = 64}));
}
double by_two_phases(const char* machine, const Workload& mesh) {
  return without_opening(run(machine, mesh,
                             {{"strategy", "two-phase"}, {"writers", std::to_string(mesh.ranks)}, {"buffer", "4MiB"}},
                             k_mpi_io));
}

// The least load from which lists are faster, of 1 to 500 as the paper tried.
int64_t load_of_lists(const char* machine, const Mesh& mesh) {
  int64_t from = 1;
  for (int64_t load = 1; load <= 500; load += load < 20 ? 1 : load < 200 ? 5 : 50) {
    const Workload workload = mesh_of(mesh.nodes, 8, mesh.metis, load);
    if (by_lists(machine, workload) >= by_two_phases(machine, workload))
      from = load + 1;
  }
  return from;
}

// TPC's stage st6, the exchange of two-phase I/O, of mesh 1; intervals of table 4 of the paper on BIPS3D, that has the
// same meshes (none for 4 parts).
struct Parts {
  int parts;
  double intervals;
};
constexpr std::array<Parts, 4> k_parts{{{4, 300}, {8, 258}, {16, 217.4}, {32, 169.6}}};
Simulation exchanged(const Machine& machine, Parts of, int64_t load, const char* codec, double shrinks_to) {
  return run(machine, mesh_of(47'200, of.parts, of.intervals, load),
             {{"strategy", "tpc"}, {"codec", codec}, {"writers", std::to_string(of.parts)}, {"buffer", "4MiB"}},
             k_mpi_io, 1, shrinks_to);
}
double less_of_exchange(const Machine& machine, Parts of, int64_t load, double shrinks_to) {
  return 1 - exchanged(machine, of, load, "auto", shrinks_to).seconds.exchange /
                 exchanged(machine, of, load, "off", 1).seconds.exchange;
}

// Subfiling, section V A: 256 x 256 x 256 elements of 4 bytes for each of 8 x 8 x 8 ranks.
Workload blocks_of_512() {
  return {.division = Division::grid,
          .ranks = 512,
          .shape = {2048, 2048, 2048},
          .element_bytes = 4,
          .rank_grid = {8, 8, 8}};
}
double with_files(const char* machine, const char* parts, int files) {
  return run(machine, blocks_of_512(),
             {{"strategy", "subfiling"},
              {"files", fmt::format("subfiles({})", files)},
              {"split_parts", parts},
              {"writers", machine[0] == 'f' ? "128" : "256"}},
             {.in_step = true})
      .seconds.total();
}
double with_one_file(const char* machine) {
  return run(machine, blocks_of_512(), {{"strategy", "two-phase"}, {"writers", machine[0] == 'f' ? "128" : "256"}},
             k_mpi_io)
      .seconds.total();
}
double with_a_file_each(const char* machine) {
  return run(machine, blocks_of_512(),
             {{"strategy", "subfiling"}, {"files", "subfiles(512)"}, {"split_parts", "8x8x8"}})
      .seconds.total();
}

}  // namespace

// "Between 300 % and 1000 %", section V, Fig. 6 (as its text has it): MPI-IO brings the one-to-one pattern into even
// domains, Y-Lib the conforming one into one to one.
TEST(YLib, is_3_to_10_times_faster_than_even_domains) {
  double before = 0;
  for (const int ranks : {128, 256, 512, 1024}) {
    const std::string writers = std::to_string(ranks);
    const double even = run("ranger", one_to_one(ranks),
                            {{"strategy", "two-phase"}, {"writers", writers}, {"buffer", "4MiB"}}, k_mpi_io)
                            .seconds.total();
    const double targets =
        run("ranger", conforming(ranks), {{"strategy", "ylib"}, {"writers", writers}, {"buffer", "4MiB"}},
            {.all_open = true, .in_step = true, .at_once = true})
            .seconds.total();
    const double gain = even / targets;
    EXPECT_GE(gain, 3) << ranks;
    EXPECT_LE(gain, 10) << ranks;
    EXPECT_GT(gain, before) << ranks;
    before = gain;
  }
}

// "Up to a factor of three" where nothing is redistributed.
TEST(YLib, is_up_to_3_times_faster_without_redistribution) {
  double most = 0;
  for (const int ranks : {128, 256, 512, 1024}) {
    const double rows =
        run("ranger", conforming(ranks), {{"domains", "none"}, {"access", "list"}}, k_mpi_io).seconds.total();
    const double stripes = run("ranger", one_to_one(ranks), {{"domains", "none"}, {"access", "list"}}).seconds.total();
    EXPECT_GE(rows / stripes, 1) << ranks;
    most = std::max(most, rows / stripes);
  }
  expect_within(most, 3, 1.2, "most");
}

// Rounds of 4 MiB, and yet no writer waits for the rank that another one waits for.
TEST(YLib, exchanges_rows_in_bounded_rounds_as_fast_as_at_once) {
  const Options options{{"strategy", "ylib"}, {"writers", "128"}, {"buffer", "4MiB"}};
  const double rounds = run("ranger", conforming(128), options).seconds.exchange,
               at_once = run("ranger", conforming(128), options, {.at_once = true}).seconds.exchange;
  EXPECT_LE(rounds, 1.05 * at_once);
}

TEST(YLib, touches_one_target_with_each_writer) {
  const Simulation simulation = run("ranger", conforming(128), {{"strategy", "ylib"}, {"writers", "128"}});
  EXPECT_EQ(simulation.plan.strategy.domains, Domains::target);
  int rows = 0;
  for (const TargetRow& row : simulation.rows) {
    rows += row.last_rank - row.first_rank + 1;
    EXPECT_EQ(std::count_if(row.bytes.begin(), row.bytes.end(), [](double bytes) { return bytes > 0; }),
              row.last_rank - row.first_rank + 1);
  }
  EXPECT_EQ(rows, 128);
  EXPECT_EQ(simulation.write_requests, 128 * 1024);
}

TEST(Scorpio, reads_25_times_faster_at_65536) {
  const Workload dataset{
      .division = Division::rows, .reading = true, .ranks = 65'536, .shape = {18'000'000}, .element_bytes = 8};
  const Simulation all = run("jaguar", dataset, {{"strategy", "two-phase"}}, k_mpi_io, k_datasets);
  const Simulation teams = run("jaguar", dataset, {{"strategy", "scorpio"}}, {.splits = 1}, k_datasets);
  EXPECT_EQ(teams.plan.team, 1024);
  EXPECT_EQ(teams.plan.strategy.domains, Domains::none) << "a root's rows are one piece";
  EXPECT_EQ(teams.clients, 64);
  expect_within(read_of_pflotran(false) / read_of_pflotran(true), 25, 1.3, "gain");
  EXPECT_GT(all.seconds.open + all.seconds.close, 0.9 * all.seconds.total());
}

// Nothing was fitted to this: opening is, to the 535 s of the read and write at 144 K.
TEST(Scorpio, writes_blocks_3_times_faster_at_65536) {
  const double gain = write_of_pflotran(65'536, false) / write_of_pflotran(65'536, true);
  EXPECT_GE(gain, 2.5);
  expect_within(gain, 3, 1.6, "gain");
  EXPECT_GT(gain, write_of_pflotran(8192, false) / write_of_pflotran(8192, true)) << "it grows with the ranks";
  // The second phase is what does it: the rows of each team's blocks are more requests than all else.
  const Simulation two = run("jaguar", blocks_of_pflotran(65'536), {{"strategy", "scorpio"}}),
                   one = run("jaguar", blocks_of_pflotran(65'536), {{"strategy", "scorpio"}, {"domains", "none"}});
  EXPECT_EQ(two.write_requests, 5063) << "stripes";
  EXPECT_EQ(one.write_requests, 5'530'696);
  EXPECT_GT(one.seconds.total(), write_of_pflotran(65'536, false));
}

// "Resulted in an overall speedup of 5X for the entire application", section III. What the rest of the application
// takes is not said: so much that the paper's own 25 and 3 make 5 of the seconds that reading and writing take here
// without teams.
TEST(Scorpio, makes_the_whole_application_5_times_faster) {
  const double read = read_of_pflotran(false), written = write_of_pflotran(65'536, false);
  const double rest = (read + written - 5 * (read / 25 + written / 3)) / 4;
  EXPECT_GT(rest, 0);
  const double gain = (read + written + rest) / (read_of_pflotran(true) + write_of_pflotran(65'536, true) + rest);
  expect_within(gain, 5, 1.3, "gain");
}

// Section V: 14 GB in 535 and 129 seconds; 1.7 GB 12 times faster.
TEST(Scorpio, reads_and_writes_4_and_12_times_faster_at_144_k) {
  const int64_t large = 1920 * 1920 * 480, small = 960 * 960 * 240;
  const double all = read_and_write(large, {{"strategy", "two-phase"}}, k_mpi_io),
               teams = read_and_write(large, {{"strategy", "scorpio"}}, {.splits = 1});
  expect_within(all, 535, 1.1, "all ranks, 14 GB");
  expect_within(teams, 129, 1.1, "teams, 14 GB");
  EXPECT_GT(all / teams, 4 / 1.1);
  const double small_all = read_and_write(small, {{"strategy", "two-phase"}}, k_mpi_io),
               small_teams = read_and_write(small, {{"strategy", "scorpio"}}, {.splits = 1});
  expect_within(small_all / small_teams, 12, 1.6, "1.7 GB");
}

TEST(Scorpio, spends_most_time_opening_where_all_ranks_open) {
  const Simulation all =
      run("jaguar", two_datasets(147'456, 1920 * 1920 * 480, true), {{"strategy", "two-phase"}}, k_mpi_io);
  EXPECT_GT(all.seconds.open + all.seconds.close, all.seconds.transfer);
  const Simulation ours = run("jaguar", two_datasets(147'456, 1920 * 1920 * 480, true), {{"strategy", "scorpio"}});
  EXPECT_LT(ours.seconds.open, 0.01 * all.seconds.open);
  EXPECT_EQ(ours.data_opens, 144);
}

// Section V A: "up to 239.589 % improvement relative to one shared file was observed on Lustre and 97.654 % on Mercury
// in the 512-process case". On Lustre a file for each process is faster still; on GPFS it is slower than subfiles.
TEST(Subfiling, is_ahead_of_the_shared_file_at_512) {
  const double franklin = with_one_file("franklin"), mercury = with_one_file("mercury");
  const double lustre = std::min(with_files("franklin", "4x4x4", 64), with_files("franklin", "2x4x4", 32));
  const double gpfs = std::min(with_files("mercury", "4x4x4", 64), with_files("mercury", "2x4x4", 32));
  expect_within(franklin / lustre, 3.4, 1.3, "Franklin");
  expect_within(mercury / gpfs, 1.98, 1.3, "Mercury");
  EXPECT_LT(with_a_file_each("franklin"), lustre);
  EXPECT_GT(with_a_file_each("mercury"), gpfs);
}

// Section 6.1 and Fig. 7: over Myrinet lists are better from a load of 90 on, of meshes of more than 70 000 nodes from
// 50 on. The first is fitted (target_request_s).
TEST(Bips3d, writes_lists_of_large_loads_and_two_phases_of_small_ones_over_myrinet) {
  expect_within(static_cast<double>(load_of_lists("bips3d-myrinet", k_meshes[0])), 90, 1.3, "mesh 1");
  expect_within(static_cast<double>(load_of_lists("bips3d-myrinet", k_meshes[1])), 90, 1.3, "mesh 2");
  expect_within(static_cast<double>(load_of_lists("bips3d-myrinet", k_meshes[2])), 50, 1.3, "mesh 3");
  expect_within(static_cast<double>(load_of_lists("bips3d-myrinet", k_meshes[3])), 50, 2.1, "mesh 4");
}

// "The most adequate I/O configuration is list I/O in all the cases": here from loads on that are a fiftieth of the
// largest.
TEST(Bips3d, writes_lists_over_fast_ethernet) {
  for (const Mesh& mesh : k_meshes)
    EXPECT_LE(load_of_lists("bips3d-ethernet", mesh), 10) << mesh.nodes;
}

// Section 6.2.1, Fig. 8: "IDG is the most competitive approach in almost all the considered scenarios", "the larger
// number of nodes is, the more the performance increases".
TEST(Bips3d, is_faster_by_interval_data_grouping) {
  const auto gain = [](const char* machine, const Mesh& mesh, int64_t load) {
    return by_lists(machine, mesh_of(mesh.nodes, 8, mesh.metis, load)) /
           by_lists(machine, mesh_of(mesh.nodes, 8, mesh.idg, load));
  };
  for (const char* machine : {"bips3d-ethernet", "bips3d-myrinet"}) {
    for (const Mesh& mesh : k_meshes)
      for (const int64_t load : {1, 10, 100, 500}) {
        EXPECT_GE(gain(machine, mesh, load), 0.99) << machine << ", " << mesh.nodes << " nodes, load " << load;
        EXPECT_LE(gain(machine, mesh, load), mesh.metis / mesh.idg) << "no more than there are fewer intervals";
      }
    EXPECT_GT(gain(machine, k_meshes[2], 1), gain(machine, k_meshes[0], 1)) << machine;
    EXPECT_GT(gain(machine, k_meshes[3], 1), gain(machine, k_meshes[2], 1)) << machine;
  }
}

// Tables 3 and 6: of the 9 440 000 elements of mesh 1 with load 200 so many go to another process.
TEST(Tpc, sends_nearly_all_elements_to_other_processes) {
  constexpr std::array<double, 4> k_of_paper{7'199'600, 8'912'200, 9'173'200, 9'274'400};
  for (size_t i = 0; i < k_parts.size(); ++i) {
    const Simulation simulation = exchanged(machine_of("tpc"), k_parts[i], 200, "off", 1);
    expect_within(static_cast<double>(simulation.message_bytes) / 4, k_of_paper[i], 1.1,
                  std::to_string(k_parts[i].parts));
  }
}

// Section 5.2: integers lose 49 % of their bytes and floats 23 %, which take 67.7 and 78.6 ms a buffer; st6 takes less
// time, of integers more so, and the less so the more processes there are.
TEST(Tpc, exchanges_faster_what_is_compressed) {
  const Machine machine = machine_of("tpc");
  Machine floats = machine;
  floats.codecs.front().encode_bytes_per_s = 4 * static_cast<double>(k_mib) / 67.7e-3;
  floats.codecs.front().decode_bytes_per_s = 4 * static_cast<double>(k_mib) / 78.6e-3;
  double before = 1;
  for (const Parts& parts : k_parts) {
    const double of_integers = less_of_exchange(machine, parts, 200, 0.51),
                 of_floats = less_of_exchange(floats, parts, 200, 0.77);
    EXPECT_LE(of_integers, 0.49);
    EXPECT_GE(of_integers, 0.45);
    EXPECT_LE(of_floats, 0.23);
    EXPECT_GT(of_integers, of_floats);
    EXPECT_LT(of_integers, before);
    before = of_integers;
  }
}

// "The maximum improvement" is 98.8 % for zeros, which LZO removes. With the speed of table 4, which is for the numbers
// of a mesh, only 83 % follow: the rest is the time to compress. The paper does not give LZO's speed for zeros; with 1
// GB/s the rest follows.
TEST(Tpc, exchanges_zeros_as_fast_as_the_compressor_is) {
  const Parts largest = k_parts.back();
  expect_within(less_of_exchange(machine_of("tpc"), largest, 500, 0.01), 0.8, 1.05, "with table 4's speed");
  Machine fast = machine_of("tpc");
  fast.codecs.front().encode_bytes_per_s = fast.codecs.front().decode_bytes_per_s = 1e9;
  expect_within(less_of_exchange(fast, largest, 500, 0.01), 0.988, 1.05, "with 1 GB/s");
}

// "144 000 ranks simulate in under 60 s and 4 GiB": an irregular enough pattern, with an exchange.
TEST(Scale, of_144000_ranks_is_simulated_in_4_gib) {
  const Workload grid{.division = Division::grid,
                      .ranks = 144'000,
                      .shape = {1920, 1920, 480},
                      .element_bytes = 4,
                      .variables = 2,
                      .rank_grid = {60, 60, 40}};
  const Simulation simulation = run("jaguar", grid, {{"strategy", "two-phase"}});
  EXPECT_EQ(simulation.bytes, int64_t{1920} * 1920 * 480 * 8);
  EXPECT_EQ(simulation.clients, 12'000);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 4 * k_mib) << "KiB";
}

}  // namespace windrow::test
