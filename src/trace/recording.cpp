// SPDX-License-Identifier: BSD-3-Clause
#include "trace/recording.hpp"

#include <algorithm>
#include <bit>

namespace windrow {

void RequestSizes::add(int64_t requests, int64_t bytes) noexcept {
  if (requests <= 0)
    return;
  const auto each = static_cast<uint64_t>(std::max<int64_t>(1, bytes / requests));
  counts_[static_cast<size_t>(std::bit_width(each)) - 1] += requests;
}

void TargetBytes::add(int64_t target, int64_t bytes) noexcept {
  if (bytes <= 0)
    return;
  const auto end = parts_.begin() + static_cast<std::ptrdiff_t>(count_);
  auto found = std::find_if(parts_.begin(), end, [&](const Part& part) { return part.target == target; });
  if (found == end && count_ >= k_most && target != k_others)
    return add(k_others, bytes);
  if (found == end)
    parts_[count_++] = {.target = target, .bytes = 0};
  found->bytes += bytes;
}

}  // namespace windrow
