// SPDX-License-Identifier: BSD-3-Clause
#include "partition.hpp"

#ifdef WINDROW_HAS_METIS
#include <metis.h>
#endif

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

namespace windrow::mesh {
namespace {

// Neighbours of node n: targets[starts[n]] up to targets[starts[n + 1]], those with few neighbours first.
struct Graph {
  std::vector<int64_t> starts;
  std::vector<int64_t> targets;
  int64_t degree(int64_t node) const {
    return starts[static_cast<size_t>(node) + 1] - starts[static_cast<size_t>(node)];
  }
};

Graph node_graph(const TetrahedralMesh& mesh) {
  std::vector<std::pair<int64_t, int64_t>> edges;
  edges.reserve(mesh.tetrahedra.size() * 12);
  for (const auto& corners : mesh.tetrahedra)
    for (int64_t a : corners)
      for (int64_t b : corners)
        if (a != b)
          edges.emplace_back(a, b);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  Graph graph;
  graph.starts.assign(mesh.nodes.size() + 1, 0);
  for (const auto& [from, to] : edges) {
    ++graph.starts[static_cast<size_t>(from) + 1];
    graph.targets.push_back(to);
  }
  for (size_t n = 0; n < mesh.nodes.size(); ++n)
    graph.starts[n + 1] += graph.starts[n];
  for (size_t n = 0; n < mesh.nodes.size(); ++n)
    std::stable_sort(graph.targets.begin() + graph.starts[n], graph.targets.begin() + graph.starts[n + 1],
                     [&](int64_t a, int64_t b) { return graph.degree(a) < graph.degree(b); });
  return graph;
}

// Breadth first from `start`, over what `reached` does not hold yet.
std::vector<int64_t> walk(const Graph& graph, int64_t start, std::vector<char> reached) {
  std::vector<int64_t> order{start};
  reached[static_cast<size_t>(start)] = 1;
  for (size_t next = 0; next < order.size(); ++next) {
    const auto node = static_cast<size_t>(order[next]);
    for (int64_t i = graph.starts[node]; i < graph.starts[node + 1]; ++i) {
      const int64_t target = graph.targets[static_cast<size_t>(i)];
      if (reached[static_cast<size_t>(target)])
        continue;
      reached[static_cast<size_t>(target)] = 1;
      order.push_back(target);
    }
  }
  return order;
}

// Node order[i] gets the number i.
void renumber(TetrahedralMesh& mesh, const std::vector<int64_t>& order) {
  std::vector<int64_t> number(order.size());
  std::vector<std::array<double, 3>> nodes(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    number[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    nodes[i] = mesh.nodes[static_cast<size_t>(order[i])];
  }
  mesh.nodes = std::move(nodes);
  for (auto& corners : mesh.tetrahedra)
    for (int64_t& corner : corners)
      corner = number[static_cast<size_t>(corner)];
}

}  // namespace

void renumber_cuthill_mckee(TetrahedralMesh& mesh) {
  const Graph graph = node_graph(mesh);
  std::vector<char> reached(mesh.nodes.size(), 0);
  std::vector<int64_t> order;
  for (size_t first = 0; first < mesh.nodes.size(); ++first) {
    if (reached[first])
      continue;
    // The end of a walk is far from its start: walking twice gives an end of the mesh to begin at.
    int64_t start = static_cast<int64_t>(first);
    for (int turn = 0; turn < 2; ++turn)
      start = walk(graph, start, reached).back();
    const std::vector<int64_t> component = walk(graph, start, reached);
    for (int64_t node : component)
      reached[static_cast<size_t>(node)] = 1;
    order.insert(order.end(), component.begin(), component.end());
  }
  renumber(mesh, order);
}

void renumber_randomly(TetrahedralMesh& mesh) {
  std::vector<int64_t> order(mesh.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 dice(1);  // and no std::shuffle(), which every library does in another order
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[dice() % i]);
  renumber(mesh, order);
}

#ifdef WINDROW_HAS_METIS
namespace {

struct Assignment {
  std::vector<int> tetrahedra, nodes;  // the part of each
};

Assignment run_metis(const TetrahedralMesh& mesh, int parts) {
  if (mesh.tetrahedra.size() > static_cast<size_t>(std::numeric_limits<idx_t>::max()) / 4)
    throw std::runtime_error("the mesh is too large for this METIS");
  std::vector<idx_t> starts, corners, of_elements(mesh.tetrahedra.size()), of_nodes(mesh.nodes.size());
  for (const auto& tetrahedron : mesh.tetrahedra) {
    starts.push_back(static_cast<idx_t>(corners.size()));
    for (int64_t corner : tetrahedron)
      corners.push_back(static_cast<idx_t>(corner));
  }
  starts.push_back(static_cast<idx_t>(corners.size()));
  auto elements = static_cast<idx_t>(mesh.tetrahedra.size()), nodes = static_cast<idx_t>(mesh.nodes.size());
  idx_t common = 3, count = parts, cut = 0;  // tetrahedra are neighbours when they share a face: three nodes
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;  // the same parts in every run
  const int code = METIS_PartMeshDual(&elements, &nodes, starts.data(), corners.data(), nullptr, nullptr, &common,
                                      &count, nullptr, options, &cut, of_elements.data(), of_nodes.data());
  if (code != METIS_OK)
    throw std::runtime_error("METIS failed with code " + std::to_string(code));
  return {{of_elements.begin(), of_elements.end()}, {of_nodes.begin(), of_nodes.end()}};
}

std::vector<int> run_metis(const NodeGraph& graph, int parts) {
  if (graph.neighbours.size() > static_cast<size_t>(std::numeric_limits<idx_t>::max()))
    throw std::runtime_error("the graph is too large for this METIS");
  std::vector<idx_t> starts(graph.starts.begin(), graph.starts.end());
  std::vector<idx_t> neighbours(graph.neighbours.begin(), graph.neighbours.end()), owners(graph.starts.size() - 1);
  auto nodes = static_cast<idx_t>(owners.size());
  idx_t constraints = 1, count = parts, cut = 0;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  const int code = METIS_PartGraphKway(&nodes, &constraints, starts.data(), neighbours.data(), nullptr, nullptr,
                                       nullptr, &count, nullptr, nullptr, options, &cut, owners.data());
  if (code != METIS_OK)
    throw std::runtime_error("METIS failed with code " + std::to_string(code));
  return {owners.begin(), owners.end()};
}

}  // namespace
#else
namespace {

[[noreturn]] void refuse() {
  throw std::runtime_error("METIS was not found for this build (Debian: libmetis-dev): it cuts no mesh");
}
struct Assignment {
  std::vector<int> tetrahedra, nodes;
};
Assignment run_metis(const TetrahedralMesh&, int) {
  refuse();
}
std::vector<int> run_metis(const NodeGraph&, int) {
  refuse();
}

}  // namespace
#endif

CutMesh cut_mesh(TetrahedralMesh mesh, int parts) {
  if (static_cast<size_t>(parts) > mesh.tetrahedra.size())
    throw std::runtime_error("a mesh of " + std::to_string(mesh.tetrahedra.size()) + " tetrahedra cannot be cut into " +
                             std::to_string(parts) + " parts");
  const Assignment given =
      parts == 1  // METIS divides by zero
          ? Assignment{std::vector<int>(mesh.tetrahedra.size(), 0), std::vector<int>(mesh.nodes.size(), 0)}
          : run_metis(mesh, parts);
  CutMesh cut{std::move(mesh), {}, {}, given.nodes};
  cut.tetrahedra.resize(static_cast<size_t>(parts));
  cut.holders.resize(cut.mesh.nodes.size());
  for (size_t e = 0; e < given.tetrahedra.size(); ++e)
    cut.tetrahedra[static_cast<size_t>(given.tetrahedra[e])].push_back(static_cast<int64_t>(e));
  for (int part = 0; part < parts; ++part)
    for (int64_t e : cut.tetrahedra[static_cast<size_t>(part)])
      for (int64_t corner : cut.mesh.tetrahedra[static_cast<size_t>(e)])
        if (auto& list = cut.holders[static_cast<size_t>(corner)]; list.empty() || list.back() != part)
          list.push_back(part);
  // METIS may give a node to a part that has none of its tetrahedra.
  for (size_t node = 0; node < cut.owners.size(); ++node) {
    if (cut.holders[node].empty())
      throw std::runtime_error("node " + std::to_string(node) + " of the mesh belongs to no tetrahedron");
    if (!std::binary_search(cut.holders[node].begin(), cut.holders[node].end(), cut.owners[node]))
      cut.owners[node] = cut.holders[node].front();
  }
  return cut;
}

MeshPart part_of(const CutMesh& cut, int number) {
  const TetrahedralMesh& mesh = cut.mesh;
  MeshPart part;
  part.totals = {static_cast<int64_t>(mesh.nodes.size()), static_cast<int64_t>(mesh.tetrahedra.size())};
  part.cell_numbers = cut.tetrahedra[static_cast<size_t>(number)];
  for (int64_t e : part.cell_numbers)
    for (int64_t corner : mesh.tetrahedra[static_cast<size_t>(e)])
      part.corners.push_back(corner);
  part.numbers = part.corners;
  std::sort(part.numbers.begin(), part.numbers.end());
  part.numbers.erase(std::unique(part.numbers.begin(), part.numbers.end()), part.numbers.end());
  for (int64_t& corner : part.corners)
    corner = std::lower_bound(part.numbers.begin(), part.numbers.end(), corner) - part.numbers.begin();

  std::map<int, std::vector<int64_t>> shared_with;
  for (size_t i = 0; i < part.numbers.size(); ++i) {
    const auto node = static_cast<size_t>(part.numbers[i]);
    part.places.insert(part.places.end(), mesh.nodes[node].begin(), mesh.nodes[node].end());
    part.owned.push_back(cut.owners[node] == number ? 1 : 0);
    if (cut.holders[node].size() < 2)
      continue;
    for (int holder : cut.holders[node])
      shared_with[holder].push_back(static_cast<int64_t>(i));
  }
  part.starts = {0};
  for (const auto& [neighbour, nodes] : shared_with) {
    part.neighbours.push_back(neighbour);
    part.shared.insert(part.shared.end(), nodes.begin(), nodes.end());
    part.starts.push_back(static_cast<int64_t>(part.shared.size()));
  }
  return part;
}

std::vector<Part> partition(const TetrahedralMesh& mesh, int parts) {
  const CutMesh cut = cut_mesh(mesh, parts);
  std::vector<Part> result;
  for (int number = 0; number < parts; ++number) {
    MeshPart part = part_of(cut, number);
    result.push_back({std::move(part.numbers), std::move(part.places), std::move(part.owned)});
  }
  return result;
}

std::vector<Part> partition(const NodeGraph& graph, int parts) {
  const size_t nodes = graph.starts.size() - 1;
  if (static_cast<size_t>(parts) > nodes)
    throw std::runtime_error("there are more parts than nodes");
  const std::vector<int> owners = parts == 1 ? std::vector<int>(nodes, 0) : run_metis(graph, parts);
  std::vector<Part> result(static_cast<size_t>(parts));
  for (size_t node = 0; node < nodes; ++node) {
    std::vector<int> holders{owners[node]};
    for (int64_t i = graph.starts[node]; i < graph.starts[node + 1]; ++i)
      holders.push_back(owners[static_cast<size_t>(graph.neighbours[static_cast<size_t>(i)])]);
    std::sort(holders.begin(), holders.end());
    holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
    for (int holder : holders) {
      result[static_cast<size_t>(holder)].numbers.push_back(static_cast<int64_t>(node));
      result[static_cast<size_t>(holder)].owned.push_back(holder == owners[node] ? 1 : 0);
    }
  }
  return result;
}

}  // namespace windrow::mesh
