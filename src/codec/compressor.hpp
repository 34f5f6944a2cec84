// SPDX-License-Identifier: BSD-3-Clause
// Compressor: one way to make bytes smaller, a library's or the room's own. To add one: a file compressors/NAME.cpp
// that defines k_NAME_compressor, which CMake finds. Where it needs a library that is not there yet, that is a line of
// cmake/WindrowDependencies.cmake, windrow_optional_library(NAME ...).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "codec/compressors_found.hpp"

namespace windrow {

// How a message is to be compressed.
struct CompressorOrder {
  int level = 1;          // one above the one that the state was made for is that one
  int element_bytes = 1;  // 1 to 255: of the numbers that it holds, from its first byte on
};

// What a compressor works with: its memory, for one message at a time.
class CompressorState {
 public:
  CompressorState() = default;
  CompressorState(const CompressorState&) = delete;
  CompressorState& operator=(const CompressorState&) = delete;
  virtual ~CompressorState() = default;

  virtual int64_t bytes() const noexcept = 0;  // of memory that it holds

  // Compresses `from` into `to` and gives the length, or 0 when that does not fit. It does such elements.
  virtual int64_t compress(std::span<const std::byte> from, const CompressorOrder& order,
                           std::span<std::byte> to) noexcept = 0;

  // Fills all of `to`. False: `from` is not what compress() makes of so many bytes; any input is safe.
  virtual bool decompress(std::span<const std::byte> from, std::span<std::byte> to) noexcept = 0;
};

// One for each file, a constant without state.
class Compressor {
 public:
  // For messages of up to `largest` bytes at levels of up to `level`. Throws std::bad_alloc; what the state needs later
  // it has from here on.
  using MakeState = std::unique_ptr<CompressorState> (*)(int64_t largest, int level);

  struct Facts {
    uint8_t id = 0;           // in frames; its own, and never changes; at least 2
    std::string_view name;    // "delta", "lzo", "lz4", "zstd"; its own
    int megabytes_per_s = 0;  // at level 1, about, more than 0: for compressors(), and until it is measured. Source:
                              // the table of Zstandard's README (0.8.2), where it has it
    bool numbers =
        false;  // it takes numbers of 2, 4 or 8 bytes, whole: no other elements, and none whose bytes were shuffled
    double undoing = 0.3;  // of the time that it takes to make: to undo, about; counts until it was measured
    int default_level = 1;
    int largest_level = 1;           // levels go from 1 to this
    MakeState make_state = nullptr;  // nullptr: its library is not built in, and nobody may ask for a state
  };

  constexpr explicit Compressor(const Facts& facts) noexcept : facts_(facts) {}

  uint8_t id() const noexcept { return facts_.id; }
  std::string_view name() const noexcept { return facts_.name; }
  int megabytes_per_s() const noexcept { return facts_.megabytes_per_s; }
  bool shuffles() const noexcept {
    return !facts_.numbers;
  }  // with the bytes of elements shuffled first it is another way to compress
  bool does(int element_bytes) const noexcept {
    return !facts_.numbers || element_bytes == 2 || element_bytes == 4 || element_bytes == 8;
  }
  double undoing() const noexcept { return facts_.undoing; }
  int default_level() const noexcept { return facts_.default_level; }
  int largest_level() const noexcept { return facts_.largest_level; }
  bool is_built_in() const noexcept { return facts_.make_state != nullptr; }
  std::unique_ptr<CompressorState> make_state(int64_t largest, int level) const {
    return facts_.make_state(largest, level);
  }

 private:
  Facts facts_;
};

// All that a frame may ask for, built in or not, by their numbers. A compressor's place is the one in here.
std::span<const Compressor* const> known_compressors() noexcept;
inline constexpr size_t k_compressor_places = k_compressors_found.size();
int compressor_place(uint8_t id) noexcept;  // -1: no compressor has this number

// Those that are built in, fastest first.
std::span<const Compressor* const> compressors() noexcept;
const Compressor* find_compressor(std::string_view name) noexcept;  // nullptr: there is none, or it is not built in

}  // namespace windrow
