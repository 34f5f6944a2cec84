// SPDX-License-Identifier: BSD-3-Clause
// RequestBatch: byte ranges of a file, and memory, that are moved by one plan. The objects that the ranges belong to
// are numbers here; the caller knows what they are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "exchange/item.hpp"
#include "extent/byte_runs.hpp"
#include "planning/pattern_numbers.hpp"

namespace windrow {

// The key of one request in the plan cache: an object, a list of ranges in it, and a number for everything else that
// decides which bytes move. Lists with one number are the lists of one collective object. When they are written, the
// ranges of different ranks are disjoint.
using BatchKey = std::array<int64_t, 3>;

// The writes or the reads of this rank. The numbers of the base class are those of this rank.
struct RequestBatch : PatternNumbers {
  bool reading = false;
  std::vector<Item> items;                            // sorted by place in the file
  std::vector<std::shared_ptr<const ByteRuns>> runs;  // [items] the ranges that the items refer to
  std::vector<BatchKey> key;                          // sorted
  std::vector<int64_t> objects;                       // a bit for each object of which this rank moves bytes

  struct Memory {
    std::byte* data = nullptr;
    int64_t swap_bytes = 1;  // see Item
    int element_bytes = 1;
  };
  // Adds ranges that begin at offset `base` of the file. May throw std::bad_alloc.
  void add(std::shared_ptr<const ByteRuns> ranges, int64_t base, const Memory& memory);
  // Called after the last add(): sorts the lists and completes the numbers. `rank`: this rank. May throw
  // std::bad_alloc.
  void finish(int rank);
};

}  // namespace windrow
