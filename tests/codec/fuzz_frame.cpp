// SPDX-License-Identifier: BSD-3-Clause
// Arbitrary bytes as a frame, and arbitrary bytes as a message. Input: two bytes for the length of the expected message
// (up to 64 KiB), one for the operation (bit 0: marker and lengths of the header are corrected, so that the bytes after
// them are reached; bit 1: the bytes are a message to encode), one for the element size; then the bytes.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "../fuzz/expect.hpp"
#include "codec/codec.hpp"

namespace {

using namespace windrow;

constexpr size_t k_largest = 1 << 16, k_before = 4;

CodecWorkspace& workspace() {
  static const auto made = CodecWorkspace::make(k_largest, compressors(), 3);
  FUZZ_EXPECT(made.ok());
  return *made.value();
}

void mend(std::vector<std::byte>& frame, size_t raw) {
  if (frame.size() < static_cast<size_t>(k_frame_header))
    return;
  const size_t payload = frame.size() - static_cast<size_t>(k_frame_header);
  frame[0] = std::byte{0xf7};
  for (size_t i = 0; i < 4; ++i) {
    frame[4 + i] = static_cast<std::byte>(raw >> (8 * i));
    frame[8 + i] = static_cast<std::byte>(payload >> (8 * i));
  }
}

void decode_anything(std::span<const std::byte> bytes, size_t raw_size, bool mended) {
  std::vector<std::byte> frame(bytes.begin(), bytes.end()), raw(raw_size);
  if (mended)
    mend(frame, raw_size);
  const Status status = decode_frame(frame, raw, workspace());
  FUZZ_EXPECT(status.ok() || (status.code() == Code::internal && !status.message().empty()));
  if (!status.ok())
    return;
  std::vector<std::byte> again(raw_size);  // a frame says one thing
  FUZZ_EXPECT(decode_frame(frame, again, workspace()).ok() && again == raw);
}

void round_trip(std::span<const std::byte> raw, const CodecChoice& choice) {
  std::vector<std::byte> frame(raw.size()), checked(raw.size() + k_frame_header), back(raw.size());
  const auto same = [&] { return std::equal(back.begin(), back.end(), raw.begin(), raw.end()); };
  const int64_t length = encode_frame(raw, choice, false, workspace(), frame);
  FUZZ_EXPECT(length == 0 || (length > k_frame_header && length < static_cast<int64_t>(raw.size())));
  if (length > 0)
    FUZZ_EXPECT(decode_frame(std::span(frame).first(static_cast<size_t>(length)), back, workspace()).ok() && same());
  const int64_t always = encode_checked_frame(raw, choice, workspace(), checked);
  FUZZ_EXPECT(always == (length > 0 ? length : static_cast<int64_t>(raw.size()) + k_frame_header));
  std::fill(back.begin(), back.end(), std::byte{0});
  FUZZ_EXPECT(decode_frame(std::span(checked).first(static_cast<size_t>(always)), back, workspace()).ok() && same());
  const int64_t guess = sample_frame(raw, choice, workspace()).bytes;
  FUZZ_EXPECT(guess >= 0 && guess <= static_cast<int64_t>(raw.size()));
  if (raw.size() <= CodecWorkspace::k_sample_bytes)
    FUZZ_EXPECT(guess == (length > 0 ? length : static_cast<int64_t>(raw.size())));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < k_before)
    return 0;
  const size_t raw_size = data[0] | static_cast<size_t>(data[1]) << 8;
  const auto bytes = std::as_bytes(std::span(data, std::min(size, k_largest)).subspan(k_before));
  if ((data[2] & 2) == 0) {
    decode_anything(bytes, raw_size, (data[2] & 1) != 0);
    return 0;
  }
  const int element = std::max<int>(data[3], 1);
  round_trip(bytes, {.element_bytes = element});
  for (const Compressor* compressor : compressors())
    for (const bool shuffle : {false, true})
      if (!shuffle || compressor->shuffles())
        round_trip(bytes, {compressor, data[2] >> 4, shuffle, element});
  return 0;
}
