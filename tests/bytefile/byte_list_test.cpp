// SPDX-License-Identifier: BSD-3-Clause
#include "bytefile/byte_list.hpp"

#include <gmock/gmock.h>

#include "bytefile/known_lists.hpp"

namespace windrow {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Piece> pieces_of(const Pieces& list) {
  std::vector<Piece> pieces;
  for_each_piece(list, [&](const Piece& piece) { pieces.push_back(piece); });
  return pieces;
}

ByteList list_of(std::vector<Piece> pieces) {
  auto list = ByteList::of_pieces(pieces.size(), [&](size_t i) { return pieces[i]; });
  EXPECT_TRUE(list.ok()) << list.status().message();
  return std::move(list).value();
}

TEST(ByteListTest, PiecesAreSortedAndTheirMemoryBeginsAtTheLowestPlace) {
  const ByteList list = list_of({{100, -8, 10}, {0, 20, 5}, {50, 40, 0}});
  EXPECT_THAT(pieces_of(list.pieces()), ElementsAre(Piece{0, 28, 5}, Piece{100, 0, 10}));
  EXPECT_EQ(list.memory_begin(), -8);
  EXPECT_TRUE(list.repeated().empty());
}

TEST(ByteListTest, TheLaterPieceIsWrittenAndEachIsRead) {
  const ByteList list = list_of({{0, 0, 10}, {4, 100, 10}});
  EXPECT_THAT(pieces_of(list.pieces()), ElementsAre(Piece{0, 0, 4}, Piece{4, 100, 10}));
  ASSERT_EQ(list.repeated().size(), 1U);
  EXPECT_EQ(list.repeated()[0].file, 4);
  EXPECT_EQ(list.repeated()[0].from, 100);
  EXPECT_EQ(list.repeated()[0].to, 4);
  EXPECT_EQ(list.repeated()[0].length, 6);
  EXPECT_EQ(list.bytes_before(INT64_MAX), 20);
  EXPECT_EQ(list.bytes_before(5), 6);
}

TEST(ByteListTest, NestedRunsAreNotExpanded) {
  const FreeNest block{.first = {0, 0, 8}, .loops = {{1000, 80, 8}, {1000, 100000, 8000}}};
  const auto list = ByteList::of_nests({&block, 1});
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(extent_count(list.value().pieces()), 1000000);
  EXPECT_LT(list.value().pieces().memory_bytes(), 1000);
}

TEST(ByteListTest, WhatIsNoRangeIsRefusedWithItsEntry) {
  const auto refusal = [](Piece piece) {
    const std::vector<Piece> pieces{{0, 0, 1}, piece};
    return ByteList::of_pieces(pieces.size(), [&](size_t i) { return pieces[i]; }).status();
  };
  EXPECT_EQ(refusal({-1, 0, 1}).code(), Code::bad_argument);
  EXPECT_THAT(refusal({-1, 0, 1}).message(), HasSubstr("entry 1 of the list: it begins at offset -1 of the file"));
  EXPECT_THAT(refusal({0, 0, -1}).message(), HasSubstr("its length is -1"));
  EXPECT_THAT(refusal({INT64_MAX, 0, 1}).message(), HasSubstr("does not fit into 64 bits"));
  EXPECT_THAT(refusal({0, INT64_MAX, 1}).message(), HasSubstr("does not fit into 64 bits"));
  EXPECT_THAT(refusal({0, 0, INT64_MAX}).message(), HasSubstr("beyond 2^60"));
  EXPECT_TRUE(refusal({ByteList::k_longest_file - 1, 1, 1}).ok());
  EXPECT_THAT(refusal({ByteList::k_longest_file - 1, 1, 2}).message(), HasSubstr("beyond 2^60"));
  EXPECT_THAT(refusal({1, INT64_MIN, 1}).message(), HasSubstr("the memory of the list spans more than"));
  const FreeNest still{.first = {0, 0, 4}, .loops = {{INT64_MAX, 0, 0}, {INT64_MAX, 0, 0}}};
  EXPECT_EQ(extent_count(ByteList::of_nests({&still, 1}).value().pieces()), 1);
  const FreeNest nest{.first = {0, 0, 1}, .loops = {{-1, 1, 1}}};
  EXPECT_THAT(ByteList::of_nests({&nest, 1}).status().message(), HasSubstr("a count is -1"));
  const FreeNest far{.first = {0, 0, 1}, .loops = {{2, INT64_MAX, 1}}};
  EXPECT_THAT(ByteList::of_nests({&far, 1}).status().message(), HasSubstr("does not fit into 64 bits"));
  const FreeNest below{.first = {5, 0, 1}, .loops = {{3, -4, 1}}};
  EXPECT_THAT(ByteList::of_nests({&below, 1}).status().message(), HasSubstr("offset -3 of the file"));
}

TEST(ByteListTest, ThePartBeforeAnOffset) {
  const ByteList list = list_of({{0, 0, 10}, {20, 10, 10}, {40, 20, 10}});
  EXPECT_THAT(pieces_of(part_before(list.pieces(), 25)), ElementsAre(Piece{0, 0, 10}, Piece{20, 10, 5}));
  EXPECT_TRUE(part_before(list.pieces(), 0).empty());
  EXPECT_EQ(part_before(list.pieces(), 50).store(), list.pieces().store());
}

TEST(KnownListsTest, KnowAListByItsContent) {
  KnownLists known;
  const int64_t first = known.find(list_of({{0, 0, 10}, {20, 10, 10}}).pieces(), 100).number;
  EXPECT_NE(known.find(list_of({{0, 0, 10}, {20, 10, 11}}).pieces(), 100).number, first);
  EXPECT_NE(known.find(list_of({{0, 0, 10}, {20, 11, 10}}).pieces(), 100).number, first);
  EXPECT_EQ(known.find(list_of({{20, 10, 10}, {0, 0, 10}}).pieces(), 100).number, first);
  EXPECT_NE(known.find(list_of({{0, 0, 10}, {20, 10, 10}}).pieces(), 5).number, first);
}

TEST(KnownListsTest, ForgetTheOldest) {
  KnownLists known;
  const ByteList old = list_of({{0, 0, 10}});
  const int64_t first = known.find(old.pieces(), 100).number;
  for (int64_t i = 1; i < static_cast<int64_t>(KnownLists::k_most); ++i)
    known.find(list_of({{i * 100, 0, 10}}).pieces(), 100);
  EXPECT_EQ(known.find(old.pieces(), 100).number, first);
  for (int64_t i = 0; i < static_cast<int64_t>(KnownLists::k_most); ++i)
    known.find(list_of({{i * 100 + 7, 0, 10}}).pieces(), 100);
  EXPECT_NE(known.find(old.pieces(), 100).number, first);
}

}  // namespace
}  // namespace windrow
