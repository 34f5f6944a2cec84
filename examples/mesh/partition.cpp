// SPDX-License-Identifier: BSD-3-Clause
#include "partition.hpp"

#include <metis.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

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
        if (a != b) edges.emplace_back(a, b);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  Graph graph;
  graph.starts.assign(mesh.nodes.size() + 1, 0);
  for (const auto& [from, to] : edges) {
    ++graph.starts[static_cast<size_t>(from) + 1];
    graph.targets.push_back(to);
  }
  for (size_t n = 0; n < mesh.nodes.size(); ++n) graph.starts[n + 1] += graph.starts[n];
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
      if (reached[static_cast<size_t>(target)]) continue;
      reached[static_cast<size_t>(target)] = 1;
      order.push_back(target);
    }
  }
  return order;
}

}  // namespace

void renumber_cuthill_mckee(TetrahedralMesh& mesh) {
  const Graph graph = node_graph(mesh);
  std::vector<char> reached(mesh.nodes.size(), 0);
  std::vector<int64_t> order;
  for (size_t first = 0; first < mesh.nodes.size(); ++first) {
    if (reached[first]) continue;
    // The end of a walk is far from its start: walking twice gives an end of the mesh to begin at.
    int64_t start = static_cast<int64_t>(first);
    for (int turn = 0; turn < 2; ++turn) start = walk(graph, start, reached).back();
    const std::vector<int64_t> component = walk(graph, start, reached);
    for (int64_t node : component) reached[static_cast<size_t>(node)] = 1;
    order.insert(order.end(), component.begin(), component.end());
  }
  std::vector<int64_t> number(order.size());
  std::vector<std::array<double, 3>> nodes(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    number[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    nodes[i] = mesh.nodes[static_cast<size_t>(order[i])];
  }
  mesh.nodes = std::move(nodes);
  for (auto& corners : mesh.tetrahedra)
    for (int64_t& corner : corners) corner = number[static_cast<size_t>(corner)];
}

namespace {

struct Assignment {
  std::vector<idx_t> elements;
  std::vector<idx_t> nodes;
};

Assignment run_metis(const TetrahedralMesh& mesh, int parts) {
  if (mesh.tetrahedra.size() > static_cast<size_t>(std::numeric_limits<idx_t>::max()) / 4)
    throw std::runtime_error("the mesh is too large for this METIS");
  Assignment result{std::vector<idx_t>(mesh.tetrahedra.size(), 0), std::vector<idx_t>(mesh.nodes.size(), 0)};
  if (parts == 1) return result;  // METIS divides by zero
  std::vector<idx_t> starts, corners;
  for (const auto& tetrahedron : mesh.tetrahedra) {
    starts.push_back(static_cast<idx_t>(corners.size()));
    for (int64_t corner : tetrahedron) corners.push_back(static_cast<idx_t>(corner));
  }
  starts.push_back(static_cast<idx_t>(corners.size()));
  auto elements = static_cast<idx_t>(mesh.tetrahedra.size()), nodes = static_cast<idx_t>(mesh.nodes.size());
  idx_t common = 3, count = parts, cut = 0;  // tetrahedra are neighbours when they share a face: three nodes
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;  // the same parts in every run
  const int code = METIS_PartMeshDual(&elements, &nodes, starts.data(), corners.data(), nullptr, nullptr, &common,
                                      &count, nullptr, options, &cut, result.elements.data(), result.nodes.data());
  if (code != METIS_OK) throw std::runtime_error("METIS failed with code " + std::to_string(code));
  return result;
}

}  // namespace

std::vector<Part> partition(const TetrahedralMesh& mesh, int parts) {
  const Assignment assignment = run_metis(mesh, parts);
  std::vector<std::vector<int64_t>> held(static_cast<size_t>(parts));
  for (size_t e = 0; e < mesh.tetrahedra.size(); ++e)
    for (int64_t corner : mesh.tetrahedra[e]) held[static_cast<size_t>(assignment.elements[e])].push_back(corner);
  for (auto& numbers : held) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  }
  std::vector<int> owner(mesh.nodes.size(), -1);
  for (int part = 0; part < parts; ++part)
    for (int64_t number : held[static_cast<size_t>(part)]) {
      int& current = owner[static_cast<size_t>(number)];
      if (current < 0 || assignment.nodes[static_cast<size_t>(number)] == part) current = part;
    }
  std::vector<Part> result(static_cast<size_t>(parts));
  for (int part = 0; part < parts; ++part) {
    Part& target = result[static_cast<size_t>(part)];
    target.numbers = std::move(held[static_cast<size_t>(part)]);
    for (int64_t number : target.numbers) {
      const auto& place = mesh.nodes[static_cast<size_t>(number)];
      target.coordinates.insert(target.coordinates.end(), place.begin(), place.end());
      target.owned.push_back(owner[static_cast<size_t>(number)] == part ? 1 : 0);
    }
  }
  return result;
}

}  // namespace windrow::mesh
