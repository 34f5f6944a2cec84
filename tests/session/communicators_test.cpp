// SPDX-License-Identifier: BSD-3-Clause
// Any communicator: a part of the ranks, a duplicate, each rank alone, one that is freed while the file is open, and
// decompositions of another communicator with the same ranks.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>

#include "../capi/checked.hpp"

namespace {

using namespace windrow_test;

constexpr int64_t k_rows = 103;

std::vector<int64_t> rows_from(int64_t first, int64_t count, int64_t add = 0) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), first * 3 + add);
  for (int64_t i = 0; i < count; ++i)
    values[static_cast<size_t>(i)] = (first + i) * 3 + add;
  return values;
}

struct Rows {
  Decomposition decomposition;
  int64_t first = 0, count = 0;

  explicit Rows(MPI_Comm comm, int64_t rows = k_rows) {
    windrow_decomposition* d = nullptr;
    EXPECT_WINDROW_OK(windrow_rows(comm, rows, WINDROW_EVEN, &d));
    decomposition.reset(d);
    EXPECT_WINDROW_OK(windrow_decomposition_rows(d, &first, &count));
  }
};

void write_rows(MPI_Comm comm, const std::string& path, int64_t add = 0, const windrow_options* options = nullptr) {
  windrow_file* file = nullptr;
  int variable = -1;
  const Rows rows(comm);
  const auto data = rows_from(rows.first, rows.count, add);
  ASSERT_WINDROW_OK(windrow_create(comm, path.c_str(), options, &file));
  EXPECT_WINDROW_OK(windrow_define_variable(file, "rows", WINDROW_INT64, 1, &k_rows, &variable));
  EXPECT_WINDROW_OK(windrow_write(file, variable, rows.decomposition.get(), data.data()));
  EXPECT_WINDROW_OK(windrow_close(file));
}

void expect_rows(MPI_Comm comm, const std::string& path, int64_t add = 0) {
  windrow_file* file = nullptr;
  int variable = -1;
  const Rows rows(comm);
  std::vector<int64_t> read(static_cast<size_t>(rows.count), -1);
  ASSERT_WINDROW_OK(windrow_open(comm, path.c_str(), WINDROW_READ, nullptr, &file));
  EXPECT_WINDROW_OK(windrow_find_variable(file, "rows", &variable));
  EXPECT_WINDROW_OK(windrow_read(file, variable, rows.decomposition.get(), read.data()));
  EXPECT_WINDROW_OK(windrow_close(file));
  EXPECT_EQ(read, rows_from(rows.first, rows.count, add));
}

class Communicators : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == ".h5" && windrow_has("hdf5") == 0)
      GTEST_SKIP() << "built without HDF5";
  }
  std::string path(const std::string& name) const { return folder_.file(name + GetParam()); }
  SharedFolder folder_;
};

TEST_P(Communicators, a_part_of_the_ranks_reads_what_all_wrote) {
  write_rows(MPI_COMM_WORLD, path("all"));
  MPI_Comm part = MPI_COMM_NULL;
  const int color = rank_of() % 2;
  MPI_Comm_split(MPI_COMM_WORLD, color, -rank_of(), &part);  // and in the opposite order
  expect_rows(part, path("all"));
  write_rows(part, path("part" + std::to_string(color)), color);
  MPI_Comm_free(&part);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int written = 0; written < std::min(2, size_of()); ++written)
    expect_rows(MPI_COMM_WORLD, path("part" + std::to_string(written)), written);
}

TEST_P(Communicators, each_rank_alone_at_the_same_time) {
  const std::string mine = path("rank" + std::to_string(rank_of()));
  for (int i = 0; i < 3; ++i)
    write_rows(MPI_COMM_SELF, mine, rank_of());
  expect_rows(MPI_COMM_SELF, mine, rank_of());
}

TEST_P(Communicators, freed_while_the_file_is_open) {
  for (int i = 0; i < 3; ++i) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    windrow_file* file = nullptr;
    int variable = -1;
    const Rows rows(comm);
    const auto data = rows_from(rows.first, rows.count, i);
    ASSERT_WINDROW_OK(windrow_create(comm, path("freed").c_str(), nullptr, &file));
    MPI_Comm_free(&comm);
    EXPECT_WINDROW_OK(windrow_define_variable(file, "rows", WINDROW_INT64, 1, &k_rows, &variable));
    EXPECT_WINDROW_OK(windrow_write(file, variable, rows.decomposition.get(), data.data()));
    EXPECT_WINDROW_OK(windrow_close(file));
    expect_rows(MPI_COMM_WORLD, path("freed"), i);
  }
}

// What belongs to a communicator that is freed before its file is closed goes with the file.
TEST_P(Communicators, freed_first_leave_no_memory_behind) {
  const auto mappings = [] {
    std::ifstream in("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>(), '\n');
  };
  constexpr int64_t k_cells = 4001;
  int64_t before = 0;
  for (int i = 0; i < 24; ++i) {
    if (i == 8)
      before = mappings();
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    windrow_file* file = nullptr;
    int variable = -1;
    std::vector<int64_t> list, data;
    for (int64_t cell = rank_of(); cell < k_cells; cell += size_of())
      list.push_back(cell), data.push_back(cell);
    windrow_decomposition* d = nullptr;
    ASSERT_WINDROW_OK(windrow_points(comm, k_cells, static_cast<int64_t>(list.size()), list.data(), nullptr, &d));
    const Decomposition cells(d);
    ASSERT_WINDROW_OK(windrow_create(comm, path("freed first").c_str(), nullptr, &file));
    MPI_Comm_free(&comm);
    EXPECT_WINDROW_OK(windrow_define_variable(file, "cells", WINDROW_INT64, 1, &k_cells, &variable));
    EXPECT_WINDROW_OK(windrow_write(file, variable, d, data.data()));
    EXPECT_WINDROW_OK(windrow_close(file));
  }
  EXPECT_LE(mappings(), before + 4);  // a segment each would be 16
}

TEST_P(Communicators, used_after_everything_on_them_is_gone) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  write_rows(comm, path("gone"), 1);
  write_rows(comm, path("gone"), 2);
  MPI_Comm_free(&comm);  // no object uses it any more
  expect_rows(MPI_COMM_WORLD, path("gone"), 2);
}

// The user's communicator may abort on errors; Windrow's must not, and its messages must not match the user's.
TEST_P(Communicators, messages_of_the_user_are_left_alone) {
  const int next = (rank_of() + 1) % size_of(), before = (rank_of() + size_of() - 1) % size_of();
  int out = rank_of(), in = -1;
  MPI_Request requests[2];
  MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
  const Options two_phase{{"strategy", "two-phase"}, {"buffer", "4096"}};
  write_rows(MPI_COMM_WORLD, path("messages"), 0, two_phase);
  MPI_Isend(&out, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  EXPECT_EQ(in, before);
}

// Two decompositions that are the first ones of two communicators with the same ranks must not be taken for each other.
TEST_P(Communicators, decompositions_of_another_communicator_with_the_same_ranks) {
  MPI_Comm mine = MPI_COMM_NULL, other = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &mine);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  const int64_t rank = rank_of(), size = size_of();
  const int64_t shape[1] = {k_rows}, count[1] = {10}, from_front[1] = {10 * rank},
                from_back[1] = {10 * (size - 1 - rank)};
  windrow_decomposition *front = nullptr, *back = nullptr;
  ASSERT_WINDROW_OK(windrow_block(mine, 1, shape, from_front, count, nullptr, nullptr, &front));
  ASSERT_WINDROW_OK(windrow_block(other, 1, shape, from_back, count, nullptr, nullptr, &back));
  windrow_file* file = nullptr;
  int variable = -1;
  const Options by_messages{{"strategy", "two-phase"}, {"shared_memory", "false"}};
  ASSERT_WINDROW_OK(windrow_create(mine, path("other").c_str(), by_messages, &file));
  ASSERT_WINDROW_OK(windrow_define_variable(file, "rows", WINDROW_INT64, 1, shape, &variable));
  int64_t step = 0;
  for (int i = 0; i < 2; ++i)
    for (const bool in_front : {true, false}) {
      const int64_t start = in_front ? from_front[0] : from_back[0];
      const auto data = rows_from(start, 10, ++step);
      EXPECT_WINDROW_OK(windrow_write(file, variable, in_front ? front : back, data.data()));
      std::vector<int64_t> read(10, -1);
      EXPECT_WINDROW_OK(windrow_read(file, variable, in_front ? back : front, read.data()));
      EXPECT_EQ(read, rows_from(in_front ? from_back[0] : from_front[0], 10, step));
    }
  EXPECT_WINDROW_OK(windrow_close(file));
  windrow_decomposition_free(front);
  windrow_decomposition_free(back);
  MPI_Comm_free(&mine);
  MPI_Comm_free(&other);
}

TEST_P(Communicators, decompositions_of_other_ranks_are_refused) {
  if (size_of() < 2)
    GTEST_SKIP() << "needs two ranks";
  windrow_file* file = nullptr;
  int variable = -1;
  const Rows alone(MPI_COMM_SELF);
  const auto data = rows_from(0, k_rows);
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path("refused").c_str(), nullptr, &file));
  ASSERT_WINDROW_OK(windrow_define_variable(file, "rows", WINDROW_INT64, 1, &k_rows, &variable));
  EXPECT_EQ(windrow_put(file, variable, alone.decomposition.get(), data.data()), WINDROW_BAD_ARGUMENT);
  EXPECT_NE(std::string(windrow_error_message()).find("made for 1 rank"), std::string::npos) << windrow_error_message();
  EXPECT_EQ(windrow_flush(file), WINDROW_BAD_ARGUMENT);
  EXPECT_WINDROW_OK(windrow_discard(file));
}

TEST_P(Communicators, decompositions_of_the_ranks_in_another_order_are_refused) {
  if (size_of() < 2)
    GTEST_SKIP() << "needs two ranks";
  windrow_file* file = nullptr;
  int variable = -1;
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_of(), &reversed);
  {
    const Rows rows(reversed);
    const auto data = rows_from(rows.first, rows.count);
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path("reversed").c_str(), nullptr, &file));
    ASSERT_WINDROW_OK(windrow_define_variable(file, "rows", WINDROW_INT64, 1, &k_rows, &variable));
    EXPECT_EQ(windrow_write(file, variable, rows.decomposition.get(), data.data()), WINDROW_BAD_ARGUMENT);
    const std::string expected =
        "in another order: rank 0 of the file is rank " + std::to_string(size_of() - 1) + " in it";
    EXPECT_NE(std::string(windrow_error_message()).find(expected), std::string::npos) << windrow_error_message();
    EXPECT_WINDROW_OK(windrow_discard(file));
  }
  MPI_Comm_free(&reversed);
}

TEST_P(Communicators, that_cannot_be) {
  windrow_file* file = nullptr;
  windrow_decomposition* d = nullptr;
  EXPECT_EQ(windrow_create(MPI_COMM_NULL, path("null").c_str(), nullptr, &file), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(file, nullptr);
  EXPECT_EQ(windrow_rows(MPI_COMM_NULL, 5, WINDROW_EVEN, &d), WINDROW_BAD_ARGUMENT);
  if (size_of() < 2)
    return;
  MPI_Comm half = MPI_COMM_NULL, inter = MPI_COMM_NULL;
  const int low = rank_of() < size_of() / 2 ? 1 : 0;
  MPI_Comm_split(MPI_COMM_WORLD, low, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low != 0 ? size_of() / 2 : 0, 3, &inter);
  EXPECT_EQ(windrow_create(inter, path("inter").c_str(), nullptr, &file), WINDROW_BAD_ARGUMENT);
  EXPECT_NE(std::string(windrow_error_message()).find("intracommunicator"), std::string::npos)
      << windrow_error_message();
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

INSTANTIATE_TEST_SUITE_P(Formats, Communicators, testing::Values(".raw", ".h5"),
                         [](const auto& format) { return format.param.substr(1); });

}  // namespace
