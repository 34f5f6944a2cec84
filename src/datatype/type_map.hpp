// SPDX-License-Identifier: BSD-3-Clause
// The typemap of an MPI datatype: which bytes it has, and in which order. Regular types stay loops, and lists take two
// integers for each block. No MPI here: a tree that is built from the inside, from single bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.hpp"

namespace windrow {

// Data in the order of the typemap. Places are bytes from the place of the first byte of data, which may not be the
// lowest. Immutable and shared.
struct TypeNode {
  enum class Kind {
    bytes,     // contiguous
    loop,      // `count` copies of parts[0] at `stride`
    list,      // blocks: copies of parts[0] at `stride`, from each of `offsets` on
    sequence,  // each of `parts` at its offset
  };
  Kind kind = Kind::bytes;
  int64_t size = 0;           // bytes of data, at least one
  int64_t low = 0, high = 0;  // the lowest place, and the end of the highest
  bool ascending = true;      // the place of each byte is higher than that of the previous one
  int64_t count = 1, stride = 0;
  std::vector<std::shared_ptr<const TypeNode>> parts;
  std::vector<int64_t> offsets;  // [blocks or parts]
  std::vector<int64_t> starts;   // [blocks or parts, and one more] bytes of data before it

  const TypeNode& part(size_t i) const noexcept { return kind == Kind::sequence ? *parts[i] : *parts.front(); }
};

// Data from `offset` on; without a node there is none. All places and their distances fit into int64_t.
struct TypeData {
  int64_t offset = 0;
  std::shared_ptr<const TypeNode> node;

  int64_t size() const noexcept { return node == nullptr ? 0 : node->size; }
  int64_t begin() const noexcept { return node == nullptr ? 0 : offset + node->low; }  // the lowest byte
  int64_t end() const noexcept { return node == nullptr ? 0 : offset + node->high; }   // after the highest
};

// What a datatype is to its user: copies of it follow each other at `extent`.
struct TypeMap {
  TypeData data;
  int64_t lower_bound = 0;
  int64_t extent = 0;

  int64_t size() const noexcept { return data.size(); }
};

// The functions below return Code::bad_argument if a place or a size does not fit into 64 bits. Counts are not
// negative. All may throw std::bad_alloc.
TypeData contiguous_bytes(int64_t size);
Result<TypeData> moved(TypeData data, int64_t distance);
Result<TypeData> repeated(const TypeData& data, int64_t count, int64_t stride);
// Blocks of counts[i] copies at `stride`, at offsets[i]. Equal blocks at equal distances become loops.
Result<TypeData> blocks_of(const TypeData& data, int64_t stride, const std::vector<int64_t>& offsets,
                           const std::vector<int64_t>& counts);
Result<TypeData> sequence_of(std::vector<TypeData> parts);

}  // namespace windrow
