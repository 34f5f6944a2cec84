// SPDX-License-Identifier: BSD-3-Clause
// bench-idg: writers of the nodes that several parts of a mesh hold (bench/README.md, "idg"). One run is one mesh with
// as many parts as ranks. Prints one line "IDG {...}": nodes, replicas, seconds, and for each owner the intervals and
// the imbalance.
#include <mpi.h>
#include <sys/resource.h>
#include <windrow/windrow.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "mesh/metis_files.hpp"
#include "mesh/partition.hpp"
#include "mesh/read.hpp"

namespace bench {
namespace {

using nlohmann::json;
using windrow::mesh::NodeGraph;

struct Settings {
  std::string mesh, numbering = "generator";
  int64_t box = 0;
  int repeat = 5;
  std::vector<int> imbalances;
};

// The nodes of a part: as the paper has it, those the partitioner gave it and the neighbours of these.
struct Part {
  std::vector<int64_t> list;
  std::vector<unsigned char> owned;
};

struct Cut {
  int64_t nodes = 0, edges = 0, shared = 0, replicas = 0, least_intervals = 0;
  double classify_seconds = 0;
  std::vector<Part> parts;
};

NodeGraph read_graph(const Settings& settings) {
  if (settings.mesh.ends_with(".graph"))
    return windrow::mesh::read_metis_graph(settings.mesh);
  auto mesh = windrow::mesh::read_mesh(settings.mesh, "");
  if (settings.numbering == "cuthill-mckee")
    windrow::mesh::renumber_cuthill_mckee(mesh);
  std::vector<int64_t> connectivity;
  for (const auto& tetrahedron : mesh.tetrahedra)
    connectivity.insert(connectivity.end(), tetrahedron.begin(), tetrahedron.end());
  auto lists = windrow::mesh_neighbours(static_cast<int64_t>(mesh.nodes.size()), WINDROW_TETRAHEDRON, connectivity);
  return {std::move(lists.offsets), std::move(lists.numbers)};
}

// The minimum number of intervals: each continues as long as some part holds all of it.
int64_t least_intervals(const windrow::Lists<int>& parts, int64_t nodes) {
  int64_t intervals = 0;
  std::vector<int> going, both;
  for (int64_t node = 0; node < nodes; ++node) {
    const auto list = parts[static_cast<size_t>(node)];
    both.clear();
    std::copy_if(going.begin(), going.end(), std::back_inserter(both),
                 [&](int part) { return std::find(list.begin(), list.end(), part) != list.end(); });
    intervals += both.empty() ? 1 : 0;
    going = both;
    if (both.empty())
      going.assign(list.begin(), list.end());
  }
  return intervals;
}

// On rank 0.
Cut cut_graph(const NodeGraph& graph, int parts) {
  Cut cut;
  cut.nodes = static_cast<int64_t>(graph.starts.size()) - 1;
  cut.edges = static_cast<int64_t>(graph.neighbours.size()) / 2;
  cut.parts.resize(static_cast<size_t>(parts));
  std::vector<int> partition(static_cast<size_t>(cut.nodes));
  const auto given = windrow::mesh::partition(graph, parts);
  for (size_t part = 0; part < given.size(); ++part)
    for (size_t i = 0; i < given[part].numbers.size(); ++i)
      if (given[part].owned[i] != 0)
        partition[static_cast<size_t>(given[part].numbers[i])] = static_cast<int>(part);
  const windrow::Lists<int64_t> neighbours{graph.starts, graph.neighbours};
  const double begin = MPI_Wtime();
  const auto lists = windrow::classify_nodes(neighbours, partition);
  cut.classify_seconds = MPI_Wtime() - begin;
  for (int64_t node = 0; node < cut.nodes; ++node) {
    const auto list = lists[static_cast<size_t>(node)];
    cut.shared += list.size() > 1 ? 1 : 0;
    cut.replicas += static_cast<int64_t>(list.size());
    for (const int part : list) {
      cut.parts[static_cast<size_t>(part)].list.push_back(node);
      cut.parts[static_cast<size_t>(part)].owned.push_back(part == partition[static_cast<size_t>(node)] ? 1 : 0);
    }
  }
  cut.least_intervals = least_intervals(lists, cut.nodes);
  return cut;
}

// A box of nodes in as many blocks as there are parts, each with the layer of neighbours around it: what a mesh of any
// size looks like to a rank, without one that holds all of it. Numbered in the order of space, or scattered, as gmsh's
// own numbers nearly are.
struct Box {
  std::array<int64_t, 3> nodes{}, parts{};

  Box(int64_t about, int size) {
    nodes.fill(std::max<int64_t>(2, std::llround(std::cbrt(static_cast<double>(about)))));
    std::array<int, 3> split{};
    MPI_Dims_create(size, 3, split.data());
    std::copy(split.begin(), split.end(), parts.begin());
  }

  int64_t size() const { return nodes[0] * nodes[1] * nodes[2]; }

  // x runs fastest.
  Part part(int rank, bool scattered) const {
    const std::array<int64_t, 3> at{rank % parts[0], rank / parts[0] % parts[1], rank / parts[0] / parts[1]};
    std::array<int64_t, 3> begin{}, end{};
    for (size_t axis = 0; axis < 3; ++axis) {
      begin[axis] = at[axis] * nodes[axis] / parts[axis];
      end[axis] = (at[axis] + 1) * nodes[axis] / parts[axis];
    }
    auto stride =
        static_cast<int64_t>(static_cast<double>(size()) *
                             0.618);  // of consecutive nodes' numbers: without a common divisor no two get the same
    while (std::gcd(stride, size()) != 1)
      ++stride;
    const auto first = [&](size_t axis) { return std::max<int64_t>(0, begin[axis] - 1); };
    const auto last = [&](size_t axis) { return std::min(nodes[axis], end[axis] + 1); };
    const auto inside = [&](size_t axis, int64_t i) { return i >= begin[axis] && i < end[axis]; };
    Part part;
    for (int64_t z = first(2); z < last(2); ++z)
      for (int64_t y = first(1); y < last(1); ++y)
        for (int64_t x = first(0); x < last(0); ++x) {
          const int64_t number = (z * nodes[1] + y) * nodes[0] + x;
          part.list.push_back(scattered ? number * stride % size() : number);
          part.owned.push_back(inside(0, x) && inside(1, y) && inside(2, z) ? 1 : 0);
        }
    return part;
  }
};

Part receive_part(const std::vector<Part>& parts, int rank, int size) {
  if (rank == 0) {
    for (int other = 1; other < size; ++other) {
      const Part& part = parts[static_cast<size_t>(other)];
      MPI_Send(part.list.data(), static_cast<int>(part.list.size()), MPI_INT64_T, other, 0, MPI_COMM_WORLD);
      MPI_Send(part.owned.data(), static_cast<int>(part.owned.size()), MPI_UNSIGNED_CHAR, other, 1, MPI_COMM_WORLD);
    }
    return parts[0];
  }
  MPI_Status status;
  MPI_Probe(0, 0, MPI_COMM_WORLD, &status);
  int count = 0;
  MPI_Get_count(&status, MPI_INT64_T, &count);
  Part part{std::vector<int64_t>(static_cast<size_t>(count)), std::vector<unsigned char>(static_cast<size_t>(count))};
  MPI_Recv(part.list.data(), count, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(part.owned.data(), count, MPI_UNSIGNED_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return part;
}

json count(const windrow::Decomposition& mesh, const char* owner, int64_t nodes, int size) {
  const auto mine = mesh.owned(owner);
  const auto points = static_cast<int64_t>(mine.points.size());
  int64_t all[4] = {mine.intervals, points, -points, mine.intervals};
  MPI_Allreduce(MPI_IN_PLACE, all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, all + 1, 3, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return {{"intervals", all[0]},
          {"most_intervals", all[3]},
          {"mean_length", static_cast<double>(nodes) / static_cast<double>(all[0])},
          {"imbalance", static_cast<double>(all[1] + all[2]) * size / static_cast<double>(nodes)}};
}

// Of the rank with the most, since it began.
int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  int64_t bytes = usage.ru_maxrss * 1024;
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return bytes;
}

void run(const Settings& settings) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Cut cut;
  Part part;
  if (settings.box > 0) {
    const Box box(settings.box, size);
    part = box.part(rank, settings.numbering == "scattered");
    cut.nodes = box.size();
    const auto held = static_cast<int64_t>(part.list.size());
    MPI_Allreduce(&held, &cut.replicas, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  } else {
    if (rank == 0)
      cut = cut_graph(read_graph(settings), size);
    MPI_Bcast(&cut.nodes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    part = receive_part(cut.parts, rank, size);
  }
  const int64_t nodes = cut.nodes;
  const auto make = [&](int imbalance) {
    return windrow::Decomposition::points(MPI_COMM_WORLD, nodes, part.list, part.owned,
                                          windrow::Options{{"imbalance", std::to_string(imbalance)}});
  };
  json result{{"mesh", settings.mesh},
              {"numbering", settings.numbering},
              {"parts", size},
              {"nodes", nodes},
              {"edges", cut.edges},
              {"shared", cut.shared},
              {"replicas", cut.replicas},
              {"classify_seconds", cut.classify_seconds}};
  std::vector<double> seconds;
  for (int i = 0; i < settings.repeat; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    const auto mesh = make(5);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds.push_back(MPI_Wtime() - begin);
    if (i > 0)
      continue;
    for (const char* owner : {"partitioner", "idg", "idg_figure", "first", "random", "balanced"})
      result["owners"][owner] = count(mesh, owner, nodes, size);
  }
  result["inspector_seconds"] = seconds;
  result["peak_bytes"] = peak_bytes();
  result["least_intervals"] = cut.least_intervals;
  for (const int imbalance : settings.imbalances) {
    json point = count(make(imbalance), "balanced", nodes, size);
    point["asked"] = imbalance;
    result["curve"].push_back(point);
  }
  if (rank == 0)
    std::printf("IDG %s\n", result.dump().c_str());
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench::Settings settings;
  CLI::App app("Who writes the nodes that several parts of a mesh hold: as many parts as ranks");
  app.add_option("mesh", settings.mesh, "a gmsh or METIS mesh of tetrahedra, or a METIS graph (.graph)");
  app.add_option("--box", settings.box, "instead: about so many nodes in a box, which no rank holds whole");
  app.add_option("--numbering", settings.numbering, "generator or cuthill-mckee; of a box: scattered too");
  app.add_option("--repeat", settings.repeat, "times that the decomposition is made");
  app.add_option("--imbalance", settings.imbalances, "per cent: points of the curve of owner=balanced")->delimiter(',');
  try {
    app.parse(argc, argv);
    if (settings.mesh.empty() == (settings.box == 0))
      throw std::runtime_error("give a mesh or --box");
    bench::run(settings);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    MPI_Finalize();
    return code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench-idg: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
