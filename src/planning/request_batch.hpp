// SPDX-License-Identifier: BSD-3-Clause
// RequestBatch: byte ranges and memory that move by one plan. What they are of, only those know who made the batch.
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

// A prepared plan is found again by these: an object, a list of ranges in it, and what else decides which bytes move.
// Lists of one number are the same for all ranks, and their ranges are disjoint between ranks where they are written.
using BatchKey = std::array<int64_t, 3>;

// To be written, or to be read. The numbers are this rank's.
struct RequestBatch : PatternNumbers {
  bool reading = false;
  std::vector<Item> items;                            // sorted by place in the file
  std::vector<std::shared_ptr<const ByteRuns>> runs;  // [items] what they point to
  std::vector<BatchKey> key;                          // sorted
  std::vector<int64_t> objects;                       // bits: those that this rank moves something of

  struct Memory {
    std::byte* data = nullptr;
    int64_t swap_bytes = 1;  // see Item
    int element_bytes = 1;
  };
  // Ranges from `base` of the file on. May throw std::bad_alloc, as the next.
  void add(std::shared_ptr<const ByteRuns> ranges, int64_t base, const Memory& memory);
  // Once all is in the lists. `rank`: this one.
  void finish(int rank);
};

}  // namespace windrow
