// SPDX-License-Identifier: BSD-3-Clause
// Compressor: a compression method, of a library or of our own. To add one, write a file compressors/NAME.cpp that
// defines k_NAME_compressor; CMake finds it. A new library needs a line in cmake/WindrowDependencies.cmake:
// windrow_optional_library(NAME ...).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "codec/compressors_found.hpp"

namespace windrow {

// Parameters of the compression of a message.
struct CompressorOrder {
  int level = 1;          // at most the level that the state was made for
  int element_bytes = 1;  // 1 to 255: size of the elements, which begin at the first byte
};

// The memory of a compressor, for one message at a time.
class CompressorState {
 public:
  CompressorState() = default;
  CompressorState(const CompressorState&) = delete;
  CompressorState& operator=(const CompressorState&) = delete;
  virtual ~CompressorState() = default;

  virtual int64_t bytes() const noexcept = 0;  // memory held

  // Compresses `from` to `to` and returns the length; 0: it does not fit. The compressor supports the element size.
  virtual int64_t compress(std::span<const std::byte> from, const CompressorOrder& order,
                           std::span<std::byte> to) noexcept = 0;

  // Fills all of `to`. False: `from` is not a result of compress() for that many bytes. Safe on any input.
  virtual bool decompress(std::span<const std::byte> from, std::span<std::byte> to) noexcept = 0;
};

// One for each file, a stateless constant.
class Compressor {
 public:
  // For messages of up to `largest` bytes at levels of up to `level`. Throws std::bad_alloc; later calls allocate
  // nothing.
  using MakeState = std::unique_ptr<CompressorState> (*)(int64_t largest, int level);

  struct Facts {
    uint8_t id = 0;         // in frames; unique, never changes, at least 2
    std::string_view name;  // "delta", "lzo", "lz4", "zstd"; unique
    // approximate speed at level 1, positive: orders compressors() and is used until measured. Source: the table in the
    // README of Zstandard 0.8.2, where it has the compressor
    int megabytes_per_s = 0;
    // accepts whole, unshuffled numbers of 2, 4 or 8 bytes only
    bool numbers = false;
    double decode_share = 0.3;  // approximate time to decompress relative to compression; used until measured
    int default_level = 1;
    int largest_level = 1;           // levels are 1 to this
    MakeState make_state = nullptr;  // nullptr: the library is not built in; no state may be requested
  };

  constexpr explicit Compressor(const Facts& facts) noexcept : facts_(facts) {}

  uint8_t id() const noexcept { return facts_.id; }
  std::string_view name() const noexcept { return facts_.name; }
  int megabytes_per_s() const noexcept { return facts_.megabytes_per_s; }
  // Whether shuffle before compression changes the result.
  bool shuffles() const noexcept { return !facts_.numbers; }
  bool does(int element_bytes) const noexcept {
    return !facts_.numbers || element_bytes == 2 || element_bytes == 4 || element_bytes == 8;
  }
  double decode_share() const noexcept { return facts_.decode_share; }
  int default_level() const noexcept { return facts_.default_level; }
  int largest_level() const noexcept { return facts_.largest_level; }
  bool is_built_in() const noexcept { return facts_.make_state != nullptr; }
  std::unique_ptr<CompressorState> make_state(int64_t largest, int level) const {
    return facts_.make_state(largest, level);
  }

 private:
  Facts facts_;
};

// All compressors that a frame may name, built in or not, by number. A compressor's place is its index in this list.
std::span<const Compressor* const> known_compressors() noexcept;
inline constexpr size_t k_compressor_places = k_compressors_found.size();
int compressor_place(uint8_t id) noexcept;  // -1: no compressor has this number

// The compressors that are built in, fastest first.
std::span<const Compressor* const> compressors() noexcept;
const Compressor* find_compressor(std::string_view name) noexcept;  // nullptr: unknown or not built in

}  // namespace windrow
