// SPDX-License-Identifier: BSD-3-Clause
// Messages: the units in which the bytes of a window are sent. A rank's bytes of a window are one message, or several
// if they exceed the message limit, so that senders and receivers need little memory for large windows. Both sides know
// the pieces and divide them equally.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/checked.hpp"
#include "exchange/item.hpp"

namespace windrow {

struct Message {
  Window part;        // part of the window
  int64_t bytes = 0;  // bytes of the holder in that part; 0: no message
};

// The end of a message that begins at the beginning of `rest`. The message has at most `most` bytes, and as many as
// possible. It has at least one file byte, even if that exceeds `most`. `bytes_until(end)`: bytes up to an end; at the
// end of `rest` this is `bytes`, which exceeds `most`. The first guess is right if pieces are evenly spread.
template <class BytesUntil>
int64_t end_of_message(Extent rest, int64_t bytes, int64_t most, BytesUntil&& bytes_until) {
  int64_t low = rest.begin, high = rest.end, bytes_low = 0, bytes_high = bytes;
  for (bool halve = false; high - low > 1 && bytes_low < most; halve = !halve) {
    const auto share = static_cast<double>(most - bytes_low) / static_cast<double>(bytes_high - bytes_low);
    const int64_t ahead = halve ? (high - low) / 2 : static_cast<int64_t>(share * static_cast<double>(high - low));
    const int64_t middle = low + std::clamp<int64_t>(ahead, 1, high - low - 1), bytes_middle = bytes_until(middle);
    if (bytes_middle <= most)
      low = middle, bytes_low = bytes_middle;
    else
      high = middle, bytes_high = bytes_middle;
  }
  return bytes_low > 0 ? low : high;  // the requests of one file byte alone exceed the limit
}

// As few messages as possible, and none much shorter than the others: a few bytes are not enough for a compressor.
// Usually whole elements.
inline int64_t share_of_message(int64_t bytes, int64_t most) noexcept {
  constexpr int64_t k_elements = 64;
  return std::min(most, round_up(ceil_divide(bytes, ceil_divide(bytes, most)), k_elements));
}

// The first message of the window's bytes from `begin` on.
template <class Holder>
Message message_from(std::span<const Holder> holders, const Window& window, int64_t begin) {
  const Extent rest{begin, window.bytes.end};
  Message message{window.part_in(rest), 0};
  message.bytes = bytes_in(holders, message.part);
  if (message.bytes <= window.message_bytes)
    return message;
  const auto bytes_until = [&](int64_t end) { return bytes_in(holders, window.part_in({begin, end})); };
  message.part = window.part_in(
      {begin, end_of_message(rest, message.bytes, share_of_message(message.bytes, window.message_bytes), bytes_until)});
  message.bytes = bytes_in(holders, message.part);
  return message;
}

template <class Holder>
Message first_message(std::span<const Holder> holders, const Window& window) {
  return message_from(holders, window, window.bytes.begin);
}

// The next message of the window; empty after the last one.
template <class Holder>
Message message_after(std::span<const Holder> holders, const Window& window, const Message& message) {
  return message.part.cut.end < window.bytes.end ? message_from(holders, window, message.part.cut.end) : Message{};
}

}  // namespace windrow
