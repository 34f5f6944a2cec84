// SPDX-License-Identifier: BSD-3-Clause
// Codec: makes the messages of an exchange smaller. A frame is a message that was compressed, and says how to undo it.
// Pure: bytes to bytes. Source: TPC I/O (Filgueira, Singh, Pichel, Carretero: Exploiting data compression in collective
// I/O techniques, Cluster 2008), section 4.
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

// What becomes of a message.
struct CodecChoice {
  const Compressor* compressor = nullptr;  // nullptr: none; equal elements are found all the same
  int level = 0;                           // 1 to the compressor's largest; 0: its own
  bool shuffle = false;   // order bytes by their place in the element first, where the compressor takes that
  int element_bytes = 1;  // 1 to 255; of 1, shuffle does nothing
  friend bool operator==(const CodecChoice&, const CodecChoice&) = default;
};

inline constexpr int64_t k_frame_header = 16;

// All memory that encoding and decoding need: they allocate nothing. For one message at a time; a thread has its own.
class CodecWorkspace {
 public:
  // For messages of up to `largest` bytes (less than 4 GiB) with any of `used`, both ways, at levels of up to `level`
  // (0: each one's own; what is above a compressor's largest is that). Holds `largest` bytes; with LZO as many again
  // and an eighth of a MiB; with Zstandard 1 MiB at level 1 and many more at high levels. Code::bad_argument: `largest`
  // is not possible. Code::out_of_memory.
  static Result<std::unique_ptr<CodecWorkspace>> make(int64_t largest, std::span<const Compressor* const> used,
                                                      int level = 0);

  int64_t largest() const noexcept { return largest_; }
  int64_t bytes() const noexcept;  // of memory that it holds

  // For the codec itself.
  CompressorState* state(int place) noexcept {
    return states_[static_cast<size_t>(place)].get();
  }  // nullptr: not among `used`
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

// Makes a frame of `raw` in `frame` and gives its length when that is less than raw.size(); 0: it would not be, and raw
// travels as it is (a message as long as the one awaited is no frame). Where all elements are equal, the frame is a
// header and one element: no compressor is asked, and one comparison finds it, which ends at the first difference.
// frame.size() is at least raw.size(), and the two do not overlap; a message longer than workspace.largest(), or a
// compressor that the workspace is not for, gives 0. `checksum`: an XXH32 of raw goes with it.
int64_t encode_frame(std::span<const std::byte> raw, const CodecChoice& choice, bool checksum,
                     CodecWorkspace& workspace, std::span<std::byte> frame) noexcept;

// Always a frame, with a checksum, of at most raw.size() + k_frame_header bytes, which frame.size() has to be: what is
// not made smaller lies in it as it is. For messages of less than 4 GiB.
int64_t encode_checked_frame(std::span<const std::byte> raw, const CodecChoice& choice, CodecWorkspace& workspace,
                             std::span<std::byte> frame) noexcept;

// The same of what is not to be made smaller, equal elements among it: always raw.size() + k_frame_header bytes.
int64_t frame_as_it_is(std::span<const std::byte> raw, std::span<std::byte> frame) noexcept;

// Fills all of `raw` with what the frame was made of. Any bytes are safe: each field is checked before it is used.
// Code::internal, and raw is undefined: the bytes are no frame, or not one of raw.size() bytes; the checksum does not
// fit; or the compressor is not built in or not in the workspace.
Status decode_frame(std::span<const std::byte> frame, std::span<std::byte> raw, CodecWorkspace& workspace);

// What a frame says of itself, for counters: the compressor's number, or 0: none. Of bytes that are no frame: anything.
struct FrameKind {
  uint8_t compressor = 0;
  bool shuffled = false;
  bool equal_elements = false;
};
FrameKind kind_of_frame(std::span<const std::byte> frame) noexcept;
// The bytes of what it was made of, as it says; -1: it is no frame.
int64_t raw_bytes_of_frame(std::span<const std::byte> frame) noexcept;
inline constexpr int64_t k_longest_message = std::numeric_limits<uint32_t>::max();

// Where all elements are equal a frame of them takes the place of `raw`, and its length is the result; else 0, and
// nothing is changed.
int64_t frame_equal_elements(std::span<std::byte> raw, int element_bytes) noexcept;

struct SampledFrame {
  int64_t bytes = 0;
  bool equal_elements = false;  // no compressor was asked
};

// About how many bytes would travel for `raw` with this choice: at most raw.size(), k_frame_header and more. Four
// slices of 2 KiB, evenly from raw, are put together and encoded, so that it costs what encoding 8 KiB costs (some 20
// us), whatever the size of raw; up to 8 KiB the answer is exact. As a sample is short, repetitions farther apart than
// 8 KiB are not seen: compressors do better than it says, seldom worse.
SampledFrame sample_frame(std::span<const std::byte> raw, const CodecChoice& choice,
                          CodecWorkspace& workspace) noexcept;

}  // namespace windrow
