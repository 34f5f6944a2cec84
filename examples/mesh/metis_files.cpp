// SPDX-License-Identifier: BSD-3-Clause
#include "metis_files.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace windrow::mesh {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw std::runtime_error("\"" + path + "\": " + reason);
}

// A file of lines of whole numbers; lines that begin with % are comments.
class Lines {
 public:
  explicit Lines(const std::string& path) : path_(path), file_(path) {
    if (!file_)
      throw std::runtime_error("cannot open \"" + path + "\"");
  }
  // The numbers of the next line, of which there must be `least` or more.
  std::vector<int64_t> next(size_t least) {
    std::string line;
    do {
      ++number_;
      if (!std::getline(file_, line))
        fail(path_, "ends too early, after line " + std::to_string(number_ - 1));
    } while (line.starts_with('%'));
    std::istringstream words(line);
    std::vector<int64_t> numbers;
    for (int64_t value = 0; words >> value;)
      numbers.push_back(value);
    if (!words.eof() || numbers.size() < least)
      fail(path_, "cannot read line " + std::to_string(number_));
    return numbers;
  }
  // Nothing but comments and empty lines may follow.
  void end() {
    for (std::string line; std::getline(file_, line);)
      if (!line.starts_with('%') && line.find_first_not_of(" \t\r") != std::string::npos)
        fail(path_, "has more lines than it says");
  }
  // From 1 on in the file, from 0 on here.
  int64_t index(int64_t value, int64_t end) const {
    if (value < 1 || value > end)
      fail(path_, "line " + std::to_string(number_) + " has no node's number");
    return value - 1;
  }

 private:
  std::string path_;
  std::ifstream file_;
  int64_t number_ = 0;
};

constexpr int64_t k_limit = int64_t{1} << 31;

// Each edge is listed at both of its nodes, and leads to another node.
void check_edges(const std::string& path, NodeGraph graph) {
  const auto row = [&](int64_t node) {
    return std::pair(graph.neighbours.begin() + graph.starts[static_cast<size_t>(node)],
                     graph.neighbours.begin() + graph.starts[static_cast<size_t>(node) + 1]);
  };
  const auto nodes = static_cast<int64_t>(graph.starts.size()) - 1;
  for (int64_t node = 0; node < nodes; ++node)
    std::sort(row(node).first, row(node).second);
  for (int64_t node = 0; node < nodes; ++node)
    for (auto [at, end] = row(node); at != end; ++at) {
      if (*at == node)
        fail(path, "node " + std::to_string(node + 1) + " is its own neighbour");
      const auto [begin, last] = row(*at);
      if (!std::binary_search(begin, last, node))
        fail(path, "node " + std::to_string(*at + 1) + " is a neighbour of " + std::to_string(node + 1) +
                       ", but not the other way round");
    }
}

}  // namespace

bool is_metis_mesh(const std::string& path) {
  if (!path.ends_with(".mesh"))
    return false;
  std::ifstream file(path);
  std::string word;
  return !(file >> word && word == "MeshVersionFormatted");
}

TetrahedralMesh read_metis_mesh(const std::string& path, const std::string& coordinates) {
  Lines lines(path);
  const std::vector<int64_t> header = lines.next(1);
  const size_t weights = header.size() > 1 ? static_cast<size_t>(std::clamp<int64_t>(header[1], 0, 1000)) : 0;
  TetrahedralMesh mesh;
  int64_t nodes = 0;
  for (int64_t left = header[0]; left > 0; --left) {
    const std::vector<int64_t> numbers = lines.next(weights + 4);
    if (numbers.size() != weights + 4)
      fail(path, "has an element that is no tetrahedron");
    std::array<int64_t, 4> corners{};
    for (size_t i = 0; i < 4; ++i)
      corners[i] = lines.index(numbers[weights + i], k_limit);
    nodes = std::max(nodes, *std::max_element(corners.begin(), corners.end()) + 1);
    mesh.tetrahedra.push_back(corners);
  }
  lines.end();
  if (mesh.tetrahedra.empty())
    fail(path, "no tetrahedra found");
  if (nodes > 4 * static_cast<int64_t>(mesh.tetrahedra.size()))
    fail(path, "a bad number of nodes");
  mesh.nodes.assign(static_cast<size_t>(nodes), {});
  if (coordinates.empty())
    return mesh;
  std::ifstream file(coordinates);
  if (!file)
    throw std::runtime_error("cannot open \"" + coordinates + "\"");
  for (auto& [x, y, z] : mesh.nodes)
    if (!(file >> x >> y >> z))
      fail(coordinates, "has not three numbers for each of " + std::to_string(nodes) + " nodes");
  return mesh;
}

NodeGraph read_metis_graph(const std::string& path) {
  Lines lines(path);
  const std::vector<int64_t> header = lines.next(2);  // nodes, edges, which weights there are, weights a node
  const int64_t nodes = header[0], format = header.size() > 2 ? header[2] : 0;
  if (nodes < 1 || nodes > k_limit)
    fail(path, "a bad number of nodes");
  if (header[1] < 0 || header[1] > k_limit)
    fail(path, "a bad number of edges");
  if (format != 0 && format != 1 && format != 10 && format != 11 &&
      (format < 100 || format > 111 || format % 10 > 1 || format / 10 % 10 > 1))
    fail(path, "a bad format");
  const bool edge_weights = format % 10 == 1, node_weights = format / 10 % 10 == 1, node_sizes = format / 100 == 1;
  const int64_t weights = node_weights ? (header.size() > 3 ? std::clamp<int64_t>(header[3], 1, 1000) : 1) : 0;
  const auto before = static_cast<size_t>(weights + (node_sizes ? 1 : 0));
  const size_t step = edge_weights ? 2 : 1;
  NodeGraph graph;
  for (int64_t node = 0; node < nodes; ++node) {
    const std::vector<int64_t> numbers = lines.next(before);
    if ((numbers.size() - before) % step != 0)
      fail(path, "an edge of node " + std::to_string(node + 1) + " has no weight");
    for (size_t i = before; i < numbers.size(); i += step)
      graph.neighbours.push_back(lines.index(numbers[i], nodes));
    graph.starts.push_back(static_cast<int64_t>(graph.neighbours.size()));
  }
  if (static_cast<int64_t>(graph.neighbours.size()) != 2 * header[1])
    fail(path, "has not as many edges as it says");
  lines.end();
  check_edges(path, graph);
  return graph;
}

}  // namespace windrow::mesh
