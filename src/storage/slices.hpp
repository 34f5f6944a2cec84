// SPDX-License-Identifier: BSD-3-Clause
// Helpers for lists of slices that stores share.
#pragma once

#include <optional>
#include <span>

#include "base/checked.hpp"
#include "storage/store.hpp"

namespace windrow {

// Bytes of all slices; nullopt if one is negative or the sum exceeds 64 bits.
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
