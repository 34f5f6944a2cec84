// SPDX-License-Identifier: BSD-3-Clause
// Arrays with any strides in memory: in Fortran order, reversed, with gaps.
#include <gmock/gmock.h>

#include "files.hpp"

namespace {

using namespace windrow_test;
using testing::HasSubstr;

constexpr int64_t k_rows = 5, k_columns = 7;  // of a rank; the last one has none

class Strides : public Files {
 protected:
  static int64_t rows() { return rank_of() == size_of() - 1 && size_of() > 1 ? 0 : k_rows; }
  static double value(int64_t row, int64_t column) {
    return 100.0 * static_cast<double>(row) + static_cast<double>(column);
  }

  // This rank's rows, with the strides of a row and of a column.
  static Decomposition make(int64_t offset, int64_t row, int64_t column) {
    const int64_t shape[2] = {k_rows * size_of(), k_columns}, start[2] = {k_rows * rank_of(), 0},
                  count[2] = {rows(), k_columns};
    const int64_t strides[2] = {row, column};
    windrow_decomposition* made = nullptr;
    EXPECT_WINDROW_OK(windrow_strided_blocks(MPI_COMM_WORLD, 2, shape, 1, start, count, &offset, strides, &made));
    return Decomposition(made);
  }
  int define(windrow_file* file, const char* name, int type, const KeyValues& values) const {
    const int64_t shape[2] = {k_rows * size_of(), k_columns};
    const Options options(values);
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable_with(file, name, type, 2, shape, options, &variable));
    return variable;
  }
};

struct Layout {
  const char* name;
  int64_t offset, row, column;
};

constexpr int64_t k_room = 200;
const Layout k_layouts[] = {{"c", 0, k_columns, 1},
                            {"fortran", 0, 1, k_rows},
                            {"fortran with ghosts", 3, 1, k_rows + 4},
                            {"steps", 1, 3 * k_columns, 3},
                            {"backwards", k_rows* k_columns - 1, -k_columns, -1},
                            {"transposed and upside down", k_rows - 1, -1, k_rows},
                            {"columns backwards", 6 * 20, 1, -20}};

TEST_P(Strides, are_written_and_read) {
  const bool chunked = GetParam() == ".h5";
  windrow_file* file = create(path());
  for (const Layout& layout : k_layouts)
    for (const KeyValues& options :
         std::vector<KeyValues>{{{"byte_order", "big"}}, {}, {{"chunks", "3x4"}, {"filters", "shuffle,deflate:1"}}}) {
      if (!options.empty() && options.front().first == "chunks" && !chunked)
        continue;
      const std::string name = std::string(layout.name) + (options.empty() ? "" : options.front().second);
      const int variable = define(file, name.c_str(), WINDROW_FLOAT64, options);
      const Decomposition strided = make(layout.offset, layout.row, layout.column), plain = make(0, k_columns, 1);
      const auto place = [&](int64_t row, int64_t column) {
        return static_cast<size_t>(layout.offset + row * layout.row + column * layout.column);
      };
      std::vector<double> data(k_room, -1), read(k_room, -2), expected(k_room, -2), in_order(k_rows * k_columns);
      std::vector<float> converted(k_room, -3);
      for (int64_t row = 0; row < rows(); ++row)
        for (int64_t column = 0; column < k_columns; ++column)
          expected[place(row, column)] = data[place(row, column)] = value(k_rows * rank_of() + row, column);
      EXPECT_WINDROW_OK(windrow_put(file, variable, strided.get(), data.data()));
      EXPECT_WINDROW_OK(windrow_get(file, variable, strided.get(), read.data()));
      EXPECT_WINDROW_OK(windrow_get(file, variable, plain.get(), in_order.data()));
      EXPECT_WINDROW_OK(windrow_get_as(file, variable, strided.get(), WINDROW_FLOAT32, converted.data()));
      EXPECT_WINDROW_OK(windrow_flush(file));
      EXPECT_EQ(read, expected) << name << ": what lies between stays as it is";
      for (int64_t row = 0; row < rows(); ++row)
        for (int64_t column = 0; column < k_columns; ++column) {
          EXPECT_EQ(in_order[static_cast<size_t>(row * k_columns + column)], value(k_rows * rank_of() + row, column))
              << name;
          EXPECT_EQ(converted[place(row, column)], static_cast<float>(value(k_rows * rank_of() + row, column))) << name;
        }
    }
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_P(Strides, of_each_strategy_are_the_same_bytes) {
  for (const char* strategy : {"two-phase", "list", "tpc", "scorpio"}) {
    const Options options{{"strategy", strategy}, {"buffer", "4k"}};
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path(strategy).c_str(), options, &file));
    const int variable = define(file, "v", WINDROW_INT16, {});
    const Decomposition strided = make(2, 1, k_rows + 1), plain = make(0, k_columns, 1);
    std::vector<int16_t> data(k_room), read(k_rows * k_columns);
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<int16_t>(i);
    EXPECT_WINDROW_OK(windrow_put(file, variable, strided.get(), data.data()));
    EXPECT_WINDROW_OK(windrow_flush_begin(file));
    EXPECT_WINDROW_OK(windrow_flush_end(file));
    EXPECT_WINDROW_OK(windrow_read(file, variable, plain.get(), read.data()));
    for (int64_t row = 0; row < rows(); ++row)
      for (int64_t column = 0; column < k_columns; ++column)
        EXPECT_EQ(read[static_cast<size_t>(row * k_columns + column)], 2 + row + column * (k_rows + 1)) << strategy;
    EXPECT_WINDROW_OK(windrow_close(file));
  }
}

TEST_P(Strides, that_cannot_be_are_refused_on_every_rank) {
  const int64_t shape[2] = {size_of(), 3}, start[2] = {rank_of(), 0}, count[2] = {1, 3}, good[2] = {1, 1},
                bad[2] = {1, 0}, none[1] = {0};
  windrow_decomposition* made = nullptr;
  const int64_t* strides = rank_of() == size_of() - 1 ? bad : good;
  EXPECT_EQ(windrow_strided_blocks(MPI_COMM_WORLD, 2, shape, 1, start, count, none, strides, &made),
            WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("block 0 has stride 0 along dimension 1, which has 3 elements"));
  EXPECT_EQ(windrow_error_rank(), size_of() - 1);
  EXPECT_EQ(
      windrow_strided_blocks(MPI_COMM_WORLD, 2, shape, 1, start, count, rank_of() == 0 ? nullptr : none, good, &made),
      WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(windrow_error_rank(), 0);
  EXPECT_EQ(made, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Formats, Strides, testing::Values(".raw", ".h5"),
                         [](const auto& format) { return format.param.substr(1); });

}  // namespace
