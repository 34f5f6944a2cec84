// SPDX-License-Identifier: BSD-3-Clause
// Copies of long runs of bytes that do not fall into the slow case of AMD's processors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace windrow {

// Whether a copy that ends up in `rep movsb` - memcpy() of glibc 2.33 to 2.38 above some 2 KiB, and the kernel's for
// read() and write() - takes several times as long with Zen 3 and 4: where the target lies up to 31 bytes behind the
// source, whole pages apart. What malloc() gives begins 16 bytes behind a page, so it is the common case for what
// begins with a page. Source: sourceware.org bug 30994; microsoft/STL issue 5658.
inline bool copies_slowly(uint64_t to, uint64_t from) noexcept {
#if defined(__x86_64__)
  const uint64_t apart = (to - from) % 4096;
  return apart >= 1 && apart <= 31;
#else
  return static_cast<void>(to), static_cast<void>(from), false;
#endif
}

inline uint64_t address_of(const void* memory) noexcept {
  return reinterpret_cast<uintptr_t>(memory);
}

// memcpy(), in pieces that glibc moves by vectors where the whole would be slow.
inline void copy_long(std::byte* to, const std::byte* from, size_t length) noexcept {
  constexpr size_t k_vectors = 2048;
  if (length <= k_vectors || !copies_slowly(address_of(to), address_of(from))) {
    std::memcpy(to, from, length);
    return;
  }
  for (size_t at = 0; at < length; at += k_vectors)
    std::memcpy(to + at, from + at, std::min(k_vectors, length - at));
}

}  // namespace windrow
