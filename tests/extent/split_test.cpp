// SPDX-License-Identifier: BSD-3-Clause
// Parts of arrays, against a model that walks over single elements.
#include "extent/split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace windrow {
namespace {

Split split_of(const SplitRequest& request, const std::vector<int64_t>& shape) {
  auto split = make_split(request, shape);
  EXPECT_TRUE(split.ok()) << split.status().message();
  return std::move(split).value();
}

TEST(Split, places_each_element_where_a_model_does) {
  std::mt19937 random(11);
  const auto below = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint32_t>(most)); };
  for (int round = 0; round < 300; ++round) {
    std::vector<std::vector<int64_t>> bounds;
    int64_t all = 1;
    for (int64_t i = 0, dimensions = 1 + below(4); i < dimensions; ++i) {
      bounds.push_back({0});
      for (int64_t ranges = 1 + below(4); ranges > 0; --ranges)
        bounds.back().push_back(bounds.back().back() + 1 + below(3));
      all *= bounds.back().back();
    }
    auto made = Split::make(bounds);
    ASSERT_TRUE(made.ok());
    const Split& split = made.value();
    std::map<int64_t, std::pair<int64_t, int64_t>> model;  // element to part and place
    int64_t counted = 0;
    for (int64_t part = 0; part < split.parts(); ++part) {
      const Box box = split.box(part);
      for (int64_t place = 0; place < split.elements(part); ++place, ++counted) {
        int64_t rest = place, element = 0, stride = 1;
        for (size_t i = box.start.size(); i-- > 0; rest /= box.count[i]) {
          element += (box.start[i] + rest % box.count[i]) * stride;
          stride *= split.shape()[i];
        }
        model[element] = {part, place};
      }
    }
    ASSERT_EQ(counted, all);
    ASSERT_EQ(static_cast<int64_t>(model.size()), all) << "parts overlap";
    PiecesBuilder builder;
    std::map<int64_t, int64_t> memory_of;
    const int64_t first = below(2) == 0 ? 0 : below(all);
    for (int64_t at = 0, memory = 5; first + at < all;) {
      const int64_t length = std::min(1 + below(12), all - first - at);
      builder.add(Piece{at, memory, length});
      for (int64_t i = 0; i < length; ++i)
        memory_of[first + at + i] = memory + i;
      memory += length + below(3);
      at += length + below(4);
    }
    const Pieces pieces = builder.take();
    size_t seen = 0;
    for (const auto& [part, list] : split.place(pieces, first))
      for_each_piece(PieceView(list), [&, number = part](const Piece& piece) {
        for (int64_t i = 0; i < piece.length; ++i, ++seen) {
          bool found = false;
          for (const auto& [element, memory] : memory_of)
            if (memory == piece.memory + i) {
              EXPECT_EQ(model[element], (std::pair<int64_t, int64_t>(number, piece.file + i)));
              found = true;
            }
          EXPECT_TRUE(found);
        }
      });
    EXPECT_EQ(seen, memory_of.size());
  }
}

// Blocks are moved as blocks: one record for each part that a block overlaps, for any number of rows. With any strides
// each element arrives at its place.
TEST(Split, places_blocks_without_their_rows) {
  std::mt19937 random(12);
  const auto below = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint32_t>(most)); };
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::vector<int64_t>> bounds;
    const auto dimensions = static_cast<size_t>(1 + below(4));
    for (size_t i = 0; i < dimensions; ++i) {
      bounds.push_back({0});
      for (int64_t ranges = 1 + below(3); ranges > 0; --ranges)
        bounds.back().push_back(bounds.back().back() + 1 + below(4));
    }
    const Split split = std::move(Split::make(bounds)).value();
    const bool regular = round % 4 != 0;  // else with strides of its own, which may pass over the ends of rows
    std::vector<int64_t> start, count, step;
    int64_t file = 0, memory = below(5), met = 1;
    for (size_t i = 0; i < dimensions; ++i) {
      start.push_back(below(split.shape()[i]));
      count.push_back(1 + below(split.shape()[i] - start[i]));
      step.push_back(regular ? 1 : 1 + below(3));
      while ((count[i] - 1) * step[i] + start[i] >= split.shape()[i])
        --count[i];
      file = file * split.shape()[i] + start[i];
      int64_t ranges = 0;
      for (size_t range = 0; range + 1 < bounds[i].size(); ++range)
        ranges += bounds[i][range] < start[i] + count[i] && bounds[i][range + 1] > start[i] ? 1 : 0;
      met *= ranges;
    }
    Nest nest(windrow::Run{file, memory, 1, 0, 0, 1});
    int64_t stride = 1, elements = 1, gap = below(3);
    for (size_t i = dimensions; i-- > 0; stride *= split.shape()[i]) {
      nest.repeat(count[i], step[i] * stride, elements);
      elements = elements * count[i] + (i + 1 == dimensions ? gap : 0);
    }
    if (round % 8 == 0) {  // a run whose pieces reach over the ends of rows
      const int64_t all = stride, length = 1 + below(std::min<int64_t>(all, 9)), apart = length + below(5);
      nest = Nest(windrow::Run{0, memory, length, 0, 0, 1});
      nest.repeat(1 + below((all - length) / apart + 1), apart, length + gap);
    }
    PiecesBuilder builder;
    builder.add(nest);
    const Pieces pieces = builder.take();
    std::map<std::pair<int64_t, int64_t>, int64_t> expected;  // part and place to memory
    for_each_piece(pieces, [&](const Piece& piece) {
      for (int64_t i = 0; i < piece.length; ++i) {
        int64_t rest = piece.file + i, part = 0, within = 0, parts = 1, inside = 1;
        for (size_t d = dimensions; d-- > 0; rest /= split.shape()[d]) {
          const int64_t index = rest % split.shape()[d];
          const auto range = std::upper_bound(bounds[d].begin(), bounds[d].end(), index) - bounds[d].begin() - 1;
          const auto at = static_cast<size_t>(range);
          part += range * parts;
          parts *= static_cast<int64_t>(bounds[d].size()) - 1;
          within += (index - bounds[d][at]) * inside;
          inside *= bounds[d][at + 1] - bounds[d][at];
        }
        expected[{part, within}] = piece.memory + i;
      }
    });
    std::map<std::pair<int64_t, int64_t>, int64_t> found;
    int64_t records = 0;
    for (const auto& [part, list] : split.place(pieces)) {
      records += list.store()->records;
      int64_t before = 0;
      for_each_piece(PieceView(list), [&, number = part](const Piece& piece) {
        EXPECT_GE(piece.file, before);
        before = piece.file + piece.length;
        for (int64_t i = 0; i < piece.length; ++i)
          found[{number, piece.file + i}] = piece.memory + i;
      });
    }
    ASSERT_EQ(found, expected) << "round " << round;
    if (regular && round % 8 != 0) {
      ASSERT_EQ(records, met) << "round " << round;
    }
  }
}

TEST(Split, of_the_slowest_dimension_is_one_piece_a_part) {
  const Split split = split_of({.axes = "auto", .parts = "auto", .count = 4}, {10, 1000});
  EXPECT_EQ(text_of(split), "4x1");
  EXPECT_EQ(split.bounds()[0], (std::vector<int64_t>{0, 3, 6, 8, 10}));
  PiecesBuilder builder;
  builder.add(Piece{0, 0, 10'000});
  const auto parts = split.place(builder.take());
  ASSERT_EQ(parts.size(), 4u);
  for (const auto& [part, list] : parts)
    EXPECT_EQ(extent_count(list), 1) << part;
}

// For any number of parts that one piece is in.
TEST(Split, into_very_many_parts_needs_no_deep_stack) {
  constexpr int64_t k_parts = 200'000;
  const Split split = split_of({.axes = "auto", .parts = "auto", .count = k_parts}, {k_parts, 3});
  PiecesBuilder builder;
  builder.add(Piece{0, 0, 3 * k_parts});
  const auto parts = split.place(builder.take());
  ASSERT_EQ(parts.size(), static_cast<size_t>(k_parts));
  int64_t elements = 0;
  for (const auto& [part, list] : parts)
    elements += total_bytes(list);
  EXPECT_EQ(elements, 3 * k_parts);
}

TEST(Split, is_as_asked) {
  EXPECT_EQ(text_of(split_of({.axes = "1", .parts = "", .count = 4}, {3, 8})), "1x4");
  EXPECT_EQ(text_of(split_of({.axes = "0,1", .parts = "", .count = 6}, {9, 4})), "3x2");
  EXPECT_EQ(text_of(split_of({.axes = "auto", .parts = "3+5+2x2", .count = 6}, {10, 4})), "3+5+2x2");
  EXPECT_EQ(text_of(split_of({.axes = "auto", .parts = "auto", .count = 4}, {2, 2, 5})), "1x1x4");
  EXPECT_EQ(text_of(split_of({.axes = "auto", .parts = "auto", .count = 4}, {2, 2, 3})), "2x1x2");
}

// Ranges that are even end where chunks do; lengths that are given stay as they are.
TEST(Split, is_of_whole_units_where_there_are_enough) {
  const auto bounds = [](const SplitRequest& request, const std::vector<int64_t>& shape) {
    return split_of(request, shape).bounds();
  };
  const std::vector<int64_t> unit{4, 3};
  EXPECT_EQ(bounds({.axes = "0", .count = 2, .unit = unit}, {19, 10}),
            (std::vector<std::vector<int64_t>>{{0, 8, 19}, {0, 10}}));
  EXPECT_EQ(bounds({.axes = "0", .count = 4, .unit = unit}, {19, 10}),
            (std::vector<std::vector<int64_t>>{{0, 4, 8, 12, 19}, {0, 10}}));
  EXPECT_EQ(bounds({.axes = "0", .count = 5, .unit = unit}, {19, 10}),
            (std::vector<std::vector<int64_t>>{{0, 4, 8, 12, 16, 19}, {0, 10}}));
  EXPECT_EQ(bounds({.axes = "0,1", .count = 6, .unit = unit}, {19, 10}),
            (std::vector<std::vector<int64_t>>{{0, 8, 12, 19}, {0, 6, 10}}));
  EXPECT_EQ(bounds({.parts = "2x3", .count = 6, .unit = unit}, {19, 10}),
            (std::vector<std::vector<int64_t>>{{0, 8, 19}, {0, 3, 6, 10}}));
  EXPECT_EQ(bounds({.parts = "9+10x2", .count = 6, .unit = unit}, {19, 10}),
            (std::vector<std::vector<int64_t>>{{0, 9, 19}, {0, 6, 10}}));
  // The first dimension is long enough, but one chunk; and none has enough chunks.
  EXPECT_EQ(bounds({.count = 3, .unit = {10, 2}}, {10, 6}), (std::vector<std::vector<int64_t>>{{0, 10}, {0, 2, 4, 6}}));
  EXPECT_EQ(bounds({.count = 3, .unit = {10, 6}}, {10, 6}), (std::vector<std::vector<int64_t>>{{0, 4, 7, 10}, {0, 6}}));
}

TEST(Split, knows_texts_that_fit_nothing) {
  for (const char* good : {"", "auto", "none", "0", "0,2", "31"})
    EXPECT_TRUE(check_split({.axes = good, .parts = ""}).ok()) << good;
  for (const char* bad : {"o", "0,0", "0,", "-1", "0x1", " 0"})
    EXPECT_EQ(check_split({.axes = bad, .parts = ""}).code(), Code::bad_argument) << bad;
  for (const char* good : {"", "auto", "4", "4x1x2", "3+5+2x1x4"})
    EXPECT_TRUE(check_split({.axes = "", .parts = good}).ok()) << good;
  for (const char* bad : {"0x1", "-1x1", "3+x1", "x", "two", "3,2"})
    EXPECT_EQ(check_split({.axes = "", .parts = bad}).code(), Code::bad_argument) << bad;
}

TEST(Split, refuses_what_does_not_fit) {
  const auto code = [](const SplitRequest& request, const std::vector<int64_t>& shape) {
    return make_split(request, shape).status().code();
  };
  EXPECT_EQ(code({.axes = "2", .parts = "", .count = 2}, {4, 4}), Code::bad_argument);
  EXPECT_EQ(code({.axes = "0,0", .parts = "", .count = 2}, {4, 4}), Code::bad_argument);
  EXPECT_EQ(code({.axes = "one", .parts = "", .count = 2}, {4, 4}), Code::bad_argument);
  EXPECT_EQ(code({.axes = "0", .parts = "", .count = 5}, {4, 4}), Code::bad_argument);
  EXPECT_EQ(code({.axes = "auto", .parts = "2", .count = 2}, {4, 4}), Code::bad_argument);
  EXPECT_EQ(code({.axes = "auto", .parts = "3+2x1", .count = 2}, {4, 4}), Code::bad_argument);
  EXPECT_EQ(code({.axes = "auto", .parts = "1+2x1", .count = 2}, {4, 4}), Code::bad_argument);
  EXPECT_EQ(code({.axes = "auto", .parts = "0+4x1", .count = 2}, {4, 4}), Code::bad_argument);
  EXPECT_EQ(code({.axes = "auto", .parts = "9223372036854775807+9223372036854775807x1", .count = 2}, {4, 4}),
            Code::bad_argument);
  EXPECT_EQ(code({.axes = "auto", .parts = "2x2", .count = 3}, {4, 4}), Code::bad_argument);
  EXPECT_EQ(code({.axes = "auto", .parts = "auto", .count = 17}, {4, 4}), Code::not_found);
  EXPECT_EQ(code({.axes = "auto", .parts = "auto", .count = 2}, {}), Code::bad_argument);
  EXPECT_EQ(Split::make({{0, 5, 5}}).status().code(), Code::bad_argument);
  EXPECT_EQ(Split::make({{1, 5}}).status().code(), Code::bad_argument);
  EXPECT_EQ(Split::make({{0, INT64_MAX}, {0, INT64_MAX}}).status().code(), Code::bad_argument);
}

}  // namespace
}  // namespace windrow
