// SPDX-License-Identifier: BSD-3-Clause
// The table of compressors.
#include <array>

#include "codec/compressor.hpp"

namespace windrow {
namespace {

struct Entry {
  bool is_built_in;
  Compressor compressor;
};

// Fastest first.
constexpr std::array<Entry, k_compressor_places> k_table{
    Entry{WINDROW_CODEC_LZ4, {3, "lz4", 1, 1, make_lz4_state}},
    Entry{WINDROW_CODEC_LZO, {2, "lzo", 1, 1, make_lzo_state}},
    Entry{WINDROW_CODEC_ZSTD, {4, "zstd", 1, 19, make_zstd_state}},
};

struct BuiltIn {
  std::array<const Compressor*, k_table.size()> list{};
  size_t count = 0;
};

constexpr BuiltIn built_in() {
  BuiltIn found;
  for (const Entry& entry : k_table)
    if (entry.is_built_in) found.list[found.count++] = &entry.compressor;
  return found;
}

constexpr BuiltIn k_built_in = built_in();

}  // namespace

std::span<const Compressor* const> compressors() noexcept { return std::span(k_built_in.list).first(k_built_in.count); }

const Compressor* find_compressor(std::string_view name) noexcept {
  for (const Compressor* compressor : compressors())
    if (compressor->name() == name) return compressor;
  return nullptr;
}

int compressor_place(uint8_t id) noexcept {
  for (size_t place = 0; place < k_table.size(); ++place)
    if (k_table[place].compressor.id() == id) return static_cast<int>(place);
  return -1;
}

std::string_view compressor_name(int place) noexcept { return k_table[static_cast<size_t>(place)].compressor.name(); }

}  // namespace windrow
