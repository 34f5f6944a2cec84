// SPDX-License-Identifier: BSD-3-Clause
// Numbering and partitioning of a mesh's nodes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "metis_files.hpp"
#include "msh.hpp"
#include "parts.hpp"

namespace windrow::mesh {

// Gives the nodes new numbers by Cuthill and McKee, so that neighbours get near numbers.
// Source: E. Cuthill, J. McKee, Reducing the bandwidth of sparse symmetric matrices, Proc. 24th ACM National
// Conference, 1969.
void renumber_cuthill_mckee(TetrahedralMesh& mesh);

// Gives the nodes new numbers without any order, the same each time: two nodes of a part are rarely adjacent.
void renumber_randomly(TetrahedralMesh& mesh);

// A mesh and which part each tetrahedron belongs to. A part holds every node that one of its tetrahedra touches; a node
// at a seam is held by several parts and owned by the one that METIS gives it, or the lowest that holds it.
struct CutMesh {
  TetrahedralMesh mesh;
  std::vector<std::vector<int64_t>> tetrahedra;  // of each part
  std::vector<std::vector<int>> holders;         // of each node, ascending
  std::vector<int> owners;                       // of each node
};

// Cuts the mesh by METIS (k-way, dual graph); one part needs no METIS. Throws std::runtime_error, as all here: more
// parts than tetrahedra, or a build without METIS.
CutMesh cut_mesh(TetrahedralMesh mesh, int parts);

// One part, as the rank that works on it needs it.
struct MeshPart {
  std::vector<int64_t> totals;        // nodes and tetrahedra of the whole mesh
  std::vector<int64_t> numbers;       // of the nodes held, in the whole mesh, ascending
  std::vector<double> places;         // [nodes held][3]
  std::vector<unsigned char> owned;   // 1: this part owns the node, 0: a replica
  std::vector<int64_t> cell_numbers;  // of the tetrahedra, in the whole mesh
  std::vector<int64_t> corners;       // [tetrahedra][4], places in `numbers`
  // Parts that hold nodes of this one, ascending, itself too where it shares any. shared[starts[i]] up to
  // shared[starts[i + 1]] are the nodes shared with the i-th, ascending: the same nodes on both sides.
  std::vector<int64_t> neighbours;
  std::vector<int64_t> starts;
  std::vector<int64_t> shared;

  size_t held() const { return numbers.size(); }
  std::array<double, 3> place(size_t node) const {
    return {places[3 * node], places[3 * node + 1], places[3 * node + 2]};
  }
};
MeshPart part_of(const CutMesh& cut, int part);

// The nodes of each part, ascending, for a parts file.
std::vector<Part> partition(const TetrahedralMesh& mesh, int parts);

// The nodes that METIS (k-way) gives each part, and as replicas their neighbours in other parts; without coordinates.
std::vector<Part> partition(const NodeGraph& graph, int parts);

}  // namespace windrow::mesh
