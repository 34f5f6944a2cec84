// SPDX-License-Identifier: BSD-3-Clause
#include "codec/arms.hpp"

namespace windrow {

size_t arm_count() noexcept { return 1 + 2 * compressors().size(); }

const Compressor* compressor_of(size_t arm) noexcept { return arm == k_arm_off || arm >= arm_count() ? nullptr : compressors()[(arm - 1) / 2]; }

bool shuffles(size_t arm) noexcept { return arm != k_arm_off && arm % 2 == 0; }

std::string arm_name(size_t arm) {
  const Compressor* compressor = compressor_of(arm);
  return compressor == nullptr ? "off" : std::string(compressor->name()) + (shuffles(arm) ? "+shuffle" : "");
}

size_t find_arm(std::string_view compressor, bool shuffle) noexcept {
  for (size_t arm = 1; arm < arm_count(); ++arm)
    if (compressor_of(arm)->name() == compressor && shuffles(arm) == shuffle) return arm;
  return k_arm_off;
}

size_t arm_of(const FrameKind& kind) noexcept {
  for (size_t arm = 1; arm < arm_count(); ++arm)
    if (compressor_of(arm)->id() == kind.compressor && shuffles(arm) == kind.shuffled) return arm;
  return k_arm_off;
}

}  // namespace windrow
