// SPDX-License-Identifier: BSD-3-Clause
// A base file's map and texts of split_parts with arbitrary content: bounds that are refused, or parts that tile the
// array.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "../fuzz/expect.hpp"
#include "extent/split.hpp"

namespace {

constexpr int64_t k_most_parts = 256;  // that are looked at one by one

void expect_tiles(const windrow::Split& split) {
  FUZZ_EXPECT(split.parts() >= 1);
  if (split.parts() > k_most_parts)
    return;
  int64_t all = 1, sum = 0;
  for (const int64_t extent : split.shape()) {
    FUZZ_EXPECT(extent >= 0);
    all *= extent;
  }
  for (int64_t part = 0; part < split.parts(); ++part) {
    const windrow::Box box = split.box(part);
    int64_t elements = 1;
    for (size_t d = 0; d < box.start.size(); ++d) {
      FUZZ_EXPECT(box.start[d] >= 0 && box.count[d] >= 0 && box.count[d] <= split.shape()[d] - box.start[d]);
      elements *= box.count[d];
    }
    FUZZ_EXPECT(elements == split.elements(part));
    sum += elements;
  }
  FUZZ_EXPECT(sum == all);
  // A few pieces find their parts, and nothing is lost.
  if (all < 3 || all > 4096)
    return;
  windrow::PiecesBuilder pieces;
  pieces.add(windrow::Piece{0, 0, 1});
  pieces.add(windrow::Piece{all / 2, 1, all - all / 2});
  int64_t placed = 0;
  for (const auto& [part, list] : split.place(pieces.take()))
    windrow::for_each_piece(windrow::PieceView(list), [&, number = part](const windrow::Piece& piece) {
      FUZZ_EXPECT(number >= 0 && number < split.parts() && piece.file >= 0 && piece.length > 0);
      FUZZ_EXPECT(piece.file + piece.length <= split.elements(number));
      placed += piece.length;
    });
  FUZZ_EXPECT(placed == 1 + all - all / 2);
}

}  // namespace

// The first byte: how many dimensions, and whether numbers of 64 bits (a map) or a text follow; of a text the shape is
// small.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0)
    return 0;
  const auto dims = static_cast<size_t>(data[0] & 7);
  const bool is_text = (data[0] & 8) != 0;
  data += 1, size -= 1;
  if (is_text) {
    if (size < dims)
      return 0;
    const std::vector<int64_t> shape(data, data + dims);
    const std::string text(reinterpret_cast<const char*>(data) + dims, size - dims);
    const size_t bar = std::min(text.find('|'), text.size());
    const auto split = windrow::make_split(
        {.axes = text.substr(0, bar), .parts = bar < text.size() ? text.substr(bar + 1) : "auto", .count = 4}, shape);
    if (!split.ok())
      return 0;
    FUZZ_EXPECT(std::equal(shape.begin(), shape.end(), split.value().shape().begin(), split.value().shape().end()));
    expect_tiles(split.value());
    const auto again =
        windrow::make_split({.parts = windrow::text_of(split.value()), .count = split.value().parts()}, shape);
    FUZZ_EXPECT(again.ok() && again.value() == split.value());
    return 0;
  }
  std::vector<std::vector<int64_t>> bounds(dims);
  for (size_t d = 0; size >= sizeof(int64_t); data += sizeof(int64_t), size -= sizeof(int64_t)) {
    int64_t number = 0;
    std::memcpy(&number, data, sizeof number);
    if (dims > 0)
      bounds[d].push_back(number);
    if (dims > 0 && number < 0)
      bounds[d].pop_back(),
          d = (d + 1) % dims;  // a negative one ends a dimension: hostile ones come by themselves in between
    if (number == INT64_MIN && dims > 0)
      bounds[d].push_back(number);
  }
  const auto split = windrow::Split::make(bounds);
  if (split.ok())
    expect_tiles(split.value());
  return 0;
}
