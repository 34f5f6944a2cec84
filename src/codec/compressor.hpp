// SPDX-License-Identifier: BSD-3-Clause
// Compressor: one library's way to make bytes smaller, one file of this room each. To add one: a file that defines its make_..._state() below, and
// a line in the table of compressors.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace windrow {

// What a compressor works with: its memory, for one message at a time.
class CompressorState {
 public:
  CompressorState() = default;
  CompressorState(const CompressorState&) = delete;
  CompressorState& operator=(const CompressorState&) = delete;
  virtual ~CompressorState() = default;

  virtual int64_t bytes() const noexcept = 0;  // of memory that it holds

  // Compresses `from` into `to` and gives the length, or 0 when that does not fit. A level above the one that the state was made for is that one.
  virtual int64_t compress(std::span<const std::byte> from, int level, std::span<std::byte> to) noexcept = 0;

  // Fills all of `to`. False: `from` is not what compress() makes of so many bytes; any input is safe.
  virtual bool decompress(std::span<const std::byte> from, std::span<std::byte> to) noexcept = 0;
};

// All are made once, in the table, and have no state.
class Compressor {
 public:
  // For messages of up to `largest` bytes at levels of up to `level`. Throws std::bad_alloc; what the state needs later it has from here on.
  using MakeState = std::unique_ptr<CompressorState> (*)(int64_t largest, int level);

  constexpr Compressor(uint8_t id, std::string_view name, int default_level, int largest_level, MakeState make) noexcept
      : id_(id), name_(name), default_level_(default_level), largest_level_(largest_level), make_state_(make) {}

  uint8_t id() const noexcept { return id_; }              // in frames; never changes; at least 2
  std::string_view name() const noexcept { return name_; }  // "lzo", "lz4", "zstd"
  int default_level() const noexcept { return default_level_; }
  int largest_level() const noexcept { return largest_level_; }  // levels go from 1 to this
  std::unique_ptr<CompressorState> make_state(int64_t largest, int level) const { return make_state_(largest, level); }

 private:
  uint8_t id_;
  std::string_view name_;
  int default_level_, largest_level_;
  MakeState make_state_;
};

// nullptr: the library is not built in.
std::unique_ptr<CompressorState> make_lz4_state(int64_t largest, int level);
std::unique_ptr<CompressorState> make_lzo_state(int64_t largest, int level);
std::unique_ptr<CompressorState> make_zstd_state(int64_t largest, int level);

// Those that are built in, fastest first.
std::span<const Compressor* const> compressors() noexcept;

const Compressor* find_compressor(std::string_view name) noexcept;  // nullptr: there is none, or it is not built in

// Its place among all that a frame may ask for, built in or not; -1: no compressor has this number.
int compressor_place(uint8_t id) noexcept;
inline constexpr int k_compressor_places = 3;
std::string_view compressor_name(int place) noexcept;

}  // namespace windrow
