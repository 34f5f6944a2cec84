// SPDX-License-Identifier: BSD-3-Clause
// Finds one regular grid over parts of different sizes.
#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "kerchunk/kerchunk.hpp"

namespace windrow {
namespace {

constexpr int64_t k_most_bytes = int64_t{64} << 20, k_least_bytes = int64_t{1} << 20;

// The largest number that divides all range boundaries.
int64_t common_divisor(const std::vector<int64_t>& bounds) {
  return std::max<int64_t>(1, std::accumulate(bounds.begin(), bounds.end(), int64_t{0},
                                              [](int64_t a, int64_t b) { return std::gcd(a, b); }));
}

bool are_even(const std::vector<int64_t>& bounds, int64_t length) {
  return static_cast<int64_t>(bounds.size()) - 1 == bounds.back() / length;
}

// The largest divisor of `number` that is at most `most`.
int64_t divisor_below(int64_t number, int64_t most) {
  int64_t best = 1;
  for (int64_t each = 1; each <= number / each; ++each) {
    if (number % each != 0)
      continue;
    if (each <= most)
      best = std::max(best, each);
    if (number / each <= most)
      best = std::max(best, number / each);
  }
  return best;
}

}  // namespace

std::vector<int64_t> regular_chunk(std::span<const std::vector<int64_t>> bounds, int64_t element_bytes) {
  std::vector<int64_t> chunk(bounds.size(), 1);
  int64_t bytes = element_bytes;
  for (size_t i = bounds.size(); i-- > 0;) {
    chunk[i] = common_divisor(bounds[i]);
    bytes = checked_multiply(bytes, chunk[i]).value_or(INT64_MAX);
    if (!are_even(bounds[i], chunk[i]))
      break;  // slower dimensions are not contiguous
  }
  for (size_t i = 0; i < chunk.size() && bytes > k_most_bytes; ++i) {
    const int64_t row = bytes / chunk[i];
    const int64_t rows = divisor_below(chunk[i], std::max<int64_t>(1, k_most_bytes / row));
    if (rows * row < k_least_bytes)
      break;
    chunk[i] = rows;
    bytes = rows * row;
    if (rows > 1)
      break;  // dividing a faster dimension too would make rows that are not contiguous
  }
  return chunk;
}

std::optional<int64_t> count_of_chunks(std::span<const int64_t> shape, std::span<const int64_t> chunk) noexcept {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return 0;
  int64_t count = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t along = (shape[i] - 1) / chunk[i] + 1;
    if (along > k_most_references / count)
      return std::nullopt;
    count *= along;
  }
  return count;
}

int64_t unread_tail(const Chunking& chunking) noexcept {
  constexpr int64_t k_checksum = 4;
  return !chunking.filters.empty() && chunking.filters.back().id == static_cast<int>(FilterId::fletcher32) ? k_checksum
                                                                                                           : 0;
}

}  // namespace windrow
