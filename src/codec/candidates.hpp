// SPDX-License-Identifier: BSD-3-Clause
// Arms: the codec candidates for the messages of an exchange, as in multi-armed bandits. Arm 0 sends messages
// uncompressed. The others are the compressors, each without shuffle and, where that makes a difference, with it, in
// the order of compressors().
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "codec/codec.hpp"

namespace windrow {

inline constexpr size_t k_most_arms = 1 + 2 * k_compressor_places;  // or fewer
inline constexpr size_t k_arm_off = 0;

size_t arm_count() noexcept;                           // of those that are built in, including arm 0
const Compressor* compressor_of(size_t arm) noexcept;  // nullptr: arm 0
bool shuffles(size_t arm) noexcept;
std::string arm_name(size_t arm);                                     // "off", "lz4", "lz4+shuffle"
size_t find_arm(std::string_view compressor, bool shuffle) noexcept;  // arm 0: not built in, or not with shuffle
size_t arm_of(const FrameKind& kind) noexcept;                        // arm 0: none, or not built in

}  // namespace windrow
