// SPDX-License-Identifier: BSD-3-Clause
// Filters that do not compress: shuffle and checksum.
#include <algorithm>

#include "base/shuffle.hpp"
#include "filter/steps.hpp"

namespace windrow {
namespace {

size_t shuffled_size(const Filter& filter) {
  return filter.values.empty() ? 1 : std::max<size_t>(filter.values.front(), 1);
}

// As HDF5's H5_checksum_fletcher32: big-endian 16-bit units.
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

Status encode_shuffle(const Filter& filter, Bytes in, FilterBuffers&, ByteBuffer& out) {
  shuffle_bytes(in, shuffled_size(filter), out.room(in.size()));
  out.add(in.size());
  return {};
}

Status decode_shuffle(const Filter& filter, Bytes in, size_t, FilterBuffers&, ByteBuffer& out) {
  unshuffle_bytes(in, shuffled_size(filter), out.room(in.size()));
  out.add(in.size());
  return {};
}

Status encode_fletcher32(const Filter&, Bytes in, FilterBuffers&, ByteBuffer& out) {
  const uint32_t sum = fletcher32(in);
  const std::span<std::byte> to = out.room(in.size() + 4);
  std::copy(in.begin(), in.end(), to.begin());
  for (size_t i = 0; i < 4; ++i)
    to[in.size() + i] = static_cast<std::byte>(sum >> (8 * i));
  out.add(to.size());
  return {};
}

Status decode_fletcher32(const Filter&, Bytes in, size_t, FilterBuffers&, ByteBuffer& out) {
  if (in.size() < 4)
    return {Code::bad_file, "the checksum is missing"};
  uint32_t stored = 0;
  for (size_t i = 0; i < 4; ++i)
    stored |= static_cast<uint32_t>(in[in.size() - 4 + i]) << (8 * i);
  const Bytes data = in.first(in.size() - 4);
  // HDF5 before 1.6.3 swapped the bytes of each half on little-endian machines.
  const uint32_t sum = fletcher32(data), exchanged = (sum & 0x00ff00ff) << 8 | (sum & 0xff00ff00) >> 8;
  if (stored != sum && stored != exchanged)
    return {Code::bad_file, "the checksum (fletcher32) does not match the data"};
  out.append(data);
  return {};
}

}  // namespace windrow
