// SPDX-License-Identifier: BSD-3-Clause
// Elements that are put more than once: the later put wins; within one put the higher rank; within a rank the later
// block. By every strategy, for pieces that go straight to the file and for those that are aggregated together.
#include <numeric>

#include "../fault/scene.hpp"

namespace {

using namespace windrow_test;

constexpr int64_t k_height = 12, k_width = 40;

struct Box {
  int64_t start[2], count[2];
};

// Of put number `put`, the boxes of a rank: they overlap each other and those of other ranks.
std::vector<Box> boxes_of(int put, int rank, int size) {
  const int64_t r = rank, shift = put * 3;
  std::vector<Box> boxes{{{(r * 2 + shift) % 6, (r * 5) % 20}, {6, 17}},
                         {{(r * 2 + shift) % 6 + 2, (r * 5) % 20 + 4}, {4, 11}},
                         {{0, (r * 7 + shift) % 30}, {k_height, 3}}};
  if (put == 1 && rank == size - 1 && size > 1)
    boxes.clear();  // and one that holds nothing
  return boxes;
}

int64_t value_of(int put, int rank, size_t box, int64_t index) {
  return ((put + 1) * 100 + rank) * 1'000'000 + static_cast<int64_t>(box) * 100'000 + index;
}

// What has to be in the file after `puts` puts in that order.
std::vector<int64_t> model(const std::vector<int>& puts, int size) {
  std::vector<int64_t> grid(static_cast<size_t>(k_height * k_width), -5);
  for (int put : puts)
    for (int rank = 0; rank < size; ++rank) {
      const auto boxes = boxes_of(put, rank, size);
      for (size_t b = 0; b < boxes.size(); ++b) {
        int64_t index = 0;
        for (int64_t i = 0; i < boxes[b].count[0]; ++i)
          for (int64_t j = 0; j < boxes[b].count[1]; ++j)
            grid[static_cast<size_t>((boxes[b].start[0] + i) * k_width + boxes[b].start[1] + j)] =
                value_of(put, rank, b, index++);
      }
    }
  return grid;
}

struct Put {
  Decomposition decomposition;
  std::vector<int64_t> data;

  explicit Put(int number) {
    const auto boxes = boxes_of(number, rank_of(), size_of());
    std::vector<int64_t> starts, counts;
    for (size_t b = 0; b < boxes.size(); ++b) {
      starts.insert(starts.end(), boxes[b].start, boxes[b].start + 2);
      counts.insert(counts.end(), boxes[b].count, boxes[b].count + 2);
      for (int64_t i = 0; i < boxes[b].count[0] * boxes[b].count[1]; ++i)
        data.push_back(value_of(number, rank_of(), b, i));
    }
    const int64_t shape[2] = {k_height, k_width};
    windrow_decomposition* d = nullptr;
    EXPECT_WINDROW_OK(windrow_blocks(MPI_COMM_WORLD, 2, shape, static_cast<int64_t>(boxes.size()), starts.data(),
                                     counts.data(), nullptr, nullptr, &d));
    decomposition.reset(d);
  }
};

class Overlaps : public testing::Test {
 protected:
  void SetUp() override {
    const int64_t shape[2] = {k_height, k_width};
    windrow_decomposition* d = nullptr;
    ASSERT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 2, shape, nullptr, nullptr, &d));
    all_.reset(d);
  }

  // A variable full of -5, so that elements without a put are known. Then `queue` puts, and the whole file is read.
  template <class Queue>
  void try_with(const KeyValues& strategy, const std::vector<int64_t>& want, Queue&& queue) {
    SCOPED_TRACE(text_of(strategy));
    const std::string path = folder_.file("overlaps.raw");
    windrow_file* file = nullptr;
    int variable = -1;
    const Options options(strategy);
    const int64_t shape[2] = {k_height, k_width};
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(), options, &file));
    ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT64, 2, shape, &variable));
    const std::vector<int64_t> empty(static_cast<size_t>(k_height * k_width), -5);
    EXPECT_WINDROW_OK(windrow_write(file, variable, all_.get(), empty.data()));
    queue(file, variable);
    std::vector<int64_t> read(empty.size());
    EXPECT_WINDROW_OK(windrow_read(file, variable, all_.get(), read.data()));
    EXPECT_WINDROW_OK(windrow_close(file));
    EXPECT_EQ(read, want);
  }

  SharedFolder folder_;
  Decomposition all_;
};

TEST_F(Overlaps, within_one_put) {
  for (int number = 0; number < 3; ++number) {
    const Put put(number);
    for (const KeyValues& strategy : fault_strategies())
      try_with(strategy, model({number}, size_of()), [&](windrow_file* file, int v) {
        EXPECT_WINDROW_OK(windrow_write(file, v, put.decomposition.get(), put.data.data()));
      });
  }
}

TEST_F(Overlaps, of_several_puts_in_one_flush) {
  const Put first(0), second(1), third(2);
  for (const KeyValues& strategy : fault_strategies())
    try_with(strategy, model({0, 2, 1}, size_of()), [&](windrow_file* file, int v) {
      for (const Put* put : {&first, &third, &second})
        EXPECT_WINDROW_OK(windrow_put(file, v, put->decomposition.get(), put->data.data()));
      EXPECT_WINDROW_OK(windrow_flush(file));
    });
}

TEST_F(Overlaps, of_one_flush_and_the_next) {
  const Put first(0), second(2);
  for (const KeyValues& strategy : fault_strategies())
    try_with(strategy, model({2, 0}, size_of()), [&](windrow_file* file, int v) {
      for (const Put* put : {&first, &second, &first}) {  // the third has the plan of the first
        EXPECT_WINDROW_OK(windrow_put(file, v, put->decomposition.get(), put->data.data()));
        EXPECT_WINDROW_OK(windrow_flush(file));
      }
    });
}

// A rank that holds an element in several places reads it into all of them.
TEST_F(Overlaps, are_read_into_every_place) {
  const Put boxes(1);
  const std::vector<int64_t> points{3, 0, 3, k_height * k_width - 1, 0, 3};
  windrow_decomposition* listed = nullptr;
  ASSERT_WINDROW_OK(windrow_points(MPI_COMM_WORLD, k_height * k_width, static_cast<int64_t>(points.size()),
                                   points.data(), nullptr, &listed));
  const Decomposition list(listed);
  for (const KeyValues& strategy : fault_strategies()) {
    std::vector<int64_t> grid(static_cast<size_t>(k_height * k_width));
    std::iota(grid.begin(), grid.end(), 1000);
    try_with(strategy, grid, [&](windrow_file* file, int v) {
      EXPECT_WINDROW_OK(windrow_write(file, v, all_.get(), grid.data()));
      std::vector<int64_t> read(boxes.data.size(), -1), want, at_points(points.size(), -1);
      for (const Box& box : boxes_of(1, rank_of(), size_of()))
        for (int64_t i = 0; i < box.count[0]; ++i)
          for (int64_t j = 0; j < box.count[1] && !boxes.data.empty(); ++j)
            want.push_back(1000 + (box.start[0] + i) * k_width + box.start[1] + j);
      EXPECT_WINDROW_OK(windrow_get(file, v, boxes.decomposition.get(), read.data()));
      EXPECT_WINDROW_OK(windrow_get(file, v, listed, at_points.data()));
      EXPECT_WINDROW_OK(windrow_flush(file));
      EXPECT_EQ(read, want);
      for (size_t i = 0; i < points.size(); ++i)
        EXPECT_EQ(at_points[i], 1000 + points[i]);
    });
  }
}

// One rank writes the elements that several ranks hold, for any puts. If that rank puts nothing, the others' data would
// be lost without an error.
TEST_F(Overlaps, of_which_the_owner_puts_nothing) {
  const int64_t shape[1] = {k_width}, start[1] = {0}, grid[2] = {k_height, k_width}, corner[2] = {0, 0};
  std::vector<int64_t> listed(static_cast<size_t>(k_width));
  std::iota(listed.begin(), listed.end(), 0);
  windrow_decomposition *same = nullptr, *points = nullptr, *block = nullptr, *all = nullptr;
  ASSERT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 1, shape, nullptr, nullptr, &same));
  ASSERT_WINDROW_OK(windrow_points(MPI_COMM_WORLD, k_width, k_width, listed.data(), nullptr, &points));
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 1, shape, start, shape, nullptr, nullptr, &block));
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, grid, corner, grid, nullptr, nullptr, &all));
  const Decomposition by_same(same), by_points(points), by_block(block), of_grid(all);
  windrow_file* file = nullptr;
  int steps = -1, plain = -1, large = -1;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder_.file("alone.raw").c_str(), nullptr, &file));
  ASSERT_WINDROW_OK(windrow_define_variable(file, "plain", WINDROW_INT64, 1, shape, &plain));
  ASSERT_WINDROW_OK(windrow_define_variable(file, "large", WINDROW_INT64, 2, grid, &large));
  ASSERT_WINDROW_OK(windrow_define_variable(file, "steps", WINDROW_INT64, 2, grid, &steps));
  const std::vector<int64_t> data(static_cast<size_t>(k_height * k_width), 7);
  const int last = size_of() - 1;
  const auto flush = [&] { return windrow_flush(file); };
  // One rank alone: the owner may, the others would lose all.
  for (windrow_decomposition* each : {same, points, block})
    for (const int alone : {0, last}) {
      if (rank_of() == alone) {
        EXPECT_WINDROW_OK(windrow_put(file, plain, each, data.data()));
      }
      const int code = flush();
      const bool lost = size_of() > 1 && (each == same    ? alone != 0
                                          : each == block ? alone != last
                                                          : code != WINDROW_OK);
      EXPECT_EQ(code, lost ? WINDROW_BAD_ARGUMENT : WINDROW_OK) << alone << ' ' << windrow_error_message();
      if (lost) {
        EXPECT_NE(std::string(windrow_error_message())
                      .find("put of \"/plain\": elements of rank " + std::to_string(alone) + " would be lost"),
                  std::string::npos)
            << windrow_error_message();
        EXPECT_EQ(windrow_error_rank(), alone);
      }
    }
  // Each its own record, or its own variable.
  EXPECT_WINDROW_OK(windrow_put_record(file, steps, rank_of() % k_height, same, data.data()));
  EXPECT_EQ(flush(), size_of() > 1 ? WINDROW_BAD_ARGUMENT : WINDROW_OK) << windrow_error_message();
  EXPECT_WINDROW_OK(windrow_put(file, rank_of() % 2 == 0 ? large : steps, all, data.data()));
  EXPECT_EQ(flush(), size_of() > 1 ? WINDROW_BAD_ARGUMENT : WINDROW_OK) << windrow_error_message();
  // One more often than the others: what is put again would be lost where they write.
  for (int i = 0; i <= (rank_of() == 0 ? size_of() : 0); ++i)
    EXPECT_WINDROW_OK(windrow_put(file, plain, block, data.data()));
  EXPECT_EQ(flush(), size_of() > 1 ? WINDROW_BAD_ARGUMENT : WINDROW_OK) << windrow_error_message();
  // The same in another order, and rank 0's alone beside what all put.
  for (const int v : rank_of() % 2 == 0 ? std::vector<int>{large, steps} : std::vector<int>{steps, large})
    EXPECT_WINDROW_OK(windrow_put(file, v, all, data.data()));
  if (rank_of() == 0) {
    EXPECT_WINDROW_OK(windrow_put(file, plain, same, data.data()));
  }
  EXPECT_WINDROW_OK(windrow_put_record(file, steps, 2, same, data.data()));
  EXPECT_WINDROW_OK(flush());
  EXPECT_WINDROW_OK(windrow_discard(file));
}

// A rank without shared elements may put or not, independent of the others.
TEST_F(Overlaps, leave_those_alone_who_are_none) {
  if (size_of() < 3)
    GTEST_SKIP() << "two ranks to overlap, and another";
  const bool overlaps = rank_of() < 2;
  const int64_t shape[1] = {2 + size_of()}, start[1] = {overlaps ? 0 : 2 + rank_of()}, count[1] = {overlaps ? 4 : 1};
  std::vector<int64_t> listed(static_cast<size_t>(count[0]));
  std::iota(listed.begin(), listed.end(), start[0]);
  windrow_decomposition *block = nullptr, *points = nullptr, *same = nullptr;
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 1, shape, start, count, nullptr, nullptr, &block));
  ASSERT_WINDROW_OK(windrow_points(MPI_COMM_WORLD, shape[0], count[0], listed.data(), nullptr, &points));
  ASSERT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &same));
  const Decomposition by_block(block), by_points(points), whole(same);
  windrow_file* file = nullptr;
  int v = -1;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder_.file("none.raw").c_str(), nullptr, &file));
  ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT64, 1, shape, &v));
  int64_t stamp = 0;
  for (windrow_decomposition* each : {block, points})
    for (const bool others : {false, true}) {
      const std::vector<int64_t> data(static_cast<size_t>(count[0]), ++stamp);
      if (overlaps || (others && rank_of() == 2)) {
        EXPECT_WINDROW_OK(windrow_put(file, v, each, data.data()));
      }
      EXPECT_WINDROW_OK(windrow_flush(file));
      std::vector<int64_t> read(static_cast<size_t>(shape[0]), -1);
      EXPECT_WINDROW_OK(windrow_read(file, v, same, read.data()));
      for (size_t i = 0; i < 4; ++i)
        EXPECT_EQ(read[i], stamp) << i;
      EXPECT_EQ(read[4], others ? stamp : stamp - 1 == 2 ? 2 : 0);
    }
  EXPECT_WINDROW_OK(windrow_close(file));
}

// No overlap, but the next worst: one rank writes short pieces into what another reads over, changes around and writes
// back.
TEST_F(Overlaps, of_what_is_written_and_what_is_sieved_over) {
  constexpr int64_t k_groups = 2000, k_group = 64, k_hole = 4, k_steps = 6;
  std::vector<int64_t> list;
  for (int64_t group = rank_of() / 2; group < k_groups; group += (size_of() + 1) / 2)
    for (int64_t i = 0; i < k_group; ++i) {
      const bool inside = i >= 20 && i < 20 + k_hole, alone = rank_of() % 2 == 0 && rank_of() == size_of() - 1;
      if (alone || inside == (rank_of() % 2 == 0))
        list.push_back(group * k_group + i);
    }
  windrow_decomposition* d = nullptr;
  ASSERT_WINDROW_OK(
      windrow_points(MPI_COMM_WORLD, k_groups * k_group, static_cast<int64_t>(list.size()), list.data(), nullptr, &d));
  const Decomposition points(d);
  const Options options{{"domains", "none"}, {"access", "sieve"}, {"sieve_hole", "40"}};
  windrow_file* file = nullptr;
  int variable = -1;
  const int64_t shape[1] = {k_groups * k_group};
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder_.file("sieved.raw").c_str(), options, &file));
  ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT64, 1, shape, &variable));
  std::vector<int64_t> data(list.size()), read(static_cast<size_t>(shape[0]));
  windrow_decomposition* whole = nullptr;
  ASSERT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 1, shape, nullptr, nullptr, &whole));
  const Decomposition all(whole);
  for (int64_t step = 0; step < k_steps; ++step) {
    for (size_t i = 0; i < list.size(); ++i)
      data[i] = list[i] * 1000 + step;
    EXPECT_WINDROW_OK(windrow_write(file, variable, d, data.data()));
    EXPECT_WINDROW_OK(windrow_read(file, variable, whole, read.data()));
    int64_t wrong = 0;
    for (size_t i = 0; i < read.size(); ++i)
      wrong += read[i] != static_cast<int64_t>(i) * 1000 + step ? 1 : 0;
    EXPECT_EQ(wrong, 0) << "step " << step;
  }
  EXPECT_WINDROW_OK(windrow_close(file));
}

// Every rank puts the same: the lowest one's data is written. A scalar block by all: the highest one's.
TEST_F(Overlaps, that_are_declared) {
  for (const KeyValues& strategy : fault_strategies()) {
    const std::vector<int64_t> mine(static_cast<size_t>(k_height * k_width), rank_of());
    try_with(strategy, std::vector<int64_t>(mine.size(), 0),
             [&](windrow_file* file, int v) { EXPECT_WINDROW_OK(windrow_write(file, v, all_.get(), mine.data())); });
    const int64_t start[2] = {0, 0}, count[2] = {k_height, k_width};
    try_with(strategy, std::vector<int64_t>(mine.size(), size_of() - 1), [&](windrow_file* file, int v) {
      EXPECT_WINDROW_OK(windrow_write_block(file, v, start, count, mine.data()));
    });
  }
}

// Points that several ranks hold: the option "owner" determines the writer.
TEST_F(Overlaps, of_points) {
  constexpr int64_t k_points = 30;
  std::vector<int64_t> list(k_points), values(k_points, rank_of());
  std::iota(list.begin(), list.end(), 0);
  std::vector<unsigned char> owned;
  for (int64_t point : list)
    owned.push_back(point % size_of() == rank_of() ? 1 : 0);
  for (const std::string owner : {"partitioner", "first", "highest"}) {
    SCOPED_TRACE(owner);
    windrow_file* file = nullptr;
    windrow_decomposition* made = nullptr;
    int variable = -1;
    const Options options{{"owner", owner}};
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder_.file("points.raw").c_str(), options, &file));
    ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT64, 1, &k_points, &variable));
    ASSERT_WINDROW_OK(windrow_points(MPI_COMM_WORLD, k_points, k_points, list.data(), owned.data(), &made));
    EXPECT_WINDROW_OK(windrow_write(file, variable, made, values.data()));
    std::vector<int64_t> read(k_points, -1), want;
    EXPECT_WINDROW_OK(windrow_read(file, variable, made, read.data()));
    for (int64_t point : list)
      want.push_back(owner == "first" ? 0 : owner == "highest" ? size_of() - 1 : point % size_of());
    EXPECT_EQ(read, want);
    windrow_decomposition_free(made);
    EXPECT_WINDROW_OK(windrow_close(file));
  }
}

// Flags that leave a point without an owner are an error where the flags are asked for, and only there.
TEST_F(Overlaps, of_points_that_nobody_owns) {
  if (size_of() == 1)
    GTEST_SKIP() << "who is alone owns all";
  const int64_t point = 3, points = 5;
  const unsigned char not_mine = 0;
  windrow_decomposition* made = nullptr;
  ASSERT_WINDROW_OK(windrow_points(MPI_COMM_WORLD, points, 1, &point, &not_mine, &made));
  for (const std::string owner : {"partitioner", "first"}) {
    windrow_file* file = nullptr;
    int variable = -1;
    const Options options{{"owner", owner}};
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder_.file("points.raw").c_str(), options, &file));
    ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT64, 1, &points, &variable));
    const int64_t value = 1;
    const int code = windrow_write(file, variable, made, &value);
    expect_same_everywhere(code);
    EXPECT_EQ(code, owner == "first" ? WINDROW_OK : WINDROW_BAD_ARGUMENT) << windrow_error_message();
    EXPECT_WINDROW_OK(windrow_discard(file));
  }
  windrow_decomposition_free(made);
}

}  // namespace
