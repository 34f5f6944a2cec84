// SPDX-License-Identifier: BSD-3-Clause
// Bytes that repeat one element.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace windrow {

// `bytes` becomes part of elements one behind the other: it begins `phase` bytes behind the beginning of one. No value
// means zeros.
inline void paint(std::span<std::byte> bytes, int64_t phase, std::span<const std::byte> fill) noexcept {
  if (fill.empty() || std::all_of(fill.begin(), fill.end(), [&](std::byte each) { return each == fill.front(); })) {
    std::fill(bytes.begin(), bytes.end(), fill.empty() ? std::byte{0} : fill.front());
    return;
  }
  auto from = static_cast<size_t>(phase);
  for (size_t at = 0; at < bytes.size();) {
    const size_t length = std::min(fill.size() - from, bytes.size() - at);
    std::memcpy(bytes.data() + at, fill.data() + from, length);
    at += length;
    from = 0;
  }
}

}  // namespace windrow
