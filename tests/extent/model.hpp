// SPDX-License-Identifier: BSD-3-Clause
// The naive model that lists of runs are tested against: one map entry a byte. And seeded random lists.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "extent/runs.hpp"

namespace windrow::test {

using ByteMap = std::map<int64_t, int64_t>;  // file byte -> memory byte

inline ByteMap byte_map(const RunList& list) {
  ByteMap map;
  for (const Run& run : list)
    for (int64_t i = 0; i < run.count; ++i)
      for (int64_t k = 0; k < run.length; ++k)
        map[run.file + i * run.file_stride + k] = run.memory + i * run.memory_stride + k;
  return map;
}

// "" or which invariant of extent.hpp is broken.
inline const char* broken_invariant(const RunList& list) {
  int64_t end = 0;
  for (const Run& run : list) {
    if (run.length <= 0 || run.count <= 0) return "positive length and count";
    if (run.file < end) return "order";
    if (run.count == 1 && (run.file_stride != 0 || run.memory_stride != 0)) return "a single piece has no strides";
    if (run.count > 1 && run.file_stride < run.length) return "disjoint pieces";
    if (run.count > 1 && run.file_stride == run.length && run.memory_stride == run.length)
      return "touching pieces are one";
    end = run.file_end();
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

// A valid list within about [0, 400), of regular and irregular parts.
inline RunList random_list(Random& random) {
  RunBuilder builder;
  int64_t file = random(0, 20);
  int64_t memory = random(0, 20);
  for (int64_t part = random(0, 6); part > 0; --part) {
    const int64_t length = random(1, 5);
    const int64_t hole = random(0, 4);
    const int64_t memory_hole = random(0, 2) == 0 ? random(-12, 7) : 0;
    for (int64_t count = random(1, 6); count > 0; --count) {
      builder.add(Piece{file, memory, length});
      file += length + hole;
      memory += length + memory_hole;
      if (memory < 0) memory = 1000 + file;
    }
    file += random(0, 8);
    memory += random(0, 3);
  }
  return builder.take();
}

}  // namespace windrow::test
