// SPDX-License-Identifier: BSD-3-Clause
// PatternNumbers: each rank's contribution to the summary of a batch, and the summary over all ranks. One table defines
// the reduction of each number. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "extent/extent.hpp"
#include "planning/sampled_ratio.hpp"

namespace windrow {

struct PatternNumbers {
  // Sums over all ranks.
  int64_t bytes = 0;
  int64_t pieces = 0;
  int64_t long_bytes = 0, long_pieces = 0;  // pieces that may be written independently
  int64_t ranks_with_data = 0;
  int64_t entries = 0;         // requests, as many as keys
  SampledRatio sampled_ratio;  // of data for other hosts

  // Maxima over all ranks.
  int64_t largest_rank_bytes = 0;
  int64_t owned_flags = 0;  // 1: flags say which rank writes a point
  int64_t replicas = 0;     // 1: several ranks hold a point
  // Lists of points, ranges of equal length in any order: the most points of a list, the elements of a point, and the
  // points that no rank holds.
  int64_t points = 0, load = 0, holes = 0;
  int64_t shared_reads = 0;  // 1: a list of ranges that all ranks read
  int64_t in_memory = 0;     // 1: the bytes to read are in the page cache of the only host

  // If all ranks read all ranges of every request: a number that identifies the keys. Equal numbers on every rank mean
  // equal requests.
  int64_t uniform_most = 0, uniform_least = 0;
  bool is_uniform() const noexcept { return uniform_most == uniform_least; }

  // The lowest start and the highest end over all ranks. The client says what of, and its context uses them.
  Extent hull{INT64_MAX, 0};
  Extent records{INT64_MAX, 0};
};

enum class Combine {
  sum,
  maximum,
  minimum
};

struct PatternField {
  Combine combine;
  int64_t& (*of)(PatternNumbers& numbers);
};

// A new number needs a member and a line here.
inline constexpr std::array k_pattern_fields{
    PatternField{Combine::sum, [](PatternNumbers& n) -> int64_t& { return n.bytes; }},
    PatternField{Combine::sum, [](PatternNumbers& n) -> int64_t& { return n.pieces; }},
    PatternField{Combine::sum, [](PatternNumbers& n) -> int64_t& { return n.long_bytes; }},
    PatternField{Combine::sum, [](PatternNumbers& n) -> int64_t& { return n.long_pieces; }},
    PatternField{Combine::sum, [](PatternNumbers& n) -> int64_t& { return n.ranks_with_data; }},
    PatternField{Combine::sum, [](PatternNumbers& n) -> int64_t& { return n.entries; }},
    PatternField{Combine::sum, [](PatternNumbers& n) -> int64_t& { return n.sampled_ratio.bytes; }},
    PatternField{Combine::sum, [](PatternNumbers& n) -> int64_t& { return n.sampled_ratio.left; }},
    PatternField{Combine::maximum, [](PatternNumbers& n) -> int64_t& { return n.largest_rank_bytes; }},
    PatternField{Combine::maximum, [](PatternNumbers& n) -> int64_t& { return n.owned_flags; }},
    PatternField{Combine::maximum, [](PatternNumbers& n) -> int64_t& { return n.replicas; }},
    PatternField{Combine::maximum, [](PatternNumbers& n) -> int64_t& { return n.points; }},
    PatternField{Combine::maximum, [](PatternNumbers& n) -> int64_t& { return n.load; }},
    PatternField{Combine::maximum, [](PatternNumbers& n) -> int64_t& { return n.holes; }},
    PatternField{Combine::maximum, [](PatternNumbers& n) -> int64_t& { return n.shared_reads; }},
    PatternField{Combine::maximum, [](PatternNumbers& n) -> int64_t& { return n.in_memory; }},
    PatternField{Combine::maximum, [](PatternNumbers& n) -> int64_t& { return n.uniform_most; }},
    PatternField{Combine::minimum, [](PatternNumbers& n) -> int64_t& { return n.uniform_least; }},
    PatternField{Combine::minimum, [](PatternNumbers& n) -> int64_t& { return n.hull.begin; }},
    PatternField{Combine::maximum, [](PatternNumbers& n) -> int64_t& { return n.hull.end; }},
    PatternField{Combine::minimum, [](PatternNumbers& n) -> int64_t& { return n.records.begin; }},
    PatternField{Combine::maximum, [](PatternNumbers& n) -> int64_t& { return n.records.end; }},
};
inline constexpr size_t k_pattern_sums =
    static_cast<size_t>(std::count_if(k_pattern_fields.begin(), k_pattern_fields.end(),
                                      [](const PatternField& each) { return each.combine == Combine::sum; }));
// minima are reduced as negated maxima
inline constexpr size_t k_pattern_maxima = k_pattern_fields.size() - k_pattern_sums;
static_assert(sizeof(PatternNumbers) == k_pattern_fields.size() * sizeof(int64_t), "each number is in the table");

using PatternSums = std::span<int64_t, k_pattern_sums>;
using PatternMaxima = std::span<int64_t, k_pattern_maxima>;

// Writes this rank's numbers to the arrays of a reduction.
inline void pack(PatternNumbers numbers, PatternSums sums, PatternMaxima maxima) noexcept {
  auto sum = sums.begin();
  auto maximum = maxima.begin();
  for (const PatternField& field : k_pattern_fields) {
    const int64_t number = field.of(numbers);
    if (field.combine == Combine::sum)
      *sum++ = number;
    else
      *maximum++ = field.combine == Combine::minimum ? -number : number;
  }
}

// Reads the numbers of all ranks back.
inline void unpack(PatternSums sums, PatternMaxima maxima, PatternNumbers& numbers) noexcept {
  auto sum = sums.begin();
  auto maximum = maxima.begin();
  for (const PatternField& field : k_pattern_fields) {
    if (field.combine == Combine::sum)
      field.of(numbers) = *sum++;
    else
      field.of(numbers) = field.combine == Combine::minimum ? -*maximum++ : *maximum++;
  }
}

}  // namespace windrow
