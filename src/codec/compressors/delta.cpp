// SPDX-License-Identifier: BSD-3-Clause
// Bit-packed differences of neighbours: for numbers that change smoothly, at some GB/s a core. Needs no library.
// Sources: delta encoding of Apache Parquet (DELTA_BINARY_PACKED), extended by differences of differences; D. Lemire,
// L. Boytsov, Decoding billions of integers per second through vectorization, Software: Practice and Experience 45
// (2015), for groups with one width each.
//
// Format, for elements of 2, 4 or 8 bytes (nothing for others):
//   a byte: the size of an element, and k_swapped if its bytes are in the opposite order of this machine
//   for each block of 256 elements (the last may be shorter):
//     a byte: the order of the differences, 0 to 2; the elements before the first are zeros
//     half a byte for each group of four elements, the first in the lower half: the group's width, in steps
//     the four remainders of each group, the first in the lowest bits, packed at the group's width; groups begin on a
//     byte
//   the bytes after the last whole element
// Differences wrap around and are zigzag-coded (0, -1, 1, -2, ... become 0, 1, 2, 3, ...). Missing elements of the last
// group are zeros.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "codec/compressor.hpp"

// Groups are stored as whole words in little-endian order, the order of these machines.
#if defined(__SIZEOF_INT128__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define WINDROW_CODEC_DELTA_HERE 1
#endif

namespace windrow {

namespace {

#if WINDROW_CODEC_DELTA_HERE

using std::byte;
__extension__ using Wide = unsigned __int128;

constexpr byte k_swapped{0x80};
constexpr size_t k_block = 256, k_group = 4, k_groups = k_block / k_group;
constexpr size_t k_slack = 2 * sizeof(Wide);  // bytes that a store or load at a group may touch, whatever its length
constexpr unsigned k_widest = 15;             // this code means the width of the element

template <class Element>
constexpr unsigned k_bits = std::numeric_limits<Element>::digits;

// Groups end on a byte: four times any width is a multiple of 8 bits.
template <class Element>
constexpr unsigned k_step = std::max(2u, k_bits<Element> / 16);

template <class Element>
constexpr unsigned code_of(Element every_bit) noexcept {
  unsigned bits = 0;
  if constexpr (sizeof(Element) == 8)
    bits = static_cast<unsigned>(std::bit_width(every_bit));
  else
    // the same, without a special case for zero
    bits = 63 - static_cast<unsigned>(std::countl_zero(uint64_t{every_bit} << 1 | 1));
  return std::min((bits + k_step<Element> - 1) / k_step<Element>, k_widest);
}

template <class Element>
constexpr unsigned width_of(unsigned code) noexcept {
  return code == k_widest ? k_bits<Element> : code * k_step<Element>;
}

// Larger codes are invalid for the element.
template <class Element>
constexpr bool is_code(unsigned code) noexcept {
  return code * k_step<Element> <= k_bits<Element>;
}

constexpr size_t bytes_of_group(unsigned width) noexcept {
  return k_group * width / 8;
}

template <class Element>
constexpr Element fold(Element difference) noexcept {
  return static_cast<Element>(
      static_cast<Element>(difference << 1) ^
      static_cast<Element>(Element{0} - static_cast<Element>(difference >> (k_bits<Element> - 1))));
}

template <class Element>
constexpr Element unfold(Element folded) noexcept {
  return static_cast<Element>(static_cast<Element>(folded >> 1) ^
                              static_cast<Element>(Element{0} - static_cast<Element>(folded & 1)));
}

template <class Element>
constexpr Element swap_bytes(Element value) noexcept {
  if constexpr (sizeof(Element) == 2)
    return __builtin_bswap16(value);
  else if constexpr (sizeof(Element) == 4)
    return __builtin_bswap32(value);
  else
    return __builtin_bswap64(value);
}

template <class Element>
using Group = std::array<Element, k_group>;

template <class Element>
constexpr Element every_bit_of(const Group<Element>& values) noexcept {
  return static_cast<Element>(values[0] | values[1] | values[2] | values[3]);
}

// Packs four values of `width` bits each at `to`, which has room for k_slack.
template <class Element>
void pack(const Group<Element>& values, unsigned width, byte* to) noexcept {
  if constexpr (sizeof(Element) == 8) {
    const Wide low = values[0] | Wide{values[1]} << width, high = values[2] | Wide{values[3]} << width;
    std::memcpy(to, &low, sizeof low);
    std::memcpy(to + width / 4, &high, sizeof high);
  } else {
    const uint64_t low = values[0] | uint64_t{values[1]} << width, high = values[2] | uint64_t{values[3]} << width;
    const unsigned half_byte = 2 * width % 8, half_of_whole = width - half_byte / 2;  // 2 * width bits end there
    const uint64_t upper = low >> half_of_whole >> half_of_whole | high << half_byte;
    std::memcpy(to, &low, sizeof low);
    std::memcpy(to + width / 4, &upper, sizeof upper);
  }
}

template <class Element>
void unpack(const byte* from, unsigned width, Group<Element>& values) noexcept {
  const auto mask =
      static_cast<Element>(width == k_bits<Element> ? ~Element{0} : static_cast<Element>((Element{1} << width) - 1));
  if constexpr (sizeof(Element) == 8) {
    Wide low, high;
    std::memcpy(&low, from, sizeof low);
    std::memcpy(&high, from + width / 4, sizeof high);
    values[0] = static_cast<Element>(low) & mask, values[1] = static_cast<Element>(low >> width) & mask;
    values[2] = static_cast<Element>(high) & mask, values[3] = static_cast<Element>(high >> width) & mask;
  } else {
    uint64_t low, high;
    std::memcpy(&low, from, sizeof low);
    std::memcpy(&high, from + width / 4, sizeof high);
    high >>= 2 * width % 8;
    values[0] = static_cast<Element>(low & mask), values[1] = static_cast<Element>(low >> width & mask);
    values[2] = static_cast<Element>(high & mask), values[3] = static_cast<Element>(high >> width & mask);
  }
}

// The elements of a block, after the two that precede it.
template <class Element>
struct Window {
  std::array<Element, k_block + 2> values{};
  size_t count = 0;

  void load(const byte* from, size_t elements, bool swapped) noexcept {
    values[0] = values[count], values[1] = values[count + 1];
    count = elements;
    std::memcpy(values.data() + 2, from, elements * sizeof(Element));
    if (swapped)
      for (size_t i = 2; i < elements + 2; ++i)
        values[i] = swap_bytes(values[i]);
  }

  Element remainder(size_t i, int order) const noexcept {
    const Element value = values[i + 2], before = values[i + 1];
    if (order == 0)
      return value;
    if (order == 1)
      return fold(static_cast<Element>(value - before));
    return fold(static_cast<Element>(value - 2 * before + values[i]));
  }
};

struct Cost {
  int order = 0;
  size_t bytes = 0;
};

// The order with the shortest remainders, from every seventeenth group: with a power of two, all samples could be
// starts of rows. Ties go to the highest order, since jumps cost all orders the same.
template <class Element>
Cost cheapest_order(const Window<Element>& window) noexcept {
  constexpr size_t k_every = 17 * k_group;
  std::array<size_t, 3> bytes{};
  for (size_t i = 0; i < window.count; i += k_every) {
    std::array<Element, 3> every_bit{};
    for (size_t j = i; j < std::min(i + k_group, window.count); ++j)
      for (int order = 0; order < 3; ++order)
        every_bit[static_cast<size_t>(order)] |= window.remainder(j, order);
    for (size_t order = 0; order < 3; ++order)
      bytes[order] += bytes_of_group(width_of<Element>(code_of(every_bit[order])));
  }
  int least = 2;
  for (const int order : {1, 0})
    if (bytes[static_cast<size_t>(order)] < bytes[static_cast<size_t>(least)])
      least = order;
  return {least, bytes[static_cast<size_t>(least)]};
}

// Bytes of a block, including the slack that is stored after its last group.
template <class Element>
constexpr size_t most_bytes() noexcept {
  return 1 + k_groups / 2 + k_block * sizeof(Element) + k_slack;
}

// Encodes at `to`, which has room for most_bytes<Element>(). Returns the length.
template <class Element, int order>
size_t encode_block(const Window<Element>& window, byte* to) noexcept {
  std::array<Element, k_block> remainders;
  for (size_t i = 0; i < window.count; ++i)
    remainders[i] = window.remainder(i, order);
  const size_t groups = (window.count + k_group - 1) / k_group;
  std::fill(remainders.begin() + static_cast<std::ptrdiff_t>(window.count),
            remainders.begin() + static_cast<std::ptrdiff_t>(groups * k_group), Element{0});
  *to = static_cast<byte>(order);
  std::array<uint8_t, k_groups + 1> codes;
  codes[groups] = 0;
  byte* next = to + 1 + (groups + 1) / 2;
  for (size_t group = 0; group < groups; ++group) {
    Group<Element> values;
    std::copy_n(remainders.data() + group * k_group, k_group, values.data());
    const unsigned code = code_of(every_bit_of(values));
    const unsigned width = width_of<Element>(code);
    codes[group] = static_cast<uint8_t>(code);
    pack(values, width, next);
    next += bytes_of_group(width);
  }
  for (size_t group = 0; group < groups; group += 2)
    to[1 + group / 2] = static_cast<byte>(codes[group] | codes[group + 1] << 4);
  return static_cast<size_t>(next - to);
}

template <class Element>
size_t encode_block(const Window<Element>& window, int order, byte* to) noexcept {
  switch (order) {
    case 0:
      return encode_block<Element, 0>(window, to);
    case 1:
      return encode_block<Element, 1>(window, to);
    default:
      return encode_block<Element, 2>(window, to);
  }
}

// Whether the numbers are smoother with swapped bytes, as in data for a file of the other byte order. Decided from a
// few blocks.
template <class Element>
bool is_swapped(std::span<const byte> from) noexcept {
  constexpr size_t k_looked_at = 4;
  const size_t blocks = from.size() / sizeof(Element) / k_block;
  std::array<size_t, 2> bytes{};
  for (const bool swapped : {false, true})
    for (size_t look = 0; look < k_looked_at; ++look) {
      const size_t begin = blocks * look / k_looked_at * k_block;
      Window<Element> window;
      window.load(from.data() + begin * sizeof(Element), std::min(k_block, from.size() / sizeof(Element) - begin),
                  swapped);
      bytes[swapped ? 1 : 0] += cheapest_order(window).bytes;
    }
  return bytes[1] < bytes[0];
}

template <class Element>
int64_t encode(std::span<const byte> from, std::span<byte> to) noexcept {
  if (to.empty())
    return 0;
  const bool swapped = is_swapped<Element>(from);
  to[0] = static_cast<byte>(sizeof(Element)) | (swapped ? k_swapped : byte{0});
  size_t used = 1;
  Window<Element> window;
  std::array<byte, most_bytes<Element>()> apart;
  while (from.size() >= sizeof(Element)) {
    const size_t elements = std::min(k_block, from.size() / sizeof(Element));
    window.load(from.data(), elements, swapped);
    from = from.subspan(elements * sizeof(Element));
    const int order = cheapest_order(window).order;
    if (to.size() - used >= apart.size()) {
      used += encode_block(window, order, to.data() + used);
      continue;
    }
    const size_t length = encode_block(window, order, apart.data());
    if (length > to.size() - used)
      return 0;
    std::copy_n(apart.data(), length, to.data() + used);
    used += length;
  }
  if (from.size() > to.size() - used)
    return 0;
  std::ranges::copy(from, to.data() + used);
  return static_cast<int64_t>(used + from.size());
}

// Sums remainders to elements; holds the state between groups.
template <class Element, int order>
class Sum {
 public:
  // `before`: the two preceding elements, the later one last.
  explicit Sum(const std::array<Element, 2>& before) noexcept
      : value_(before[1]), difference_(static_cast<Element>(before[1] - before[0])) {}

  Group<Element> next(const byte* from, unsigned width) noexcept {
    Group<Element> group;
    unpack(from, width, group);
    for (Element& each : group)
      each = next(each);
    return group;
  }

 private:
  Element next(Element remainder) noexcept {
    if constexpr (order == 0)
      return remainder;
    if constexpr (order == 1)
      return value_ = static_cast<Element>(value_ + unfold(remainder));
    difference_ = static_cast<Element>(difference_ + unfold(remainder));
    return value_ = static_cast<Element>(value_ + difference_);
  }

  Element value_, difference_;
};

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)  // Clang, and GCC since 12

// The same with vectors of four, for elements of 4 bytes: decoding spends most of its time here.
template <int order>
class Sum<uint32_t, order> {
 public:
  explicit Sum(const std::array<uint32_t, 2>& before) noexcept
      : value_(Four{} + before[1]), difference_(Four{} + (before[1] - before[0])) {}

  Group<uint32_t> next(const byte* from, unsigned width) noexcept {
    uint64_t low, high;
    std::memcpy(&low, from, sizeof low);
    std::memcpy(&high, from + width / 4, sizeof high);
    const Pairs pairs{low, high >> 2 * width % 8};
    const uint64_t mask = (uint64_t{1} << width) - 1;
    Four values = reinterpret_cast<Four>((pairs & mask) | (pairs >> width & mask) << 32);
    if constexpr (order > 0)
      values = sums((values >> 1) ^ (0 - (values & 1)));
    if constexpr (order == 1) {
      values += value_;
      value_ = all(values);
    }
    if constexpr (order == 2) {
      values += difference_;
      difference_ = all(values);
      values = sums(values) + value_;
      value_ = all(values);
    }
    Group<uint32_t> group;
    std::memcpy(group.data(), &values, sizeof values);
    return group;
  }

 private:
  using Four = uint32_t __attribute__((vector_size(16)));
  using Pairs = uint64_t __attribute__((vector_size(16)));

  // The prefix sums of four values.
  static Four sums(Four values) noexcept {
    values += __builtin_shufflevector(values, Four{}, 4, 0, 1, 2);
    return values + __builtin_shufflevector(values, Four{}, 4, 4, 0, 1);
  }
  static Four all(Four values) noexcept { return __builtin_shufflevector(values, values, 3, 3, 3, 3); }

  Four value_, difference_;  // the last value, in all four lanes
};

#endif
#endif

template <class Element>
class Reader {
 public:
  Reader(std::span<const byte> from, bool swapped) noexcept : from_(from), swapped_(swapped) {}

  // Reads the next block; false: it is incomplete or malformed.
  bool read(size_t count, byte* to) noexcept {
    const size_t groups = (count + k_group - 1) / k_group, code_bytes = (groups + 1) / 2;
    if (from_.size() < 1 + code_bytes)
      return false;
    const auto order = std::to_integer<unsigned>(from_[0]);
    std::array<uint8_t, k_groups + 1> widths;
    unsigned bits = 0, codes = 0;
    for (size_t i = 0; i < code_bytes; ++i) {
      const unsigned both = std::to_integer<unsigned>(from_[1 + i]), first = both & 15,
                     second = 2 * i + 1 < groups ? both >> 4 : 0;
      codes = std::max({codes, first, second});
      const unsigned width = width_of<Element>(first), next_width = width_of<Element>(second);
      widths[2 * i] = static_cast<uint8_t>(width);
      widths[2 * i + 1] = static_cast<uint8_t>(next_width);
      bits += width + next_width;
    }
    const size_t bytes = bytes_of_group(bits);
    from_ = from_.subspan(1 + code_bytes);
    if (order > 2 || !is_code<Element>(codes) || bytes > from_.size())
      return false;
    std::array<byte, k_block * sizeof(Element) + k_slack> apart;
    const byte* next = from_.data();
    if (from_.size() - bytes < k_slack) {  // loads extend beyond a group
      std::copy_n(next, bytes, apart.data());
      std::fill_n(apart.data() + bytes, k_slack, byte{0});
      next = apart.data();
    }
    switch (order) {
      case 0:
        add_up<0>(next, widths.data(), count, to);
        break;
      case 1:
        add_up<1>(next, widths.data(), count, to);
        break;
      default:
        add_up<2>(next, widths.data(), count, to);
        break;
    }
    from_ = from_.subspan(bytes);
    return true;
  }

  std::span<const byte> rest() const noexcept { return from_; }

 private:
  template <int order>
  void add_up(const byte* from, const uint8_t* widths, size_t count, byte* to) noexcept {
    Sum<Element, order> sum(before_);
    const auto in_file_order = [&](Group<Element> values) {
      if (swapped_)
        for (Element& each : values)
          each = swap_bytes(each);
      return values;
    };
    for (; count >= k_group; count -= k_group, to += sizeof(Group<Element>)) {
      const Group<Element> group = sum.next(from, *widths);
      from += bytes_of_group(*widths++);
      const Group<Element> values = in_file_order(group);
      std::memcpy(to, values.data(), sizeof values);
      before_ = {group[2], group[3]};
    }
    if (count > 0)
      std::memcpy(to, in_file_order(sum.next(from, *widths)).data(),
                  count * sizeof(Element));  // no slack follows these
  }

  std::span<const byte> from_;
  bool swapped_;
  std::array<Element, 2> before_{};
};

template <class Element>
bool decode(std::span<const byte> from, bool swapped, std::span<byte> to) noexcept {
  Reader<Element> reader(from, swapped);
  while (to.size() >= sizeof(Element)) {
    const size_t elements = std::min(k_block, to.size() / sizeof(Element));
    if (!reader.read(elements, to.data()))
      return false;
    to = to.subspan(elements * sizeof(Element));
  }
  if (reader.rest().size() != to.size())
    return false;
  std::ranges::copy(reader.rest(), to.begin());
  return true;
}

class DeltaState final : public CompressorState {
 public:
  int64_t bytes() const noexcept override { return static_cast<int64_t>(sizeof *this); }

  int64_t compress(std::span<const byte> from, const CompressorOrder& order, std::span<byte> to) noexcept override {
    switch (order.element_bytes) {
      case 2:
        return encode<uint16_t>(from, to);
      case 4:
        return encode<uint32_t>(from, to);
      case 8:
        return encode<uint64_t>(from, to);
      default:
        return 0;
    }
  }

  bool decompress(std::span<const byte> from, std::span<byte> to) noexcept override {
    if (from.empty())
      return false;
    const bool swapped = (from[0] & k_swapped) != byte{0};
    switch (std::to_integer<unsigned>(from[0] & ~k_swapped)) {
      case 2:
        return decode<uint16_t>(from.subspan(1), swapped, to);
      case 4:
        return decode<uint32_t>(from.subspan(1), swapped, to);
      case 8:
        return decode<uint64_t>(from.subspan(1), swapped, to);
      default:
        return false;
    }
  }
};

std::unique_ptr<CompressorState> make_state(int64_t, int) {
  return std::make_unique<DeltaState>();
}

#else

constexpr Compressor::MakeState make_state = nullptr;

#endif

}  // namespace

constinit const Compressor k_delta_compressor(
    {.id = 5, .name = "delta", .megabytes_per_s = 3000, .numbers = true, .decode_share = 1, .make_state = make_state});

}  // namespace windrow
