// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/item.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#if defined(__x86_64__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)  // Clang, and GCC since 12
#define WINDROW_HAS_LANES
#endif
#endif

namespace windrow {

Item make_item(PieceView runs, int64_t file_base, std::byte* memory, int64_t swap_bytes, int element_bytes) {
  const Extent relative = hull(runs);
  return {.runs = runs,
          .hull = {relative.begin + file_base, relative.end + file_base},
          .total = total_bytes(runs),
          .file_base = file_base,
          .memory = memory,
          .swap_bytes = swap_bytes,
          .element_bytes = element_bytes};
}

int element_bytes_of(std::span<const Item> items, Extent domain) {
  int most = 1;
  int64_t bytes_of_most = 0;
  for (const Item& item : items) {
    if (item.hull.begin >= domain.end || item.hull.end <= domain.begin || item.total <= bytes_of_most)
      continue;
    most = item.element_bytes;
    bytes_of_most = item.total;
  }
  return most;
}

namespace {

// Reverses the bytes of each element in a word.
template <int size>
uint64_t reversed(uint64_t word) noexcept {
  if constexpr (size == 8)
    return __builtin_bswap64(word);
  if constexpr (size == 4)
    return std::rotl(__builtin_bswap64(word), 32);
  constexpr uint64_t k_low = 0x00ff00ff00ff00ffU;
  return (word & k_low) << 8 | (word >> 8 & k_low);
}

#ifdef WINDROW_HAS_LANES

using Lanes = uint8_t __attribute__((vector_size(32)));
constexpr int64_t k_lanes = sizeof(Lanes);

// 32 bytes at a time; single words are slower (docs/internals/notes/2026-11-30-numbers-from-comments.md).
template <int size, size_t... places>
__attribute__((target("avx2"))) int64_t reverse_lanes(std::byte* to, const std::byte* from, int64_t length,
                                                      std::index_sequence<places...>) noexcept {
  int64_t at = 0;
  for (; at + k_lanes <= length; at += k_lanes) {
    Lanes lanes;
    std::memcpy(&lanes, from + at, sizeof lanes);
    lanes = __builtin_shufflevector(lanes, lanes, (places ^ (size - 1))...);
    std::memcpy(to + at, &lanes, sizeof lanes);
  }
  return at;
}

bool has_lanes() noexcept {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}

#endif

// Whole elements; the operation is its own inverse. Bytes after the last whole word are left.
template <int size>
int64_t reverse_words(std::byte* to, const std::byte* from, int64_t length) noexcept {
  constexpr int64_t k_word = sizeof(uint64_t);
  int64_t at = 0;
#ifdef WINDROW_HAS_LANES
  if (length >= 2 * k_lanes && has_lanes())
    at = reverse_lanes<size>(to, from, length, std::make_index_sequence<k_lanes>());
#endif
  for (; at + k_word <= length; at += k_word) {
    uint64_t word = 0;
    std::memcpy(&word, from + at, sizeof word);
    word = reversed<size>(word);
    std::memcpy(to + at, &word, sizeof word);
  }
  return at;
}

int64_t reverse_elements(std::byte* to, const std::byte* from, int64_t length, int64_t size) noexcept {
  if (size == 8)
    return reverse_words<8>(to, from, length);
  if (size == 4)
    return reverse_words<4>(to, from, length);
  return size == 2 ? reverse_words<2>(to, from, length) : 0;
}

}  // namespace

// Byte i of an element in the file is byte size-1-i in memory. A piece may begin or end within an element where a
// window cuts it; these bytes are copied one by one.
void copy_swapped_from(std::byte* to, const std::byte* whole, int64_t phase, int64_t length, int64_t size) {
  int64_t i = 0;
  const auto by_bytes = [&](int64_t end) {
    for (; i < end; ++i) {
      const int64_t at = phase + i, element = at / size * size;
      to[i] = whole[element + size - 1 - (at - element)];
    }
  };
  by_bytes(std::min(length, phase == 0 ? 0 : size - phase));
  i += reverse_elements(to + i, whole + phase + i, length - i, size);
  by_bytes(length);
}

void copy_swapped_to(std::byte* whole, const std::byte* from, int64_t phase, int64_t length, int64_t size) {
  int64_t i = 0;
  const auto by_bytes = [&](int64_t end) {
    for (; i < end; ++i) {
      const int64_t at = phase + i, element = at / size * size;
      whole[element + size - 1 - (at - element)] = from[i];
    }
  };
  by_bytes(std::min(length, phase == 0 ? 0 : size - phase));
  i += reverse_elements(whole + phase + i, from + i, length - i, size);
  by_bytes(length);
}

namespace {

inline void copy_out(const Item& item, int64_t memory, int64_t length, std::byte* to) {
  if (item.swap_bytes == 1) {
    copy_bytes(to, item.memory + memory, length);
  } else {
    const int64_t phase = memory % item.swap_bytes;
    copy_swapped_from(to, item.memory + (memory - phase), phase, length, item.swap_bytes);
  }
}

inline void copy_in(const Item& item, int64_t memory, int64_t length, const std::byte* from) {
  if (item.swap_bytes == 1) {
    copy_bytes(item.memory + memory, from, length);
  } else {
    const int64_t phase = memory % item.swap_bytes;
    copy_swapped_to(item.memory + (memory - phase), from, phase, length, item.swap_bytes);
  }
}

}  // namespace

int64_t place_in_slot(std::span<const Item> items, const Window& window, std::byte* slot) {
  int64_t copied = 0;
  for_each_in(items, window, [&](const Item& item, int64_t memory, int64_t place, int64_t length) {
    copy_out(item, memory, length, slot + place);
    copied += length;
  });
  return copied;
}

int64_t pack_message(std::span<const Item> items, const Window& window, std::byte* message) {
  int64_t copied = 0;
  for_each_in(items, window, [&](const Item& item, int64_t memory, int64_t, int64_t length) {
    copy_out(item, memory, length, message + copied);
    copied += length;
  });
  return copied;
}

int64_t take_from_slot(std::span<const Item> items, const Window& window, const std::byte* slot) {
  int64_t copied = 0;
  for_each_in(items, window, [&](const Item& item, int64_t memory, int64_t place, int64_t length) {
    copy_in(item, memory, length, slot + place);
    copied += length;
  });
  return copied;
}

int64_t unpack_message(std::span<const Item> items, const Window& window, const std::byte* message) {
  int64_t copied = 0;
  for_each_in(items, window, [&](const Item& item, int64_t memory, int64_t, int64_t length) {
    copy_in(item, memory, length, message + copied);
    copied += length;
  });
  return copied;
}

}  // namespace windrow
