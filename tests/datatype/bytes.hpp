// SPDX-License-Identifier: BSD-3-Clause
// The naive models of typemaps and lists: one entry for each byte.
#pragma once

#include <cstdint>
#include <vector>

#include "datatype/combine.hpp"
#include "datatype/type_map.hpp"

namespace windrow::test {

inline void put_places(const TypeNode& node, int64_t at, std::vector<int64_t>& places) {
  const auto repeat = [&](int64_t from, int64_t count, int64_t stride, const TypeNode& part) {
    for (int64_t i = 0; i < count; ++i)
      put_places(part, from + i * stride, places);
  };
  if (node.kind == TypeNode::Kind::bytes)
    for (int64_t i = 0; i < node.size; ++i)
      places.push_back(at + i);
  if (node.kind == TypeNode::Kind::loop)
    repeat(at, node.count, node.stride, node.part(0));
  for (size_t i = 0; i < node.offsets.size(); ++i)
    repeat(at + node.offsets[i], (node.starts[i + 1] - node.starts[i]) / node.part(i).size, node.stride, node.part(i));
}

// The place of each byte, in the order of the typemap.
inline std::vector<int64_t> places_of(const TypeData& data) {
  std::vector<int64_t> places;
  if (data.node != nullptr)
    put_places(*data.node, data.offset, places);
  return places;
}

inline std::vector<int64_t> places_of(const TypeMap& map, int64_t count) {
  std::vector<int64_t> places;
  for (int64_t i = 0; i < count; ++i)
    for (const int64_t place : places_of(map.data))
      places.push_back(place + i * map.extent);
  return places;
}

struct Pair {
  int64_t file, memory;
  friend bool operator==(const Pair&, const Pair&) = default;
};

// The places of each byte of a list, in its order.
inline std::vector<Pair> pairs_of(const ViewedBytes& list) {
  std::vector<Pair> pairs;
  for_each_piece(list.pieces, [&](const Piece& piece) {
    for (int64_t i = 0; i < piece.length; ++i)
      pairs.push_back({piece.file + i, list.memory_base + piece.memory + i});
  });
  return pairs;
}

inline int64_t nest_count(const ViewedBytes& list) {
  return list.pieces.empty() ? 0 : list.pieces.store()->records;
}

}  // namespace windrow::test
