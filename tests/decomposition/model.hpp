// SPDX-License-Identifier: BSD-3-Clause
// The naive model of decompositions: one map entry per element, made by a loop over every block.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "decomposition/decomposition.hpp"

namespace windrow::test {

using ElementMap = std::map<int64_t, int64_t>;  // element -> place in memory

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t operator()(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }  // inclusive

 private:
  std::mt19937_64 engine_;
};

inline ElementMap element_map(PieceView list) {
  ElementMap map;
  for_each_piece(list, [&](const Piece& piece) {
    for (int64_t k = 0; k < piece.length; ++k)
      map[piece.file + k] = piece.memory + k;
  });
  return map;
}

inline std::vector<Run> runs_of(PieceView list) {
  std::vector<Run> runs;
  for (NestCursor cursor(list); !cursor.done(); cursor.next())
    for_each_run(cursor.nest(), [&](const Run& run) { runs.push_back(run); });
  return runs;
}

inline Pieces pieces_of(const std::vector<Run>& runs) {
  PiecesBuilder builder;
  for (const Run& run : runs)
    builder.add(run);
  return builder.take();
}

// Blocks as arguments of a user.
struct Blocks {
  int64_t count = 0;
  std::vector<int64_t> starts, counts, memory_shapes, memory_starts;
  BlockLists lists() const { return {starts, counts, memory_shapes, memory_starts}; }
};

// Random blocks within `shape`, with ghost cells around them. Some are empty.
inline Blocks random_blocks(Random& random, const std::vector<int64_t>& shape, int64_t blocks) {
  Blocks made{blocks, {}, {}, {}, {}};
  for (int64_t i = 0; i < blocks; ++i)
    for (const int64_t size : shape) {
      const int64_t start = random(0, std::max<int64_t>(0, size - 1));
      const int64_t count = random(0, 3) == 0 ? size - start : random(std::min<int64_t>(1, size), size - start);
      const int64_t before = random(0, 2) == 0 ? random(0, 2) : 0;
      const int64_t after = random(0, 2) == 0 ? random(0, 2) : 0;
      made.starts.push_back(start);
      made.counts.push_back(random(0, 30) == 0 ? 0 : count);
      made.memory_shapes.push_back(before + count + after);
      made.memory_starts.push_back(before);
    }
  return made;
}

// Calls visit(index in the block, number in the file) for each element of a block.
template <class Visit>
void for_each_element(const std::vector<int64_t>& shape, const Blocks& blocks, int64_t block, Visit&& visit) {
  const size_t n = shape.size(), first = static_cast<size_t>(block) * n;
  int64_t elements = 1;
  for (size_t d = 0; d < n; ++d)
    elements *= blocks.counts[first + d];
  std::vector<int64_t> index = shape;  // for the number of dimensions
  for (int64_t number = 0; number < elements; ++number) {
    int64_t rest = number, file = 0, file_stride = 1;
    for (size_t d = n; d-- > 0;) {
      index[d] = rest % blocks.counts[first + d];
      rest /= blocks.counts[first + d];
      file += (blocks.starts[first + d] + index[d]) * file_stride;
      file_stride *= shape[d];
    }
    visit(index, file);
  }
}

inline ElementMap model_of(const std::vector<int64_t>& shape, const Blocks& blocks) {
  ElementMap map;
  const size_t n = shape.size();
  int64_t base = 0;
  for (int64_t i = 0; i < blocks.count; ++i) {
    const auto at = [&](const std::vector<int64_t>& all, size_t d) { return all[static_cast<size_t>(i) * n + d]; };
    int64_t elements = 1, box = 1;
    for (size_t d = 0; d < n; ++d) {
      elements *= at(blocks.counts, d);
      box *= at(blocks.memory_shapes, d);
    }
    for (int64_t number = 0; number < elements; ++number) {
      int64_t rest = number, file = 0, memory = 0, file_stride = 1, memory_stride = 1;
      for (size_t d = n; d-- > 0;) {
        const int64_t index = rest % at(blocks.counts, d);
        rest /= at(blocks.counts, d);
        file += (at(blocks.starts, d) + index) * file_stride;
        memory += (at(blocks.memory_starts, d) + index) * memory_stride;
        file_stride *= shape[d];
        memory_stride *= at(blocks.memory_shapes, d);
      }
      map[file] = base + memory;
    }
    base += box;
  }
  return map;
}

}  // namespace windrow::test
