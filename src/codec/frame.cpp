// SPDX-License-Identifier: BSD-3-Clause
// Frames. Layout, with little-endian numbers on every machine:
//   0  marker          4  bytes of raw
//   1  kind            8  bytes of payload, which follows the header
//   2  flags          12  XXH32 of raw; 0 without one
//   3  element bytes
// Kind 0: the payload is raw. Kind 1: the payload is one element, and raw repeats it, the last time possibly truncated.
// Other kinds are the numbers of compressors. Element bytes are 1 if neither kind nor flags need them. The encoding is
// unique: unused fields are 0 or 1.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/shuffle.hpp"
#include "base/units.hpp"
#include "codec/checksum.hpp"
#include "codec/codec.hpp"
#include "codec/little_endian.hpp"

namespace windrow {
namespace {

constexpr std::byte k_marker{0xf7};
constexpr uint8_t k_as_it_is = 0, k_equal_elements = 1;
constexpr uint8_t k_shuffled = 1, k_checked = 2;
constexpr auto k_header = static_cast<size_t>(k_frame_header);

struct Header {
  uint8_t kind = k_as_it_is, flags = 0, element_bytes = 1;
  uint32_t raw = 0, payload = 0, checksum = 0;
};

void put_header(const Header& header, std::byte* to) noexcept {
  to[0] = k_marker;
  to[1] = static_cast<std::byte>(header.kind);
  to[2] = static_cast<std::byte>(header.flags);
  to[3] = static_cast<std::byte>(header.element_bytes);
  put_u32(to + 4, header.raw);
  put_u32(to + 8, header.payload);
  put_u32(to + 12, header.checksum);
}

Header get_header(const std::byte* from) noexcept {
  return {std::to_integer<uint8_t>(from[1]),
          std::to_integer<uint8_t>(from[2]),
          std::to_integer<uint8_t>(from[3]),
          get_u32(from + 4),
          get_u32(from + 8),
          get_u32(from + 12)};
}

// The elements are equal if the message equals itself shifted by one element. memcmp() stops at the first difference.
bool are_equal(std::span<const std::byte> raw, size_t element) noexcept {
  return raw.size() >= element && std::memcmp(raw.data(), raw.data() + element, raw.size() - element) == 0;
}

// Writes the payload to `to` and completes the header; false: the payload does not fit.
bool encode_payload(std::span<const std::byte> raw, const CodecChoice& choice, CodecWorkspace& workspace,
                    std::span<std::byte> to, Header& header) noexcept {
  const auto element = static_cast<size_t>(std::clamp(choice.element_bytes, 1, 255));
  if (element <= to.size() && are_equal(raw, element)) {
    std::copy_n(raw.data(), element, to.data());
    header.kind = k_equal_elements;
    header.element_bytes = static_cast<uint8_t>(element);
    header.payload = static_cast<uint32_t>(element);
    return true;
  }
  if (choice.compressor == nullptr || !choice.compressor->does(static_cast<int>(element)) ||
      static_cast<int64_t>(raw.size()) > workspace.largest() || to.empty())
    return false;
  CompressorState* state = workspace.state(compressor_place(choice.compressor->id()));
  if (state == nullptr)
    return false;
  const bool shuffle = choice.shuffle && element > 1 && choice.compressor->shuffles();
  std::span<const std::byte> from = raw;
  if (shuffle) {
    shuffle_bytes(raw, element, workspace.rearranged(raw.size()));
    from = workspace.rearranged(raw.size());
    header.flags |= k_shuffled;
    header.element_bytes = static_cast<uint8_t>(element);
  }
  const int level = choice.level > 0 ? choice.level : choice.compressor->default_level();
  header.kind = choice.compressor->id();
  header.payload =
      static_cast<uint32_t>(state->compress(from, {.level = level, .element_bytes = static_cast<int>(element)}, to));
  return header.payload > 0;
}

Status broken(std::string what) {
  return {Code::internal, "a compressed message from another rank is malformed: " + std::move(what)};
}

// Validates the kind with the sizes that it implies.
Status check_kind(const Header& header) {
  const bool shuffled = (header.flags & k_shuffled) != 0;
  const bool equal = header.kind == k_equal_elements;
  if (shuffled && (header.kind == k_as_it_is || equal))
    return broken("shuffled but not compressed");
  const bool element_fits = shuffled ? header.element_bytes >= 2
                            : equal  ? header.element_bytes >= 1
                                     : header.element_bytes == 1;
  if (!element_fits)
    return broken(fmt::format("elements of {}", counted(header.element_bytes, "byte")));
  if (header.kind == k_as_it_is && header.payload != header.raw)
    return broken(
        fmt::format("{} for a message of {} that is not compressed", counted(header.payload, "byte"), header.raw));
  if (equal && (header.payload != header.element_bytes || header.payload > header.raw))
    return broken(fmt::format("{} for one element of {} in a message of {}", counted(header.payload, "byte"),
                              header.element_bytes, header.raw));
  return {};
}

// Validates everything that does not depend on the payload.
Status check_header(std::span<const std::byte> frame, size_t raw_size) {
  if (frame.size() < k_header)
    return broken(fmt::format("a frame of {}, shorter than its header", counted(frame.size(), "byte")));
  if (frame[0] != k_marker)
    return broken(fmt::format("it begins with {:#04x}", std::to_integer<int>(frame[0])));
  const Header header = get_header(frame.data());
  if ((header.flags & ~(k_shuffled | k_checked)) != 0)
    return broken(fmt::format("unknown flags {:#04x}", header.flags));
  if (header.raw != raw_size)
    return broken(fmt::format("a frame of a message of {}, expected one of {}", counted(header.raw, "byte"), raw_size));
  if (header.payload != frame.size() - k_header)
    return broken(fmt::format("a frame of {} with a payload of {}", counted(frame.size(), "byte"), header.payload));
  if ((header.flags & k_checked) == 0 && header.checksum != 0)
    return broken("an unexpected checksum");
  return check_kind(header);
}

Status decompress(const Header& header, std::span<const std::byte> payload, std::span<std::byte> raw,
                  CodecWorkspace& workspace) {
  const int place = compressor_place(header.kind);
  if (place < 0)
    return broken(fmt::format("unknown compressor number {}", header.kind));
  const Compressor& compressor = *known_compressors()[static_cast<size_t>(place)];
  const std::string_view name = compressor.name();
  if (!compressor.is_built_in())
    return broken(fmt::format("this rank was built without {}, which a frame needs", name));
  CompressorState* state = workspace.state(place);
  if (state == nullptr)
    return broken(fmt::format("a frame needs {}, which is not among the compressors of this exchange", name));
  if (static_cast<int64_t>(raw.size()) > workspace.largest())
    return broken(fmt::format("a message of {}, larger than the maximum of {}", counted(raw.size(), "byte"),
                              workspace.largest()));
  const bool shuffled = (header.flags & k_shuffled) != 0;
  if (shuffled && !compressor.shuffles())
    return broken(fmt::format("shuffled, which {} does not support", name));
  if (!state->decompress(payload, shuffled ? workspace.rearranged(raw.size()) : raw))
    return broken(fmt::format("{} cannot decompress {} from {}", name, counted(raw.size(), "byte"), payload.size()));
  if (shuffled)
    unshuffle_bytes(workspace.rearranged(raw.size()), header.element_bytes, raw);
  return {};
}

// Doubles the content up to a size that fits into the L1 cache, then copies that block.
void repeat_element(std::span<const std::byte> element, std::span<std::byte> raw) noexcept {
  constexpr size_t k_cached = 8192;
  if (are_equal(element, 1)) {
    std::memset(raw.data(), std::to_integer<int>(element[0]), raw.size());
    return;
  }
  std::copy(element.begin(), element.end(), raw.begin());
  for (size_t filled = element.size(), known = filled; filled < raw.size(); filled += known) {
    if (filled <= k_cached)
      known = filled;
    std::memcpy(raw.data() + filled, raw.data(), std::min(known, raw.size() - filled));
  }
}

}  // namespace

int64_t encode_frame(std::span<const std::byte> raw, const CodecChoice& choice, bool checksum,
                     CodecWorkspace& workspace, std::span<std::byte> frame) noexcept {
  if (raw.size() <= k_header || raw.size() > std::numeric_limits<uint32_t>::max())
    return 0;
  Header header{.raw = static_cast<uint32_t>(raw.size())};
  if (!encode_payload(raw, choice, workspace, frame.subspan(k_header, raw.size() - k_header - 1), header))
    return 0;
  if (checksum) {
    header.flags |= k_checked;
    header.checksum = xxh32(raw);
  }
  put_header(header, frame.data());
  return k_frame_header + header.payload;
}

int64_t frame_equal_elements(std::span<std::byte> raw, int element_bytes) noexcept {
  std::array<std::byte, 255> element;
  const auto size = static_cast<size_t>(std::clamp<int>(element_bytes, 1, element.size()));
  if (raw.size() <= k_header + size || raw.size() > std::numeric_limits<uint32_t>::max() || !are_equal(raw, size))
    return 0;
  std::copy_n(raw.data(), size, element.data());
  put_header({.kind = k_equal_elements,
              .element_bytes = static_cast<uint8_t>(size),
              .raw = static_cast<uint32_t>(raw.size()),
              .payload = static_cast<uint32_t>(size)},
             raw.data());
  std::copy_n(element.data(), size, raw.data() + k_header);
  return k_frame_header + static_cast<int64_t>(size);
}

int64_t encode_checked_frame(std::span<const std::byte> raw, const CodecChoice& choice, CodecWorkspace& workspace,
                             std::span<std::byte> frame) noexcept {
  const int64_t length = encode_frame(raw, choice, true, workspace, frame);
  return length > 0 ? length : frame_as_it_is(raw, frame);
}

int64_t frame_as_it_is(std::span<const std::byte> raw, std::span<std::byte> frame) noexcept {
  const auto size = static_cast<uint32_t>(raw.size());
  put_header({.flags = k_checked, .raw = size, .payload = size, .checksum = xxh32(raw)}, frame.data());
  std::copy(raw.begin(), raw.end(), frame.begin() + k_frame_header);
  return k_frame_header + size;
}

Status decode_frame(std::span<const std::byte> frame, std::span<std::byte> raw, CodecWorkspace& workspace) {
  return guard([&]() -> Status {
    if (Status status = check_header(frame, raw.size()); !status.ok())
      return status;
    const Header header = get_header(frame.data());
    const std::span<const std::byte> payload = frame.subspan(k_header);
    if (header.kind == k_as_it_is)
      std::copy(payload.begin(), payload.end(), raw.begin());
    else if (header.kind == k_equal_elements)
      repeat_element(payload, raw);
    else if (Status status = decompress(header, payload, raw, workspace); !status.ok())
      return status;
    if ((header.flags & k_checked) == 0)
      return {};
    const uint32_t sum = xxh32(raw);
    return sum == header.checksum ? Status()
                                  : broken(fmt::format("checksum {:#010x}, computed {:#010x}", header.checksum, sum));
  });
}

int64_t raw_bytes_of_frame(std::span<const std::byte> frame) noexcept {
  return frame.size() < k_header || frame[0] != k_marker ? -1 : int64_t{get_header(frame.data()).raw};
}

FrameKind kind_of_frame(std::span<const std::byte> frame) noexcept {
  if (frame.size() < k_header)
    return {};
  const Header header = get_header(frame.data());
  const bool compressed = header.kind > k_equal_elements;
  return {.compressor = compressed ? header.kind : uint8_t{0},
          .shuffled = (header.flags & k_shuffled) != 0,
          .equal_elements = header.kind == k_equal_elements};
}

SampledFrame sample_frame(std::span<const std::byte> raw, const CodecChoice& choice,
                          CodecWorkspace& workspace) noexcept {
  constexpr size_t k_slices = 4;
  std::span<const std::byte> sample = raw;
  if (raw.size() > CodecWorkspace::k_sample_bytes) {
    const auto element = static_cast<size_t>(std::clamp(choice.element_bytes, 1, 255));
    const size_t in_slice = CodecWorkspace::k_sample_bytes / k_slices / element;
    const size_t last = raw.size() / element - in_slice;  // start of the last slice
    for (size_t slice = 0; slice < k_slices; ++slice)
      std::copy_n(raw.data() + last * slice / (k_slices - 1) * element, in_slice * element,
                  workspace.sample().data() + slice * in_slice * element);
    sample = workspace.sample().first(k_slices * in_slice * element);
  }
  Header header;
  const size_t room = sample.size() > k_header ? sample.size() - k_header - 1 : 0;
  const auto all = static_cast<int64_t>(raw.size());
  const bool shrinks = encode_payload(sample, choice, workspace, workspace.sample_frame().first(room), header);
  if (header.kind == k_equal_elements)
    return {std::min(all, k_frame_header + header.payload), true};
  return {shrinks ? std::min(all, k_frame_header + header.payload * all / static_cast<int64_t>(sample.size())) : all,
          false};
}

}  // namespace windrow
