// SPDX-License-Identifier: BSD-3-Clause
// Messages: what of a window travels at once. A rank's bytes of a window are one message, or several where they are
// more than a message may have: then a rank that sends or takes them holds little, however large windows are. Both
// sides know the pieces, and cut them alike.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/checked.hpp"
#include "exchange/item.hpp"

namespace windrow {

struct Message {
  Window part;        // of the window
  int64_t bytes = 0;  // that the holder has in it; 0: there is no message
};

// Where to end what begins at `begin`, so that it has `most` bytes, or as many below as can be, those of one held file
// byte at least. `bytes_until(end)`: how many; at the end of `rest` they are `bytes`, and more than that. The first try
// is right where the pieces lie evenly.
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
  return bytes_low > 0 ? low : high;  // there one file byte is asked for so often that it alone is more
}

// As few messages as can be, and of them none that is much shorter: a few bytes would be too few for a compressor.
// Whole elements, mostly.
inline int64_t share_of_message(int64_t bytes, int64_t most) noexcept {
  constexpr int64_t k_elements = 64;
  return std::min(most, round_up(ceil_divide(bytes, ceil_divide(bytes, most)), k_elements));
}

// The first message of what of a window lies at or behind `begin`.
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

// What follows a message of the window; none where it was the last.
template <class Holder>
Message message_behind(std::span<const Holder> holders, const Window& window, const Message& message) {
  return message.part.cut.end < window.bytes.end ? message_from(holders, window, message.part.cut.end) : Message{};
}

}  // namespace windrow
