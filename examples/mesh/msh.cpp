// SPDX-License-Identifier: BSD-3-Clause
#include "msh.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <utility>

namespace windrow::mesh {
namespace {

using TaggedNode = std::pair<int64_t, std::array<double, 3>>;
constexpr int k_tetrahedron = 4;  // gmsh's number of the element type
constexpr int64_t k_block_limit = int64_t{1} << 31;

struct RawMesh {
  std::vector<TaggedNode> nodes;
  std::vector<std::array<int64_t, 4>> tetrahedra;  // tags
};

int64_t next_count(std::istream& file) {
  int64_t count = -1;
  if (!(file >> count) || count < 0 || count > k_block_limit)
    throw std::runtime_error("a bad count");
  return count;
}

std::array<int64_t, 4> next_corners(std::istream& file) {
  std::array<int64_t, 4> corners{};
  for (int64_t& corner : corners)
    file >> corner;
  if (!file)
    throw std::runtime_error("a bad element");
  return corners;
}

// A file that was cut short must not pass for a smaller mesh.
void end_section(std::istream& file, const std::string& name) {
  std::string word;
  if (!(file >> word) || word != "$End" + name)
    throw std::runtime_error("$" + name + " does not end where it should");
}

void skip_rest_of_line(std::istream& file) {
  file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
}

// Format 2: "count", then "tag x y z" a line.
void read_nodes_2(std::istream& file, RawMesh& mesh) {
  for (int64_t left = next_count(file); left > 0; --left) {
    TaggedNode node;
    if (!(file >> node.first >> node.second[0] >> node.second[1] >> node.second[2]))
      throw std::runtime_error("a bad node");
    mesh.nodes.push_back(node);
  }
}

// Format 2: "count", then "number type tags ... nodes" a line.
void read_elements_2(std::istream& file, RawMesh& mesh) {
  for (int64_t left = next_count(file); left > 0; --left) {
    int64_t ignored = 0;
    int type = 0;
    if (!(file >> ignored >> type))
      throw std::runtime_error("a bad element");
    if (type == k_tetrahedron) {
      for (int64_t tags = next_count(file); tags > 0; --tags)
        file >> ignored;
      mesh.tetrahedra.push_back(next_corners(file));
    }
    skip_rest_of_line(file);
  }
}

// Format 4.1: "blocks nodes minimum maximum"; a block is "dimension entity parametric count", the tags, then the
// places.
void read_nodes_4(std::istream& file, RawMesh& mesh) {
  const int64_t blocks = next_count(file);
  skip_rest_of_line(file);
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t ignored = 0;
    if (!(file >> ignored >> ignored >> ignored))
      throw std::runtime_error("a bad block of nodes");
    const size_t first = mesh.nodes.size();
    for (int64_t left = next_count(file); left > 0; --left) {
      TaggedNode node;
      if (!(file >> node.first))
        throw std::runtime_error("a bad node");
      mesh.nodes.push_back(node);
    }
    for (size_t i = first; i < mesh.nodes.size(); ++i) {
      auto& [x, y, z] = mesh.nodes[i].second;
      if (!(file >> x >> y >> z))
        throw std::runtime_error("a bad node");
      skip_rest_of_line(file);  // parametric coordinates
    }
  }
}

// Format 4.1: "blocks elements minimum maximum"; a block is "dimension entity type count", then "tag nodes ..." a line.
void read_elements_4(std::istream& file, RawMesh& mesh) {
  const int64_t blocks = next_count(file);
  skip_rest_of_line(file);
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t ignored = 0;
    int type = 0;
    if (!(file >> ignored >> ignored >> type))
      throw std::runtime_error("a bad block of elements");
    for (int64_t left = next_count(file); left > 0; --left) {
      if (!(file >> ignored))
        throw std::runtime_error("a bad element");
      if (type == k_tetrahedron)
        mesh.tetrahedra.push_back(next_corners(file));
      skip_rest_of_line(file);
    }
  }
}

RawMesh read_sections(std::istream& file) {
  RawMesh mesh;
  double version = 0;
  std::string word;
  while (file >> word) {
    if (word == "$MeshFormat") {
      int binary = 0;
      file >> version >> binary;
      if (binary != 0 || (version != 4.1 && (version < 2 || version >= 3)))
        throw OtherMsh("only ASCII files of the formats 2 and 4.1 are read (gmsh -format msh41)");
    } else if (word == "$Nodes") {
      version >= 4 ? read_nodes_4(file, mesh) : read_nodes_2(file, mesh);
      end_section(file, "Nodes");
    } else if (word == "$Elements") {
      version >= 4 ? read_elements_4(file, mesh) : read_elements_2(file, mesh);
      end_section(file, "Elements");
    }
  }
  if (mesh.tetrahedra.empty())
    throw std::runtime_error("no tetrahedra found");
  return mesh;
}

// From tags, which may have gaps, to consecutive numbers of the nodes in use.
TetrahedralMesh compact(RawMesh raw) {
  std::vector<int64_t> used;
  used.reserve(raw.tetrahedra.size() * 4);
  for (const auto& corners : raw.tetrahedra)
    used.insert(used.end(), corners.begin(), corners.end());
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::sort(raw.nodes.begin(), raw.nodes.end(), [](const auto& a, const auto& b) { return a.first < b.first; });

  TetrahedralMesh mesh;
  mesh.nodes.reserve(used.size());
  auto node = raw.nodes.begin();
  for (int64_t tag : used) {
    while (node != raw.nodes.end() && node->first < tag)
      ++node;
    if (node == raw.nodes.end() || node->first != tag)
      throw std::runtime_error("an element names node " + std::to_string(tag) + ", which is not there");
    mesh.nodes.push_back(node->second);
  }
  mesh.tetrahedra = std::move(raw.tetrahedra);
  for (auto& corners : mesh.tetrahedra)
    for (int64_t& corner : corners)
      corner = std::lower_bound(used.begin(), used.end(), corner) - used.begin();
  return mesh;
}

}  // namespace

TetrahedralMesh read_msh(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    throw std::runtime_error("cannot open \"" + path + "\"");
  try {
    return compact(read_sections(file));
  } catch (const OtherMsh& error) {
    throw OtherMsh("\"" + path + "\": " + error.what());
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("\"" + path + "\": " + error.what());
  }
}

}  // namespace windrow::mesh
