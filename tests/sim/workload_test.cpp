// SPDX-License-Identifier: BSD-3-Clause
// The elements of each rank: every element once, the sums, and impossible workloads.
#include "sim/workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extent/algebra.hpp"

namespace windrow::test {
namespace {

using testing::HasSubstr;

Workload made(Workload workload) {
  const Status status = complete(workload);
  EXPECT_TRUE(status.ok()) << status.message();
  return workload;
}

std::vector<Workload> some(int ranks) {
  return {made({.division = Division::rows, .ranks = ranks, .shape = {101, 7}}),
          made({.division = Division::grid, .ranks = ranks, .shape = {13, 11, 9}}),
          made({.division = Division::grid, .ranks = ranks, .shape = {2, 3}}),
          made({.division = Division::cyclic, .ranks = ranks, .shape = {1001}, .block = 10}),
          made({.division = Division::cyclic, .ranks = ranks, .shape = {5}, .block = 2})};
}

std::vector<int64_t> elements_of(const Pieces& pieces) {
  std::vector<int64_t> elements;
  for_each_piece(pieces, {0, int64_t{1} << 40}, [&](const Piece& piece) {
    for (int64_t i = 0; i < piece.length; ++i)
      elements.push_back(piece.file + i);
  });
  return elements;
}

}  // namespace

TEST(Workload, gives_every_element_to_one_rank) {
  for (const int ranks : {1, 2, 3, 7, 12, 31})
    for (const Workload& workload : some(ranks)) {
      std::vector<int> holders(static_cast<size_t>(workload.elements()));
      for (int rank = 0; rank < ranks; ++rank)
        for (const int64_t element : elements_of(held_by(workload, rank).elements))
          ++holders.at(static_cast<size_t>(element));
      EXPECT_EQ(std::count(holders.begin(), holders.end(), 1), workload.elements()) << workload_text(workload);
    }
}

TEST(Workload, of_several_ranks_is_the_union_of_theirs) {
  for (const int ranks : {1, 5, 12, 18})
    for (const Workload& workload : some(ranks))
      for (int first = 0; first < ranks; ++first)
        for (int last = first + 1; last <= ranks; ++last) {
          std::vector<int64_t> each;
          for (int rank = first; rank < last; ++rank) {
            const auto of = elements_of(held_by(workload, rank).elements);
            each.insert(each.end(), of.begin(), of.end());
          }
          std::sort(each.begin(), each.end());
          const Pieces together = held_by_all(workload, first, last).elements;
          EXPECT_EQ(elements_of(together), each) << workload_text(workload) << " " << first << " to " << last;
          int64_t end = -1;
          for_each_piece(together, {0, workload.elements()}, [&](const Piece& piece) {
            EXPECT_GT(piece.file, end) << "pieces that touch are one";
            end = piece.file + piece.length;
          });
        }
}

TEST(Workload, of_lists_is_what_they_say) {
  PiecesBuilder builder;
  builder.add(Piece{3, 0, 4});
  const Pieces list = builder.take();
  const Workload workload = made({.division = Division::lists, .ranks = 2, .shape = {10}, .lists = {list, {}}});
  EXPECT_EQ(elements_of(held_by(workload, 0).elements), (std::vector<int64_t>{3, 4, 5, 6}));
  EXPECT_TRUE(held_by(workload, 1).elements.empty());
  EXPECT_EQ(elements_of(held_by_all(workload, 0, 2).elements), (std::vector<int64_t>{3, 4, 5, 6}));
}

TEST(Workload, makes_even_grids) {
  EXPECT_EQ(made({.division = Division::grid, .ranks = 512, .shape = {64, 64, 64}}).rank_grid,
            (std::vector<int64_t>{8, 8, 8}));
  EXPECT_EQ(made({.division = Division::grid, .ranks = 12, .shape = {64, 64}}).rank_grid, (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(made({.division = Division::grid, .ranks = 7, .shape = {64, 64, 64}}).rank_grid,
            (std::vector<int64_t>{7, 1, 1}));
}

TEST(Workload, that_cannot_be_is_refused) {
  const auto expect = [](Workload workload, const std::string& part) {
    const Status status = complete(workload);
    EXPECT_EQ(status.code(), Code::bad_argument) << part;
    EXPECT_THAT(status.message(), HasSubstr(part));
  };
  expect({.shape = {}}, "0 dimensions");
  expect({.shape = {4, 0}}, "no elements");
  expect({.shape = {-1}}, "no elements");
  expect({.ranks = 0, .shape = {4}}, "0 ranks");
  expect({.shape = {int64_t{1} << 40, int64_t{1} << 40}}, "exceed the maximum of a file");
  expect({.shape = {4}, .element_bytes = 0}, "elements of 0 bytes");
  expect({.shape = {4}, .variables = 0}, "0 variables");
  expect({.division = Division::grid, .ranks = 4, .shape = {4, 4}, .rank_grid = {2, 3}}, "2x3");
  expect({.division = Division::grid, .ranks = 4, .shape = {4, 4}, .rank_grid = {4}}, "grid of 4");
  expect({.division = Division::grid, .ranks = 4, .shape = {4, 4}, .rank_grid = {-2, -2}}, "-2x-2");
  expect({.division = Division::cyclic, .ranks = 4, .shape = {4}, .block = 0}, "blocks of 0");
  expect({.division = Division::lists, .ranks = 4, .shape = {4}}, "0 lists for 4 ranks");
}

}  // namespace windrow::test
