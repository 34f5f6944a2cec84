// SPDX-License-Identifier: BSD-3-Clause
// The data that one rank writes and reads in a scenario: the variables, the elements that it holds, and their places in
// memory. Without MPI: the case of any rank can be made in any process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

enum class ElementType {
  int32,
  float32,
  float64
};
inline int64_t element_size(ElementType type) {
  return type == ElementType::float64 ? 8 : 4;
}

// Consecutive elements of a variable that are consecutive in memory too. All in elements.
struct Piece {
  int64_t file = 0;
  int64_t memory = 0;
  int64_t length = 0;
};
using Pieces = std::vector<Piece>;  // ascending in the file, disjoint

// Which elements of an array a rank holds: one block, or points.
struct Share {
  std::vector<int64_t> shape;
  // The block, in its box of memory (guard cells included). Empty `start`: points.
  std::vector<int64_t> start, count, memory_shape, memory_start;
  // The points, numbered in C order over `shape`, in the order of memory; owned: 1 when this rank is to write the
  // point.
  std::vector<int64_t> points;
  std::vector<unsigned char> owned;

  bool is_block() const { return !start.empty(); }
};

// An element of the share has `trailing` consecutive values, the last dimension of the variable if it is not 1.
struct Variable {
  std::string name;
  ElementType type = ElementType::float64;
  size_t share = 0;
  int64_t trailing = 1;
  bool smooth = false;              // values as of a physical field; else no two bytes alike
  std::vector<int64_t> chunk = {};  // shape of the chunks, each shuffled and deflated (level 1); empty: contiguous
};

struct Case {
  std::string name;
  std::vector<Share> shares;
  std::vector<Variable> variables;
  bool copies = false;  // what is measured is reading one file and then writing another, equal one

  const Share& share_of(const Variable& variable) const { return shares[variable.share]; }
  std::vector<int64_t> shape_of(const Variable& variable) const;  // trailing dimension included
  int64_t file_bytes(const Variable& variable) const;             // of the whole array
  int64_t file_bytes() const;
  int64_t memory_elements(const Variable& variable) const;  // of this rank's buffer, guard cells included
  // `owned`: without the replicas that another rank writes.
  Pieces pieces(const Variable& variable, bool owned) const;
};

int64_t product(const std::vector<int64_t>& extents);

// What a scenario is made from. Files are made beforehand by windrow-mesh and bench-maps.
struct CaseSettings {
  std::string scenario;  // grid-64, grid-128, mesh-1, mesh-100-cm, ..., e3sm, flash, s3d, scorpio, compressed, ...
  std::string mesh;      // PREFIX of PREFIX.PARTS.parts and PREFIX-cm.PARTS.parts
  std::string map;       // PREFIX of PREFIX.D1.parts, PREFIX.D2.parts, ...
  int rank = 0;
  int ranks = 1;
};

// Throws std::runtime_error: no such scenario, or a file that is missing or does not fit the ranks.
Case make_case(const CaseSettings& settings);

}  // namespace bench
