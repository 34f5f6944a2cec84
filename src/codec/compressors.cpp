// SPDX-License-Identifier: BSD-3-Clause
// The table of compressors, sorted. Each compressor is a constant of its file and thus initialized before any code
// runs.
#include <algorithm>
#include <array>
#include <functional>

#include "codec/compressor.hpp"

namespace windrow {
namespace {

struct Table {
  std::array<const Compressor*, k_compressor_places> known = k_compressors_found, fastest_first = k_compressors_found;
  size_t built_in = 0;  // entries of fastest_first

  Table() noexcept {
    std::ranges::sort(known, std::ranges::less(), &Compressor::id);
    std::ranges::sort(fastest_first, std::ranges::greater(), &Compressor::megabytes_per_s);
    const auto end = std::remove_if(fastest_first.begin(), fastest_first.end(), std::not_fn(&Compressor::is_built_in));
    built_in = static_cast<size_t>(end - fastest_first.begin());
  }
};

const Table& table() noexcept {
  static const Table made;
  return made;
}

}  // namespace

std::span<const Compressor* const> known_compressors() noexcept {
  return table().known;
}

int compressor_place(uint8_t id) noexcept {
  const auto found = std::ranges::find(table().known, id, &Compressor::id);
  return found == table().known.end() ? -1 : static_cast<int>(found - table().known.begin());
}

std::span<const Compressor* const> compressors() noexcept {
  return std::span(table().fastest_first).first(table().built_in);
}

const Compressor* find_compressor(std::string_view name) noexcept {
  const auto found = std::ranges::find(compressors(), name, &Compressor::name);
  return found == compressors().end() ? nullptr : *found;
}

}  // namespace windrow
