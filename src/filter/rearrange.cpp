// SPDX-License-Identifier: BSD-3-Clause
// Those that make nothing smaller: shuffle, and the checksum.
#include <algorithm>

#include "filter/steps.hpp"

namespace windrow {
namespace {

constexpr size_t k_part = 4096;  // elements: an element's bytes lie far apart on one side, and this many of them stay in the nearest cache

// Byte k of all elements, then byte k + 1; what is left over at the end stays behind. `to_planes`: into that order, else back. Size 0: `size`.
template <size_t Size>
void shuffle_parts(const std::byte* from, std::byte* to, size_t elements, size_t size, bool to_planes) {
  const size_t each = Size > 0 ? Size : size;
  for (size_t begin = 0; begin < elements; begin += k_part) {
    const size_t end = std::min(elements, begin + k_part);
    for (size_t k = 0; k < each; ++k) {
      const size_t plane = k * elements;
      if (to_planes)
        for (size_t i = begin; i < end; ++i) to[plane + i] = from[i * each + k];
      else
        for (size_t i = begin; i < end; ++i) to[i * each + k] = from[plane + i];
    }
  }
}

void shuffle_any(Bytes in, std::vector<std::byte>& out, size_t size, bool to_planes) {
  out.resize(in.size());
  if (size <= 1 || in.size() < size) {
    std::copy(in.begin(), in.end(), out.begin());
    return;
  }
  const size_t elements = in.size() / size;
  switch (size) {
    case 2: shuffle_parts<2>(in.data(), out.data(), elements, size, to_planes); break;
    case 4: shuffle_parts<4>(in.data(), out.data(), elements, size, to_planes); break;
    case 8: shuffle_parts<8>(in.data(), out.data(), elements, size, to_planes); break;
    default: shuffle_parts<0>(in.data(), out.data(), elements, size, to_planes);
  }
  std::copy(in.begin() + static_cast<std::ptrdiff_t>(elements * size), in.end(), out.begin() + static_cast<std::ptrdiff_t>(elements * size));
}

size_t shuffled_size(const Filter& filter) { return filter.values.empty() ? 1 : filter.values.front(); }

// As HDF5's H5_checksum_fletcher32: words of 16 bits, the first byte the higher one.
uint32_t fletcher32(Bytes in) {
  const auto byte_at = [&](size_t i) { return static_cast<uint32_t>(in[i]); };
  uint32_t low = 0, high = 0;
  const size_t words = in.size() / 2;
  for (size_t begin = 0; begin < words;) {
    const size_t end = std::min(words, begin + 360);  // before the sums overflow
    for (; begin < end; ++begin) {
      low += byte_at(2 * begin) << 8 | byte_at(2 * begin + 1);
      high += low;
    }
    low = (low & 0xffff) + (low >> 16);
    high = (high & 0xffff) + (high >> 16);
  }
  if (in.size() % 2 != 0) {
    low += byte_at(in.size() - 1) << 8;
    high += low;
    low = (low & 0xffff) + (low >> 16);
    high = (high & 0xffff) + (high >> 16);
  }
  low = (low & 0xffff) + (low >> 16);
  high = (high & 0xffff) + (high >> 16);
  return high << 16 | low;
}

}  // namespace

Status encode_shuffle(const Filter& filter, Bytes in, std::vector<std::byte>& out) {
  shuffle_any(in, out, shuffled_size(filter), true);
  return {};
}

Status decode_shuffle(const Filter& filter, Bytes in, size_t, std::vector<std::byte>& out) {
  shuffle_any(in, out, shuffled_size(filter), false);
  return {};
}

Status encode_fletcher32(const Filter&, Bytes in, std::vector<std::byte>& out) {
  out.assign(in.begin(), in.end());
  const uint32_t sum = fletcher32(in);
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<std::byte>(sum >> shift));
  return {};
}

Status decode_fletcher32(const Filter&, Bytes in, size_t, std::vector<std::byte>& out) {
  if (in.size() < 4) return {Code::bad_file, "the checksum is missing"};
  uint32_t stored = 0;
  for (size_t i = 0; i < 4; ++i) stored |= static_cast<uint32_t>(in[in.size() - 4 + i]) << (8 * i);
  const Bytes data = in.first(in.size() - 4);
  // Files of HDF5 before 1.6.3 made on little-endian machines have the bytes of each half exchanged.
  const uint32_t sum = fletcher32(data), exchanged = (sum & 0x00ff00ff) << 8 | (sum & 0xff00ff00) >> 8;
  if (stored != sum && stored != exchanged) return {Code::bad_file, "the checksum (fletcher32) does not fit the data"};
  out.assign(data.begin(), data.end());
  return {};
}

}  // namespace windrow
