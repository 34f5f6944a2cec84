// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/walker.hpp"

#include <algorithm>

namespace windrow {

int64_t Grid::steps() const noexcept {
  int64_t rounds = 0;
  for (const Windows& windows : domains)
    rounds = std::max(rounds, windows.count());
  return rounds * static_cast<int64_t>(domains.size());
}

Window Grid::window(int64_t step) const noexcept {
  const Windows& windows = domains[domain_of(step)];
  const int64_t round = round_of(step);
  return round < windows.count() ? windows.window(round) : Window{};
}

Grid whole_file_grid(int64_t window_bytes, int64_t message_bytes) {
  // Larger than any file offset, and small enough that the end of a cell does not overflow.
  constexpr int64_t k_everything = INT64_MAX / 4;
  return {.domains = {Windows{.domain = {0, k_everything}, .bytes = window_bytes, .message_bytes = message_bytes}}};
}

}  // namespace windrow
