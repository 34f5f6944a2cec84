// SPDX-License-Identifier: BSD-3-Clause
// What stores share about lists of slices.
#pragma once

#include <optional>
#include <span>

#include "base/checked.hpp"
#include "storage/store.hpp"

namespace windrow {

// Bytes of all slices; none when one is negative or the sum leaves 64 bits.
template <class SliceType>
std::optional<int64_t> total_bytes(std::span<const SliceType> slices) noexcept {
  std::optional<int64_t> total = 0;
  for (const SliceType& slice : slices) {
    if (slice.size < 0)
      return std::nullopt;
    total = checked_add(*total, slice.size);
    if (!total)
      return std::nullopt;
  }
  return total;
}

}  // namespace windrow
