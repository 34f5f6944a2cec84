// SPDX-License-Identifier: BSD-3-Clause
// The naive model for tests of lists of pieces: one map entry per byte. It also makes seeded random lists.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "extent/pieces.hpp"

namespace windrow::test {

using ByteMap = std::map<int64_t, int64_t>;  // file byte -> memory byte

// Computes each index of the loops by division, unlike the library.
inline void put_into(ByteMap& map, const Nest& nest) {
  for (int64_t number = 0; number < nest.pieces(); ++number) {
    int64_t rest = number / nest.run.count, index = number % nest.run.count;
    int64_t file = nest.run.file + index * nest.run.file_stride,
            memory = nest.run.memory + index * nest.run.memory_stride;
    for (int level = 0; level < nest.depth; ++level) {
      const Loop& loop = nest.loops[Nest::at(level)];
      index = rest % loop.count;
      rest /= loop.count;
      file += index * loop.file_stride;
      memory += index * loop.memory_stride;
    }
    for (int64_t k = 0; k < nest.run.length; ++k)
      map[file + k] = memory + k;
  }
}

inline ByteMap byte_map(const std::vector<Nest>& nests) {
  ByteMap map;
  for (const Nest& nest : nests)
    put_into(map, nest);
  return map;
}

inline std::vector<Nest> nests_of(PieceView list) {
  std::vector<Nest> nests;
  for (NestCursor cursor(list); !cursor.done(); cursor.next())
    nests.push_back(cursor.nest());
  return nests;
}

inline ByteMap byte_map(PieceView list) {
  return byte_map(nests_of(list));
}

inline std::vector<Run> runs_of(PieceView list) {
  std::vector<Run> runs;
  for (const Nest& nest : nests_of(list))
    for_each_run(nest, [&](const Run& run) { runs.push_back(run); });
  return runs;
}

inline Pieces pieces_of(const std::vector<Nest>& nests) {
  PiecesBuilder builder;
  for (const Nest& nest : nests)
    builder.add(nest);
  return builder.take();
}

inline Pieces pieces_of(const std::vector<Run>& runs) {
  PiecesBuilder builder;
  for (const Run& run : runs)
    builder.add(run);
  return builder.take();
}

inline std::vector<Extent> contiguous_extents(PieceView list) {
  std::vector<Extent> extents;
  for (const auto& [file, memory] : byte_map(list)) {
    if (!extents.empty() && extents.back().end == file)
      ++extents.back().end;
    else
      extents.push_back({file, file + 1});
  }
  return extents;
}

// The violated invariant, or "".
inline const char* broken_invariant(PieceView list) {
  int64_t end = 0;
  for (const Nest& nest : nests_of(list)) {
    const Run& run = nest.run;
    if (run.length <= 0 || run.count <= 0)
      return "positive length and count";
    if (run.file < end)
      return "order";
    if (run.count == 1 && (run.file_stride != 0 || run.memory_stride != 0))
      return "a single piece has no strides";
    if (run.count == 1 && nest.depth > 0)
      return "loops repeat several pieces";
    if (run.count > 1 && run.file_stride < run.length)
      return "disjoint pieces";
    if (run.count > 1 && run.file_stride == run.length && run.memory_stride == run.length)
      return "touching pieces are one";
    for (int i = 0; i < nest.depth; ++i)
      if (nest.loops[Nest::at(i)].count < 2 || nest.loops[Nest::at(i)].file_stride < nest.span(i))
        return "disjoint loops";
    end = nest.file_end();
  }
  return "";
}

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t operator()(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }  // inclusive

 private:
  std::mt19937_64 engine_;
};

// Regular, irregular and nested parts, consecutive from `file` on.
inline std::vector<Nest> random_nests(Random& random, int64_t file, int64_t parts) {
  std::vector<Nest> nests;
  int64_t memory = random(0, 20);
  for (; parts > 0; --parts) {
    const int64_t length = random(1, 5), hole = random(0, 4);
    if (random(0, 4) == 0) {
      Nest nest(Run{file, memory, length, 0, 0, 1});
      int64_t bytes = length;
      for (int64_t loops = random(1, 3); loops > 0; --loops) {
        const int64_t count = random(1, 3), memory_hole = random(0, 3) == 0 ? random(1, 9) : 0;
        nest.repeat(count, nest.span(nest.depth) + random(0, 3), bytes + memory_hole);
        bytes = (bytes + memory_hole) * count;
      }
      nests.push_back(nest);
      file = nest.file_end();
      memory += bytes;
    } else {
      const int64_t memory_hole = random(0, 2) == 0 ? random(-12, 7) : 0;
      for (int64_t count = random(1, 6); count > 0; --count) {
        nests.push_back(Nest(Run{file, memory, length, 0, 0, 1}));
        file += length + hole;
        memory += length + memory_hole;
        if (memory < 0)
          memory = 1000 + file;
      }
    }
    file += random(0, 8);
    memory += random(0, 3);
  }
  return nests;
}

// A valid list within about [0, 400).
inline Pieces random_list(Random& random) {
  return pieces_of(random_nests(random, random(0, 20), random(0, 6)));
}

}  // namespace windrow::test
