// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include "codec/codec.hpp"

namespace windrow {

Result<std::unique_ptr<CodecWorkspace>> CodecWorkspace::make(int64_t largest, std::span<const Compressor* const> used,
                                                             int level) {
  if (largest < 0 || largest > std::numeric_limits<uint32_t>::max())
    return Status{Code::bad_argument, "the messages of an exchange have less than 4 GiB"};
  try {
    std::unique_ptr<CodecWorkspace> made(new CodecWorkspace);
    made->largest_ = largest;
    made->rearranged_ =
        std::make_unique_for_overwrite<std::byte[]>(std::max(static_cast<size_t>(largest), k_sample_bytes));
    made->sample_ = std::make_unique_for_overwrite<std::byte[]>(2 * k_sample_bytes);
    for (const Compressor* compressor : used) {
      auto& state = made->states_[static_cast<size_t>(compressor_place(compressor->id()))];
      const int most = std::clamp(level > 0 ? level : compressor->default_level(), 1, compressor->largest_level());
      if (!state)
        state = compressor->make_state(std::max(largest, static_cast<int64_t>(k_sample_bytes)), most);
    }
    return made;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

int64_t CodecWorkspace::bytes() const noexcept {
  auto sum =
      static_cast<int64_t>(sizeof *this + std::max(static_cast<size_t>(largest_), k_sample_bytes) + 2 * k_sample_bytes);
  for (const auto& state : states_)
    if (state)
      sum += state->bytes();
  return sum;
}

}  // namespace windrow
