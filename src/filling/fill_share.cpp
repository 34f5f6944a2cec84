// SPDX-License-Identifier: BSD-3-Clause
#include "filling/fill_share.hpp"

#include <algorithm>
#include <cstdint>

namespace windrow {

Extent fill_share(Extent whole, int rank, int ranks, const StorageLayout* layout) {
  constexpr int64_t k_least_bytes = int64_t{16} << 20;
  const int64_t parts = std::clamp<int64_t>((whole.size() + k_least_bytes - 1) / k_least_bytes, 1, ranks);
  const auto first_rank = [&](int64_t part) { return (part * ranks + parts - 1) / parts; };
  const int64_t part = static_cast<int64_t>(rank) * parts / ranks;
  if (first_rank(part) != rank)
    return {whole.begin, whole.begin};
  const int64_t each = whole.size() / parts, rest = whole.size() % parts;
  const auto begin_of = [&](int64_t number) {
    const int64_t begin = whole.begin + number * each + std::min(number, rest);
    if (layout == nullptr || !layout->is_striped() || number == 0 || number == parts)
      return begin;
    return std::min(whole.end, next_stripe(*layout, begin - 1));
  };
  return {begin_of(part), begin_of(part + 1)};
}

}  // namespace windrow
