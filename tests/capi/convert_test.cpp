// SPDX-License-Identifier: BSD-3-Clause
// Memory of another type than the variable's.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <windrow/windrow.hpp>

#include "files.hpp"

namespace {

using namespace windrow_test;
using testing::ElementsAre;
using testing::HasSubstr;

class Convert : public Files {
 protected:
  void SetUp() override {
    Files::SetUp();
    if (IsSkipped())
      return;
    file_ = create(path());
    windrow_decomposition* made = nullptr;
    EXPECT_WINDROW_OK(windrow_rows(MPI_COMM_WORLD, size_of(), 1, &made));  // one row a rank
    rows_.reset(made);
  }
  void TearDown() override { EXPECT_WINDROW_OK(windrow_discard(file_)); }
  static int64_t clamped(windrow_file* file) {
    const char* text = nullptr;
    EXPECT_WINDROW_OK(windrow_report(file, "json", &text));
    return nlohmann::json::parse(text)["values_clamped"];
  }
  // Each rank puts `values` as its row into a variable of type To, and gets it back as To.
  template <class To, class From>
  std::vector<To> through(const std::vector<From>& values, int64_t out_of_range, const char* order = "native") {
    const int64_t shape[2] = {size_of(), static_cast<int64_t>(values.size())};
    const Options options{{"byte_order", order}};
    int variable = -1;
    const std::string name = "v" + std::to_string(number_++);
    EXPECT_WINDROW_OK(
        windrow_define_variable_with(file_, name.c_str(), windrow::type_of<To>(), 2, shape, options, &variable));
    std::vector<From> copy = values;
    EXPECT_WINDROW_OK(windrow_put_as(file_, variable, rows_.get(), windrow::type_of<From>(), copy.data()));
    EXPECT_WINDROW_OK(windrow_flush(file_));
    EXPECT_EQ(clamped(file_), out_of_range * size_of());
    std::vector<To> stored(values.size());
    EXPECT_WINDROW_OK(windrow_read(file_, variable, rows_.get(), stored.data()));
    EXPECT_EQ(clamped(file_), 0);
    // The other way: into the file as it is, out of it as To.
    EXPECT_WINDROW_OK(windrow_define_variable_with(file_, (name + " as it is").c_str(), windrow::type_of<From>(), 2,
                                                   shape, options, &variable));
    EXPECT_WINDROW_OK(windrow_put(file_, variable, rows_.get(), values.data()));
    std::vector<To> converted(values.size());
    EXPECT_WINDROW_OK(windrow_get_as(file_, variable, rows_.get(), windrow::type_of<To>(), converted.data()));
    EXPECT_WINDROW_OK(windrow_flush(file_));
    EXPECT_EQ(clamped(file_), out_of_range * size_of());
    EXPECT_EQ(std::memcmp(stored.data(), converted.data(), stored.size() * sizeof(To)), 0);
    return stored;
  }

  windrow_file* file_ = nullptr;
  Decomposition rows_;
  int number_ = 0;
};

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN(), k_infinity = std::numeric_limits<double>::infinity();

TEST_P(Convert, floats_to_integers) {
  EXPECT_THAT((through<int8_t, double>({1.9, -1.9, 127.5, 128, -128.9, -129, k_nan, k_infinity, -k_infinity}, 5)),
              ElementsAre(1, -1, 127, 127, -128, -128, 0, 127, -128));
  EXPECT_THAT((through<uint8_t, float>({-0.5F, -1, 255.9F, 256}, 2)), ElementsAre(0, 0, 255, 255));
  EXPECT_THAT((through<int64_t, double>({9223372036854774784.0, 9223372036854775808.0, -9223372036854775808.0, -1e19},
                                        2, "big")),
              ElementsAre(9223372036854774784, INT64_MAX, INT64_MIN, INT64_MIN));
  EXPECT_THAT((through<uint64_t, float>({18446742974197923840.0F, 18446744073709551616.0F, -1}, 2)),
              ElementsAre(18446742974197923840U, UINT64_MAX, 0U));
}

TEST_P(Convert, integers_to_integers) {
  EXPECT_THAT((through<uint8_t, int32_t>({0, 255, 256, -1}, 2)), ElementsAre(0, 255, 255, 0));
  EXPECT_THAT((through<int64_t, uint64_t>({5, UINT64_MAX}, 1)), ElementsAre(5, INT64_MAX));
  EXPECT_THAT((through<int16_t, int8_t>({-128, 127}, 0, "big")), ElementsAre(-128, 127));
  EXPECT_THAT((through<uint64_t, int8_t>({-1, 1}, 1)), ElementsAre(0U, 1U));
}

TEST_P(Convert, to_floats_booleans_and_complex_numbers) {
  const auto narrow = through<float, double>({0.1, 1e300, -1e300, k_infinity, k_nan}, 2, "big");
  EXPECT_EQ(narrow[0], 0.1F);
  EXPECT_EQ(narrow[1], std::numeric_limits<float>::max());
  EXPECT_EQ(narrow[2], -std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isinf(narrow[3]) && std::isnan(narrow[4]));
  EXPECT_THAT((through<double, int64_t>({INT64_MIN, 3}, 0)), ElementsAre(-9223372036854775808.0, 3));
  EXPECT_THAT((through<std::complex<float>, int16_t>({-3, 4}, 0)),
              ElementsAre(std::complex<float>(-3), std::complex<float>(4)));
  EXPECT_THAT((through<std::complex<float>, std::complex<double>>({{1e300, 2}, {1, -2}}, 1)),
              ElementsAre(std::complex<float>(std::numeric_limits<float>::max(), 2), std::complex<float>(1, -2)));
  int variable = -1;
  const int64_t shape[2] = {size_of(), 3};
  EXPECT_WINDROW_OK(windrow_define_variable(file_, "flags", WINDROW_BOOL, 2, shape, &variable));
  const double numbers[3] = {0, 0.25, k_nan};
  unsigned char flags[3] = {7, 7, 7};
  int32_t whole[3] = {};
  EXPECT_WINDROW_OK(windrow_put_as(file_, variable, rows_.get(), WINDROW_FLOAT64, numbers));
  EXPECT_WINDROW_OK(windrow_get(file_, variable, rows_.get(), flags));
  EXPECT_WINDROW_OK(windrow_get_as(file_, variable, rows_.get(), WINDROW_INT32, whole));
  EXPECT_WINDROW_OK(windrow_flush(file_));
  EXPECT_THAT(flags, ElementsAre(0, 1, 1));
  EXPECT_THAT(whole, ElementsAre(0, 1, 1));
}

TEST_P(Convert, floats_of_16_bits) {
  const int64_t shape[2] = {size_of(), 6};
  int variable = -1;
  EXPECT_WINDROW_OK(windrow_define_variable(file_, "halves", WINDROW_FLOAT16, 2, shape, &variable));
  const double values[6] = {0.1, 65504.5, -1e300, -k_infinity, k_nan, 3e-8};
  EXPECT_WINDROW_OK(windrow_put_as(file_, variable, rows_.get(), WINDROW_FLOAT64, values));
  EXPECT_WINDROW_OK(windrow_flush(file_));
  EXPECT_EQ(clamped(file_), 2 * size_of());
  uint16_t halves[6] = {};
  float floats[6] = {};
  int8_t whole[6] = {};
  std::complex<float> complex[6] = {};
  EXPECT_WINDROW_OK(windrow_get(file_, variable, rows_.get(), halves));
  EXPECT_WINDROW_OK(windrow_get_as(file_, variable, rows_.get(), WINDROW_FLOAT32, floats));
  EXPECT_WINDROW_OK(windrow_get_as(file_, variable, rows_.get(), WINDROW_INT8, whole));
  EXPECT_WINDROW_OK(windrow_get_as(file_, variable, rows_.get(), WINDROW_COMPLEX64, complex));
  EXPECT_WINDROW_OK(windrow_flush(file_));
  EXPECT_EQ(clamped(file_), 4 * size_of());  // whole numbers of all but the first and the last
  EXPECT_THAT(halves, ElementsAre(0x2e66, 0x7bff, 0xfbff, 0xfc00, 0x7e00, 0x0001));
  EXPECT_TRUE(std::isnan(floats[4]));
  floats[4] = 0;
  EXPECT_THAT(floats, ElementsAre(0.0999755859375F, 65504, -65504, -HUGE_VALF, 0, 0x1p-24F));
  EXPECT_THAT(whole, ElementsAre(0, 127, -128, -128, 0, 0));
  EXPECT_EQ(complex[0], std::complex<float>(0.0999755859375F, 0));
  const int32_t integers[6] = {-65505, 65504, 2049, -2, 1, 0};
  EXPECT_WINDROW_OK(windrow_put_as(file_, variable, rows_.get(), WINDROW_INT32, integers));
  EXPECT_WINDROW_OK(windrow_get_as(file_, variable, rows_.get(), WINDROW_FLOAT32, floats));
  EXPECT_WINDROW_OK(windrow_flush(file_));
  EXPECT_THAT(floats, ElementsAre(-65504, 65504, 2048, -2, 1, 0));
  EXPECT_EQ(clamped(file_), size_of());
}

TEST_P(Convert, records) {
  const int64_t shape[3] = {2, size_of(), 3};
  int variable = -1;
  EXPECT_WINDROW_OK(windrow_define_variable(file_, "steps", WINDROW_INT16, 3, shape, &variable));
  for (int64_t step = 0; step < 2; ++step) {
    const double values[3] = {static_cast<double>(step) + 0.5, 1e9, static_cast<double>(rank_of())};
    EXPECT_WINDROW_OK(windrow_put_record_as(file_, variable, step, rows_.get(), WINDROW_FLOAT64, values));
    EXPECT_WINDROW_OK(windrow_flush(file_));
    EXPECT_EQ(clamped(file_), size_of());
  }
  for (int64_t step = 0; step < 2; ++step) {
    float read[3] = {};
    EXPECT_WINDROW_OK(windrow_get_record_as(file_, variable, step, rows_.get(), WINDROW_FLOAT32, read));
    EXPECT_WINDROW_OK(windrow_flush(file_));
    EXPECT_THAT(read, ElementsAre(static_cast<float>(step), 32767, static_cast<float>(rank_of())));
  }
  const double value = 1;
  EXPECT_EQ(windrow_put_record_as(file_, variable, 2, rows_.get(), WINDROW_FLOAT64, &value), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(windrow_flush(file_), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(windrow_get_record_as(file_, variable, 0, rows_.get(), WINDROW_TEXT, nullptr), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(windrow_flush(file_), WINDROW_BAD_ARGUMENT);
}

TEST_P(Convert, chunked_variables) {
  if (GetParam() != ".h5")
    GTEST_SKIP();
  const int64_t shape[2] = {size_of(), 3};
  const Options options{{"chunks", "2x2"}, {"filters", "shuffle,deflate:1"}, {"byte_order", "big"}};
  int variable = -1;
  EXPECT_WINDROW_OK(windrow_define_variable_with(file_, "chunked", WINDROW_INT16, 2, shape, options, &variable));
  const double values[3] = {1.5, 1e9, static_cast<double>(rank_of())};
  EXPECT_WINDROW_OK(windrow_put_as(file_, variable, rows_.get(), WINDROW_FLOAT64, values));
  EXPECT_WINDROW_OK(windrow_flush(file_));
  EXPECT_EQ(clamped(file_), size_of());
  float read[3] = {};
  EXPECT_WINDROW_OK(windrow_get_as(file_, variable, rows_.get(), WINDROW_FLOAT32, read));
  EXPECT_WINDROW_OK(windrow_flush(file_));
  EXPECT_THAT(read, ElementsAre(1, 32767, static_cast<float>(rank_of())));
}

// Ghost cells are neither converted nor counted nor written over; a part that every rank holds is counted once.
TEST_P(Convert, only_what_moves) {
  const int64_t shape[1] = {2 * size_of()}, start[1] = {2 * rank_of()}, count[1] = {2}, box[1] = {5}, inside[1] = {1};
  int variable = -1, shared = -1;
  EXPECT_WINDROW_OK(windrow_define_variable(file_, "v", WINDROW_INT8, 1, shape, &variable));
  windrow_decomposition *made = nullptr, *same = nullptr;
  EXPECT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 1, shape, start, count, box, inside, &made));
  EXPECT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &same));
  const Decomposition ghosts(made), all(same);
  double values[5] = {k_nan, 3, 500, k_nan, k_nan};
  EXPECT_WINDROW_OK(windrow_put_as(file_, variable, ghosts.get(), WINDROW_FLOAT64, values));
  const int64_t one[1] = {1};
  EXPECT_WINDROW_OK(windrow_define_variable(file_, "shared", WINDROW_INT8, 1, one, &shared));
  const float large = 1000;
  EXPECT_WINDROW_OK(windrow_put_as(file_, shared, all.get(), WINDROW_FLOAT32, &large));
  EXPECT_WINDROW_OK(windrow_flush_begin(file_));
  float read[5] = {-1, -1, -1, -1, -1};
  EXPECT_WINDROW_OK(windrow_flush_end(file_));
  EXPECT_EQ(clamped(file_), size_of() + 1);
  EXPECT_WINDROW_OK(windrow_get_as(file_, variable, ghosts.get(), WINDROW_FLOAT32, read));
  EXPECT_WINDROW_OK(windrow_flush_begin(file_));
  EXPECT_WINDROW_OK(windrow_flush_end(file_));
  EXPECT_THAT(read, ElementsAre(-1, 3, 127, -1, -1));
}

// Points that a rank holds twice are read into both places.
TEST_P(Convert, points_held_twice) {
  const int64_t points = size_of() + 1, shape[2] = {points, 2};
  int variable = -1;
  EXPECT_WINDROW_OK(windrow_define_variable(file_, "v", WINDROW_INT16, 2, shape, &variable));
  const int64_t list[3] = {rank_of() + 1, 0, rank_of() + 1};
  windrow_decomposition* made = nullptr;
  EXPECT_WINDROW_OK(windrow_points(MPI_COMM_WORLD, points, 3, list, nullptr, &made));
  const Decomposition mine(made);
  std::vector<double> values;
  for (const int64_t point : list)
    values.insert(values.end(), {10.0 * static_cast<double>(point), 0.5});
  EXPECT_WINDROW_OK(windrow_put_as(file_, variable, mine.get(), WINDROW_FLOAT64, values.data()));
  std::vector<float> read(6, -1);
  EXPECT_WINDROW_OK(windrow_get_as(file_, variable, mine.get(), WINDROW_FLOAT32, read.data()));
  EXPECT_WINDROW_OK(windrow_flush(file_));
  const auto last = static_cast<float>(10 * list[0]);
  EXPECT_THAT(read, ElementsAre(last, 0, 0, 0, last, 0));
}

// Filled up with blanks in memory and with NULs in the file, as a Fortran program has it; a rank's points may be there
// twice.
TEST_P(Convert, text_has_blanks_in_memory) {
  EXPECT_WINDROW_OK(windrow_discard(file_));
  const Options blanks{{"text_in_memory", "blanks"}};
  EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path("blanks").c_str(), blanks, &file_));
  const int64_t points = size_of() + 1, list[3] = {rank_of() + 1, 0, rank_of() + 1};
  windrow_decomposition *made = nullptr, *same = nullptr;
  EXPECT_WINDROW_OK(windrow_points(MPI_COMM_WORLD, points, 3, list, nullptr, &made));
  EXPECT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &same));
  const Decomposition mine(made), all(same);
  const auto text = [](int64_t point, char filler) {  // of 0 to 4 characters
    std::string letters(static_cast<size_t>(point % 5), static_cast<char>('a' + point % 26));
    return letters + std::string(4 - letters.size(), filler);
  };
  std::vector<std::pair<KeyValues, char>> kinds{{{{"text_padding", "null_padded"}}, '\0'},
                                                {{{"text_padding", "null_terminated"}}, '\0'},
                                                {{{"text_padding", "space_padded"}}, ' '}};
  if (GetParam() == ".h5")
    kinds.push_back({{{"text_padding", "null_padded"}, {"chunks", "2"}, {"filters", "deflate"}}, '\0'});
  const std::string put = text(list[0], ' ') + text(0, ' ') + text(list[0], ' ');
  for (size_t i = 0; i < kinds.size(); ++i) {
    KeyValues values = kinds[i].first;
    values.push_back({"element_bytes", "4"});
    const Options options(values);
    int variable = -1;
    const std::string name = "v" + std::to_string(i);
    EXPECT_WINDROW_OK(windrow_define_variable_with(file_, name.c_str(), WINDROW_TEXT, 1, &points, options, &variable));
    std::string read(12, '*');
    EXPECT_WINDROW_OK(windrow_put(file_, variable, mine.get(), put.data()));
    EXPECT_WINDROW_OK(windrow_get(file_, variable, mine.get(), read.data()));
    EXPECT_WINDROW_OK(windrow_flush_begin(file_));
    EXPECT_WINDROW_OK(windrow_flush_end(file_));
    EXPECT_EQ(read, put) << name;
  }
  EXPECT_WINDROW_OK(windrow_close(file_));
  file_ = open(path("blanks"), WINDROW_UPDATE);
  for (size_t i = 0; i < kinds.size(); ++i) {
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_find_variable(file_, ("v" + std::to_string(i)).c_str(), &variable));
    std::string read(static_cast<size_t>(4 * points), '*'), expected;
    for (int64_t point = 0; point < points; ++point)
      expected += text(point, kinds[i].second);
    EXPECT_WINDROW_OK(windrow_read(file_, variable, all.get(), read.data()));
    EXPECT_EQ(read, expected) << "as it is stored: " << i;
    if (i == 0) {
      std::memcpy(read.data(), "a\0b", 4);  // bytes after the first NUL are not part of the text
      EXPECT_WINDROW_OK(windrow_write(file_, variable, all.get(), read.data()));
    }
  }
  EXPECT_WINDROW_OK(windrow_close(file_));
  EXPECT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path("blanks").c_str(), WINDROW_READ, blanks, &file_));
  std::string read(static_cast<size_t>(4 * points), '*');
  EXPECT_WINDROW_OK(windrow_read(file_, 0, all.get(), read.data()));
  EXPECT_EQ(read.substr(0, 8), "a   " + text(1, ' '));
}

// Elements as the file has them: handed on without being turned round, in either order, in one flush with others that
// are.
TEST_P(Convert, elements_in_the_order_of_the_file) {
  const int64_t shape[2] = {size_of(), 5};
  for (const char* order : {"big", "little"}) {
    const Options options{{"byte_order", order}};
    const bool other = (std::string(order) == "big") == (std::endian::native == std::endian::little);
    int one = -1, two = -1, chunked = -1;
    EXPECT_WINDROW_OK(windrow_define_variable_with(file_, (std::string("one ") + order).c_str(), WINDROW_INT32, 2,
                                                   shape, options, &one));
    EXPECT_WINDROW_OK(windrow_define_variable_with(file_, (std::string("two ") + order).c_str(), WINDROW_INT32, 2,
                                                   shape, options, &two));
    std::vector<int32_t> values(5), turned(5), got(5, -1), again(5, -1);
    for (int i = 0; i < 5; ++i) {
      values[static_cast<size_t>(i)] = 0x01020304 + 1000 * rank_of() + i;
      const auto bits = static_cast<uint32_t>(values[static_cast<size_t>(i)]);
      turned[static_cast<size_t>(i)] = static_cast<int32_t>(other ? __builtin_bswap32(bits) : bits);
    }
    for (int turn = 0; turn < 3; ++turn) {  // by a plan that is kept, too, and by turns
      EXPECT_WINDROW_OK(windrow_put(file_, one, rows_.get(), values.data()));
      EXPECT_WINDROW_OK(windrow_put_as(file_, two, rows_.get(), WINDROW_STORED, turned.data()));
      EXPECT_WINDROW_OK(windrow_flush(file_));
      EXPECT_WINDROW_OK(turn == 1 ? windrow_get(file_, one, rows_.get(), got.data())
                                  : windrow_get_as(file_, one, rows_.get(), WINDROW_STORED, got.data()));
      EXPECT_WINDROW_OK(windrow_get(file_, two, rows_.get(), again.data()));
      EXPECT_WINDROW_OK(windrow_flush(file_));
      EXPECT_EQ(got, turn == 1 ? values : turned);
      EXPECT_EQ(again, values);
    }
    if (GetParam() != ".h5")
      continue;
    const Options chunks{{"byte_order", order}, {"chunks", "1x2"}};
    EXPECT_WINDROW_OK(windrow_define_variable_with(file_, (std::string("chunked ") + order).c_str(), WINDROW_INT32, 2,
                                                   shape, chunks, &chunked));
    EXPECT_WINDROW_OK(windrow_put_as(file_, chunked, rows_.get(), WINDROW_STORED, turned.data()));
    EXPECT_WINDROW_OK(windrow_flush(file_));
    EXPECT_WINDROW_OK(windrow_read(file_, chunked, rows_.get(), got.data()));
    EXPECT_EQ(got, values);
  }
}

TEST_P(Convert, refuses_what_cannot_be_and_what_shall_not) {
  const int64_t shape[2] = {size_of(), 1};
  int number = -1, complex = -1, text = -1;
  const Options five{{"element_bytes", "5"}};
  EXPECT_WINDROW_OK(windrow_define_variable(file_, "number", WINDROW_INT8, 2, shape, &number));
  EXPECT_WINDROW_OK(windrow_define_variable(file_, "complex", WINDROW_COMPLEX64, 2, shape, &complex));
  EXPECT_WINDROW_OK(windrow_define_variable_with(file_, "text", WINDROW_TEXT, 2, shape, five, &text));
  const auto refused = [&](int variable, int type, bool put, const char* why) {
    double data[4] = {};
    const bool mine = rank_of() == size_of() - 1;  // wrong on one rank: an error on all ranks
    if (mine) {
      const int code = put ? windrow_put_as(file_, variable, rows_.get(), type, data)
                           : windrow_get_as(file_, variable, rows_.get(), type, data);
      EXPECT_EQ(code, WINDROW_BAD_ARGUMENT);
      EXPECT_THAT(windrow_error_message(), HasSubstr(why));
    }
    const int code = windrow_flush(file_);
    EXPECT_EQ(code, WINDROW_BAD_ARGUMENT);
    expect_same_everywhere(code);
  };
  refused(complex, WINDROW_FLOAT32, false, "complex64 cannot become float32");
  refused(number, WINDROW_COMPLEX64, true, "complex64 cannot become int8");
  refused(text, WINDROW_INT8, true, "int8 cannot become text");
  refused(number, WINDROW_TEXT, false, "int8 cannot become text");
  refused(number, 99, true, "cannot become int8");
  EXPECT_WINDROW_OK(windrow_put_as(file_, text, rows_.get(), WINDROW_TEXT, "abcde"));  // its own type
  EXPECT_WINDROW_OK(windrow_flush(file_));
  EXPECT_WINDROW_OK(windrow_close(file_));
  const Options strict{{"conversion", "error"}};
  EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path("strict").c_str(), strict, &file_));
  EXPECT_WINDROW_OK(windrow_define_variable(file_, "number", WINDROW_INT8, 2, shape, &number));
  refused(number, WINDROW_TEXT, true, "text cannot become int8");
  const int32_t large = rank_of() == 0 ? 300 : 3;
  EXPECT_EQ(windrow_put_as(file_, number, rows_.get(), WINDROW_INT32, &large),
            rank_of() == 0 ? WINDROW_BAD_ARGUMENT : WINDROW_OK);
  EXPECT_EQ(windrow_flush(file_), WINDROW_BAD_ARGUMENT);
  expect_same_everywhere(WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("put of \"/number\": 1 value of type int32 does not fit into int8"));
  const int8_t negative = -1;
  EXPECT_WINDROW_OK(windrow_write(file_, number, rows_.get(), &negative));
  uint8_t read = 9;
  EXPECT_WINDROW_OK(windrow_get_as(file_, number, rows_.get(), WINDROW_UINT8, &read));
  EXPECT_EQ(windrow_flush(file_), WINDROW_BAD_ARGUMENT);
  expect_same_everywhere(WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("get of \"/number\": 1 value of type int8 does not fit into uint8"));
  EXPECT_EQ(read, 0);
  EXPECT_WINDROW_OK(windrow_close(file_));
  file_ = nullptr;
}

INSTANTIATE_TEST_SUITE_P(Formats, Convert, testing::Values(".raw", ".h5"),
                         [](const auto& format) { return format.param.substr(1); });

}  // namespace
