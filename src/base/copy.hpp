// SPDX-License-Identifier: BSD-3-Clause
// Copies long runs of bytes without the slow case of `rep movsb` on AMD processors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace windrow {

// Whether a copy by `rep movsb` takes several times as long on Zen 3 and 4: the target lies up to 31 bytes after the
// source, modulo the page size. memcpy() of glibc 2.33 to 2.38 uses `rep movsb` above some 2 KiB, and so does the
// kernel for read() and write(). The case is common, since memory from malloc() begins 16 bytes after a page boundary
// and other buffers begin at one. Source: sourceware.org bug 30994; microsoft/STL issue 5658.
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

// memcpy(), in pieces that glibc copies with vector instructions where the whole copy would be slow.
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
