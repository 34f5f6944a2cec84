// SPDX-License-Identifier: BSD-3-Clause
#include "codec/candidates.hpp"

#include <array>

namespace windrow {
namespace {

struct Arm {
  const Compressor* compressor = nullptr;
  bool shuffles = false;
};

struct Table {
  std::array<Arm, k_most_arms> arms;
  size_t count = 1;  // the first candidate has no compressor

  Table() noexcept {
    for (const Compressor* compressor : compressors()) {
      arms[count++] = {compressor, false};
      if (compressor->shuffles())
        arms[count++] = {compressor, true};
    }
  }
};

const Table& table() noexcept {
  static const Table made;
  return made;
}

template <class Predicate>
size_t find(Predicate is_it) noexcept {
  for (size_t arm = 1; arm < table().count; ++arm)
    if (is_it(table().arms[arm]))
      return arm;
  return k_arm_off;
}

}  // namespace

size_t arm_count() noexcept {
  return table().count;
}

const Compressor* compressor_of(size_t arm) noexcept {
  return arm < arm_count() ? table().arms[arm].compressor : nullptr;
}

bool shuffles(size_t arm) noexcept {
  return arm < arm_count() && table().arms[arm].shuffles;
}

std::string arm_name(size_t arm) {
  const Compressor* compressor = compressor_of(arm);
  return compressor == nullptr ? "off" : std::string(compressor->name()) + (shuffles(arm) ? "+shuffle" : "");
}

size_t find_arm(std::string_view compressor, bool shuffle) noexcept {
  return find([&](const Arm& each) { return each.compressor->name() == compressor && each.shuffles == shuffle; });
}

size_t arm_of(const FrameKind& kind) noexcept {
  return find(
      [&](const Arm& each) { return each.compressor->id() == kind.compressor && each.shuffles == kind.shuffled; });
}

}  // namespace windrow
