// SPDX-License-Identifier: BSD-3-Clause
// Fields of messages between ranks: numbers of variable length, and bytes with their length before them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/varint.hpp"

namespace windrow {

inline void append_text(std::vector<std::byte>& message, std::string_view text) {
  append_varint(message, text.size());
  const auto bytes = std::as_bytes(std::span(text));
  message.insert(message.end(), bytes.begin(), bytes.end());
}

// A number of either sign; small ones take few bytes.
inline void append_signed(std::vector<std::byte>& message, int64_t value) {
  append_varint(message, (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
}

// Reads fields in their order. Safe on any input: after a field that is missing or damaged all others are empty, and
// good() is false.
class MessageReader {
 public:
  explicit MessageReader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  bool good() const noexcept { return good_; }
  bool is_whole() const noexcept { return good_ && position_ == bytes_.size(); }  // read to its end
  size_t left() const noexcept { return bytes_.size() - position_; }

  uint64_t number() noexcept {
    const auto read = good_ ? read_varint(bytes_, position_) : std::nullopt;
    good_ = read.has_value();
    return read.value_or(0);
  }

  int64_t signed_number() noexcept {
    const uint64_t read = number();
    return static_cast<int64_t>(read >> 1) ^ -static_cast<int64_t>(read & 1);
  }

  std::span<const std::byte> bytes() noexcept {
    const uint64_t length = number();
    good_ = good_ && length <= left();
    if (!good_)
      return {};
    const auto found = bytes_.subspan(position_, length);
    position_ += length;
    return found;
  }

  std::string text() {
    const auto found = bytes();
    return {reinterpret_cast<const char*>(found.data()), found.size()};
  }

  // A field that read(bytes, position) reads as a Result<Field>.
  template <class Field, class Read>
  Field field(Read&& read) {
    if (!good_)
      return {};
    auto found = read(bytes_, position_);
    good_ = found.ok();
    return found.ok() ? std::move(found).value() : Field{};
  }

 private:
  std::span<const std::byte> bytes_;
  size_t position_ = 0;
  bool good_ = true;
};

}  // namespace windrow
