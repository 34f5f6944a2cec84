// SPDX-License-Identifier: BSD-3-Clause
// Codec: compresses the messages of an exchange. A frame is a compressed message together with what is needed to
// decompress it. Pure: bytes to bytes. Source: TPC I/O (Filgueira, Singh, Pichel, Carretero: Exploiting data
// compression in collective I/O techniques, Cluster 2008), section 4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "base/status.hpp"
#include "codec/compressor.hpp"

namespace windrow {

// How to encode a message.
struct CodecChoice {
  const Compressor* compressor = nullptr;  // nullptr: none; equal elements are still detected
  int level = 0;                           // 1 to the compressor's largest; 0: its default
  bool shuffle = false;                    // byte shuffle first, if the compressor supports it
  int element_bytes = 1;                   // 1 to 255; with 1, shuffle has no effect
  friend bool operator==(const CodecChoice&, const CodecChoice&) = default;
};

inline constexpr int64_t k_frame_header = 16;

// All memory that encoding and decoding need, so that they allocate nothing. Handles one message at a time; each thread
// needs its own.
class CodecWorkspace {
 public:
  // For messages of up to `largest` bytes (less than 4 GiB) with any of `used`, in both directions, at levels of up to
  // `level` (0: each compressor's default; values above a compressor's largest mean the largest). Takes `largest`
  // bytes; with LZO twice that and 1/8 MiB; with Zstandard 1 MiB at level 1 and several times that at high levels.
  // Code::bad_argument: `largest` is out of range. Code::out_of_memory.
  static Result<std::unique_ptr<CodecWorkspace>> make(int64_t largest, std::span<const Compressor* const> used,
                                                      int level = 0);

  int64_t largest() const noexcept { return largest_; }
  int64_t bytes() const noexcept;  // memory held

  // For the codec only. nullptr: not among `used`.
  CompressorState* state(int place) noexcept { return states_[static_cast<size_t>(place)].get(); }
  std::span<std::byte> rearranged(size_t size) noexcept { return std::span(rearranged_.get(), size); }
  std::span<std::byte> sample() noexcept { return std::span(sample_.get(), k_sample_bytes); }
  std::span<std::byte> sample_frame() noexcept { return std::span(sample_.get() + k_sample_bytes, k_sample_bytes); }
  static constexpr size_t k_sample_bytes = 8192;

 private:
  CodecWorkspace() = default;

  int64_t largest_ = 0;
  std::array<std::unique_ptr<CompressorState>, k_compressor_places> states_;
  std::unique_ptr<std::byte[]> rearranged_, sample_;
};

// Encodes `raw` to `frame` and returns the length if it is less than raw.size(). 0: it is not, and raw is sent
// unencoded; a receiver recognizes it by its length. If all elements are equal, the frame is a header and one element;
// a single comparison detects this and stops at the first difference. frame.size() is at least raw.size(), and the two
// do not overlap. Returns 0 for a message longer than workspace.largest() or a compressor that the workspace does not
// support. `checksum`: adds an XXH32 of raw.
int64_t encode_frame(std::span<const std::byte> raw, const CodecChoice& choice, bool checksum,
                     CodecWorkspace& workspace, std::span<std::byte> frame) noexcept;

// Always makes a frame, with a checksum. frame.size() is at least raw.size() + k_frame_header, the maximum length;
// incompressible bytes are stored. For messages of less than 4 GiB.
int64_t encode_checked_frame(std::span<const std::byte> raw, const CodecChoice& choice, CodecWorkspace& workspace,
                             std::span<std::byte> frame) noexcept;

// The same without compression, also of equal elements: the length is always raw.size() + k_frame_header.
int64_t frame_as_it_is(std::span<const std::byte> raw, std::span<std::byte> frame) noexcept;

// Decodes a frame to all of `raw`. Safe on any input: each field is validated before use. Code::internal, with `raw`
// undefined: not a frame, or not one of raw.size() bytes; the checksum does not match; or the compressor is not built
// in or not in the workspace.
Status decode_frame(std::span<const std::byte> frame, std::span<std::byte> raw, CodecWorkspace& workspace);

// The kind in a frame's header, for counters: the compressor's number; 0: none. Unspecified for bytes that are not a
// frame.
struct FrameKind {
  uint8_t compressor = 0;
  bool shuffled = false;
  bool equal_elements = false;
};
FrameKind kind_of_frame(std::span<const std::byte> frame) noexcept;
// The decoded length in a frame's header; -1: not a frame.
int64_t raw_bytes_of_frame(std::span<const std::byte> frame) noexcept;
inline constexpr int64_t k_longest_message = std::numeric_limits<uint32_t>::max();

// If all elements are equal, replaces `raw` by a frame and returns its length. Otherwise returns 0 and changes nothing.
int64_t frame_equal_elements(std::span<std::byte> raw, int element_bytes) noexcept;

struct SampledFrame {
  int64_t bytes = 0;
  bool equal_elements = false;  // no compressor was used
};

// Estimates the encoded size of `raw`: at most raw.size(), k_frame_header and more. Encodes four evenly spaced slices
// of 2 KiB together, so the cost is that of 8 KiB for any size of raw; up to 8 KiB the result is exact. A sample cannot
// show repetitions at distances above 8 KiB: the real size is usually smaller than estimated and rarely larger.
SampledFrame sample_frame(std::span<const std::byte> raw, const CodecChoice& choice,
                          CodecWorkspace& workspace) noexcept;

}  // namespace windrow
