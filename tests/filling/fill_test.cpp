// SPDX-License-Identifier: BSD-3-Clause
// Reads of elements that were never written: fill values of all types, with any way of writing the rest; small and
// unwritten variables of other programs.
#include <gmock/gmock.h>

#include <array>
#include <complex>
#include <nlohmann/json.hpp>

#include "../capi/files.hpp"
#include "../format/foreign.hpp"

namespace {

using namespace windrow_test;
using nlohmann::json;
using testing::HasSubstr;

constexpr double k_fill = -999.5;

// A new file, and a dataset in it whose elements are stored in its header.
const std::string k_compact = R"(
f = h5py.File(path, "w")
def compact(name, data):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.COMPACT)
    dataset = h5py.h5d.create(f.id, name, h5py.h5t.py_create(data.dtype),
        h5py.h5s.create_simple(data.shape) if data.shape else h5py.h5s.create(h5py.h5s.SCALAR), plist)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, data)
)";

class Fill : public Files {
 protected:
  static int define(windrow_file* file, const char* name, int type, std::vector<int64_t> shape,
                    const KeyValues& values) {
    const Options options(values);
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable_with(file, name, type, static_cast<int>(shape.size()), shape.data(),
                                                   options, &variable));
    return variable;
  }
  windrow_file* create_with(const std::string& at, const KeyValues& values) const {
    const Options options(values);
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, at.c_str(), options, &file));
    return file;
  }
  template <class T>
  static std::vector<T> read_all(windrow_file* file, const char* name, size_t elements) {
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_find_variable(file, name, &variable));
    windrow_decomposition* made = nullptr;
    EXPECT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &made));
    const Decomposition all(made);
    std::vector<T> read(elements, T{});
    EXPECT_WINDROW_OK(windrow_read(file, variable, all.get(), read.data()));
    return read;
  }
  static json report_of(windrow_file* file) {
    const char* text = nullptr;
    EXPECT_WINDROW_OK(windrow_report(file, "json", &text));
    return json::parse(text);
  }
  static windrow_variable_info describe(windrow_file* file, const char* name) {
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_find_variable(file, name, &variable));
    windrow_variable_info info{};
    info.size = sizeof info;
    EXPECT_WINDROW_OK(windrow_inquire_variable(file, variable, &info));
    return info;
  }
  void h5py(const std::string& script) const {
    int exit_code = 0;
    if (rank_of() == 0) {
      const windrow::test::Output output = windrow::test::run_h5py(script, path());
      exit_code = output.exit_code;
      EXPECT_EQ(exit_code, 0) << output.text;
    }
    MPI_Bcast(&exit_code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    EXPECT_EQ(exit_code, 0);
  }
};

// 41 of 100 elements at irregular distances, with a long range in the middle without any.
bool is_written(int64_t element, int64_t elements) {
  if (element > elements / 3 && element < elements / 2)
    return false;
  return (element * 7919 + element / 13) % 1000 < 492;
}

std::vector<int64_t> my_points(int64_t elements) {
  std::vector<int64_t> points;
  for (int64_t i = 0; i < elements; ++i)
    if (is_written(i, elements) && (i * 31 / 7) % size_of() == rank_of())
      points.push_back(i);
  return points;
}

const std::vector<KeyValues>& strategies() {
  static const std::vector<KeyValues> list{
      {},
      {{"strategy", "two-phase"}, {"buffer", "8192"}, {"align", "4096"}},
      {{"strategy", "two-phase"}, {"buffer", "8192"}, {"align", "4096"}, {"io_thread", "on"}},
      {{"strategy", "scorpio"}, {"gather", "team(2)"}, {"buffer", "8192"}},
      {{"strategy", "list"}},
      {{"domains", "none"}, {"access", "sieve"}},
      {{"strategy", "two-phase"}, {"shared_memory", "false"}},
      {{"gather", "host"}, {"domains", "even"}},
      {{"gather", "team(2)"}, {"domains", "even"}, {"writers", "2"}},
  };
  return list;
}

TEST_P(Fill, completes_a_pattern_that_covers_41_percent) {
  constexpr int64_t k_elements = 30000;
  int64_t written = 0;
  for (int64_t i = 0; i < k_elements; ++i)
    written += is_written(i, k_elements) ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(written) / k_elements, 0.41, 0.005);
  const std::vector<int64_t> points = my_points(k_elements);
  windrow_decomposition* made = nullptr;
  ASSERT_WINDROW_OK(
      windrow_points(MPI_COMM_WORLD, k_elements, static_cast<int64_t>(points.size()), points.data(), nullptr, &made));
  const Decomposition some(made);
  for (const KeyValues& strategy : strategies()) {
    SCOPED_TRACE(strategy.empty() ? "auto" : strategy.front().second + " " + strategy.back().second);
    windrow_file* file = create_with(path(), strategy);
    const std::vector<int64_t> shape{k_elements}, vectors{k_elements, 3};
    const int plain = define(file, "plain", WINDROW_FLOAT64, shape, {});
    const int filled = define(file, "filled", WINDROW_FLOAT64, shape, {{"fill_value", "-999.5"}});
    const int big = define(file, "big", WINDROW_INT16, vectors, {{"fill_value", "-2"}, {"byte_order", "big"}});
    std::vector<double> data;
    std::vector<int16_t> three;
    for (const int64_t point : points) {
      data.push_back(static_cast<double>(point));
      for (int i = 0; i < 3; ++i)
        three.push_back(static_cast<int16_t>(point % 1000 + i));
    }
    EXPECT_WINDROW_OK(windrow_put(file, plain, some.get(), data.data()));
    EXPECT_WINDROW_OK(windrow_put(file, filled, some.get(), data.data()));
    EXPECT_WINDROW_OK(windrow_put(file, big, some.get(), three.data()));
    const char* text = nullptr;
    EXPECT_WINDROW_OK(windrow_explain(file, "json", &text));
    const json predicted = json::parse(text);
    EXPECT_WINDROW_OK(windrow_flush(file));
    const json report = report_of(file), expected = report["plans"][0]["expected"];
    EXPECT_EQ(report["write_requests"], expected["write_requests"]);
    EXPECT_EQ(predicted[0]["expected"]["write_requests"], expected["write_requests"]);
    const int64_t of_filled = k_elements * 8 + k_elements * 6;
    if (report["plans"][0]["writers"].empty()) {
      EXPECT_GE(report["bytes_written"], of_filled + written * (8 + 8 + 6));
    } else {
      EXPECT_EQ(report["bytes_written"], of_filled + written * 8) << "each byte once";
    }
    EXPECT_WINDROW_OK(windrow_put(file, big, some.get(), three.data()));  // there is nothing to fill any more
    EXPECT_WINDROW_OK(windrow_flush(file));
    EXPECT_EQ(report_of(file)["write_requests"], report_of(file)["plans"][0]["expected"]["write_requests"]);
    EXPECT_WINDROW_OK(windrow_close(file));
    file = open(path());
    const auto plain_read = read_all<double>(file, "plain", k_elements),
               read = read_all<double>(file, "filled", k_elements);
    const auto big_read = read_all<int16_t>(file, "big", 3 * k_elements);
    int wrong = 0;
    for (int64_t i = 0; i < k_elements; ++i) {
      const bool is = is_written(i, k_elements);
      const auto at = static_cast<size_t>(i);
      wrong += plain_read[at] != (is ? static_cast<double>(i) : 0.0);
      wrong += read[at] != (is ? static_cast<double>(i) : k_fill);
      for (size_t j = 0; j < 3; ++j)
        wrong += big_read[3 * at + j] != (is ? i % 1000 + static_cast<int64_t>(j) : -2);
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_STREQ(describe(file, "filled").fill_value, "-999.5");
    EXPECT_STREQ(describe(file, "plain").fill_value, "");
    EXPECT_EQ(describe(file, "big").has_fill_value, 1);
    EXPECT_WINDROW_OK(windrow_close(file));
    if (failed_anywhere())
      return;
  }
}

// Elements that were never written are known to be zeros, so data sieving does not read them. Elements that were
// written before, and bytes between variables, are read.
TEST_P(Fill, with_zeros_needs_no_reading) {
  constexpr int64_t k_rows = 4000, k_row = 24;  // each rank has a piece of each row, and none has the last third
  const int64_t piece = 16 / size_of(), start[2] = {0, rank_of() * piece}, count[2] = {k_rows, piece},
                shape[2] = {k_rows, k_row};
  const auto value_of = [](int64_t element, int64_t step) {
    return static_cast<int32_t>(element + step * 1000003 + 1);
  };
  std::vector<int32_t> data;
  const auto make = [&](int64_t step) {
    data.clear();
    for (int64_t row = 0; row < k_rows; ++row)
      for (int64_t i = 0; i < piece; ++i)
        data.push_back(value_of(row * k_row + start[1] + i, step));
  };
  const auto expect = [&](windrow_file* file, const char* name, int64_t step, int64_t rest) {
    const auto read = read_all<int32_t>(file, name, static_cast<size_t>(k_rows * k_row));
    int64_t wrong = 0;
    for (int64_t i = 0; i < k_rows * k_row; ++i) {
      const bool held = i % k_row < piece * size_of();
      wrong += read[static_cast<size_t>(i)] != (held        ? value_of(i, step)
                                                : rest == 0 ? 0
                                                            : static_cast<int32_t>(i + rest))
                   ? 1
                   : 0;
    }
    EXPECT_EQ(wrong, 0) << name;
  };
  const int64_t third_start[2] = {0, 16}, third_count[2] = {rank_of() == 0 ? k_rows : 0, k_row - 16};
  for (const char* writers : {"1", "2"})
    for (const char* io_thread : {"off", "on"}) {
      windrow_file* file = create_with(path(), {{"domains", "even"},
                                                {"access", "sieve"},
                                                {"writers", writers},
                                                {"io_thread", io_thread},
                                                {"buffer", "16KiB"}});
      const int first = define(file, "first", WINDROW_INT32, {k_rows, k_row}, {}),
                second = define(file, "second", WINDROW_INT32, {k_rows, k_row}, {});
      make(0);
      EXPECT_WINDROW_OK(windrow_write_block(file, first, start, count, data.data()));
      EXPECT_EQ(report_of(file)["read_requests"], 0);
      EXPECT_EQ(report_of(file)["plans"][0]["expected"]["read_requests"], 0);
      EXPECT_EQ(report_of(file)["plans"][0]["access"], "sieve");
      expect(file, "first", 0, 0);

      std::vector<int32_t> thirds;
      if (rank_of() == 0)
        for (int64_t row = 0; row < k_rows; ++row)
          for (int64_t i = 16; i < k_row; ++i)
            thirds.push_back(static_cast<int32_t>(row * k_row + i + 5));
      if (piece * size_of() == 16) {
        EXPECT_WINDROW_OK(windrow_write_block(file, first, third_start, third_count, thirds.data()));
        make(1);
        EXPECT_WINDROW_OK(windrow_write_block(file, first, start, count, data.data()));
        EXPECT_GT(report_of(file)["read_requests"], 0) << "somebody has written into the holes";
        EXPECT_EQ(report_of(file)["read_requests"], report_of(file)["plans"][0]["expected"]["read_requests"]);
        expect(file, "first", 1, 5);
      }
      // Two batches of one flush: the second one's holes were written by the first.
      windrow_decomposition *blocks = nullptr, *rest = nullptr;
      EXPECT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, shape, start, count, nullptr, nullptr, &blocks));
      EXPECT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, shape, third_start, third_count, nullptr, nullptr, &rest));
      const Decomposition mine(blocks), others(rest);
      make(2);
      EXPECT_WINDROW_OK(windrow_put(file, second, others.get(), thirds.data()));
      EXPECT_WINDROW_OK(windrow_put(file, second, mine.get(), data.data()));
      EXPECT_WINDROW_OK(windrow_flush(file));
      if (piece * size_of() == 16)
        expect(file, "second", 2, 5);
      EXPECT_WINDROW_OK(windrow_close(file));
      if (failed_anywhere())
        return;
    }
}

TEST_P(Fill, is_there_where_nobody_has_put_anything) {
  windrow_file* file = create(path());
  define(file, "never", WINDROW_FLOAT32, {1000, 1001}, {{"fill_value", "1.25"}});
  define(file, "late", WINDROW_INT32, {3 * size_of()}, {{"fill_value", "7"}});
  define(file, "read", WINDROW_INT32, {5}, {{"fill_value", "-8"}});
  EXPECT_EQ(read_all<int32_t>(file, "read", 5), std::vector<int32_t>(5, -8));
  EXPECT_WINDROW_OK(windrow_sync(file));  // from here on others see it
  windrow_file* reader = open(path());
  EXPECT_EQ(read_all<float>(reader, "never", 1001000), std::vector<float>(1001000, 1.25F));
  EXPECT_EQ(read_all<int32_t>(reader, "late", static_cast<size_t>(3 * size_of())),
            std::vector<int32_t>(static_cast<size_t>(3 * size_of()), 7));
  EXPECT_WINDROW_OK(windrow_close(reader));
  int late = -1;
  EXPECT_WINDROW_OK(windrow_find_variable(file, "late", &late));
  write(file, late, 100);
  define(file, "after", WINDROW_INT8, {17}, {{"fill_value", "-3"}});
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(path(), WINDROW_UPDATE);
  define(file, "discarded", WINDROW_INT8, {9}, {{"fill_value", "-5"}});
  EXPECT_WINDROW_OK(windrow_discard(file));  // what was defined stays
  file = open(path());
  EXPECT_EQ(read_all<int8_t>(file, "discarded", 9), std::vector<int8_t>(9, -5));
  expect_numbers(file, "late", 100);
  EXPECT_EQ(read_all<int8_t>(file, "after", 17), std::vector<int8_t>(17, -3));
  EXPECT_WINDROW_OK(windrow_close(file));
}

// Where next to nothing is put, the holes are larger than what moves.
TEST_P(Fill, is_much_more_than_what_is_put) {
  constexpr int64_t k_elements = 100'003, k_put = 77'777;
  for (const KeyValues& strategy : strategies()) {
    SCOPED_TRACE(strategy.empty() ? "auto" : strategy.front().second + " " + strategy.back().second);
    windrow_file* file = create_with(path(), strategy);
    const int variable = define(file, "v", WINDROW_INT32, {k_elements}, {{"fill_value", "-1"}});
    const int64_t start[1] = {k_put}, count[1] = {rank_of() + 1 == size_of() ? 1 : 0};
    const int32_t value = 5;
    EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, &value));
    EXPECT_WINDROW_OK(windrow_close(file));
    file = open(path());
    const auto read = read_all<int32_t>(file, "v", k_elements);
    EXPECT_EQ(read[k_put], 5);
    EXPECT_EQ(std::count(read.begin(), read.end(), -1), k_elements - 1);
    EXPECT_WINDROW_OK(windrow_close(file));
    if (failed_anywhere())
      return;
  }
}

// What the first flush fills, the second writes over.
TEST_P(Fill, gives_way_to_what_comes_later) {
  for (const bool split : {false, true}) {
    windrow_file* file =
        create_with(path(), {{"buffer", "4096"}, {"align", "4096"}, {"io_thread", split ? "on" : "auto"}});
    const int64_t rows = 64 * size_of();
    const int variable = define(file, "v", WINDROW_INT32, {rows, 40}, {{"fill_value", "9"}});
    const std::array<int64_t, 2> count{32, 20};
    const std::vector<int32_t> data(32 * 20, rank_of());
    const auto put = [&](int64_t row, int64_t column) {
      const std::array<int64_t, 2> shape{rows, 40}, start{64 * rank_of() + row, column};
      windrow_decomposition* made = nullptr;
      EXPECT_WINDROW_OK(
          windrow_block(MPI_COMM_WORLD, 2, shape.data(), start.data(), count.data(), nullptr, nullptr, &made));
      const Decomposition block(made);
      EXPECT_WINDROW_OK(windrow_put(file, variable, block.get(), data.data()));
      EXPECT_WINDROW_OK(split ? windrow_flush_begin(file) : windrow_flush(file));
      EXPECT_EQ(split ? windrow_flush_end(file) : WINDROW_OK, WINDROW_OK);
    };
    put(0, 0);
    put(32, 20);
    const auto read = read_all<int32_t>(file, "v", static_cast<size_t>(rows * 40));
    int wrong = 0;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < 40; ++column) {
        const bool is = (row % 64 < 32) == (column < 20);
        wrong += read[static_cast<size_t>(row * 40 + column)] != (is ? row / 64 : 9);
      }
    EXPECT_EQ(wrong, 0);
    EXPECT_WINDROW_OK(windrow_close(file));
  }
}

TEST_P(Fill, values_of_every_type_are_kept) {
  struct Kind {
    const char* name;
    int type;
    KeyValues options;
    const char* value;
  };
  const std::vector<Kind> kinds{
      {"int8", WINDROW_INT8, {}, "-128"},
      {"uint64", WINDROW_UINT64, {{"byte_order", "big"}}, "18446744073709551615"},
      {"float32", WINDROW_FLOAT32, {{"byte_order", "big"}}, "1e-30"},
      {"float16", WINDROW_FLOAT16, {}, "-0.375"},
      {"infinite float16", WINDROW_FLOAT16, {{"byte_order", "big"}}, "inf"},
      {"nan", WINDROW_FLOAT64, {}, "nan"},
      {"infinite", WINDROW_FLOAT64, {}, "-inf"},
      {"bool", WINDROW_BOOL, {}, "true"},
      {"complex", WINDROW_COMPLEX128, {}, "1.5,-2"},
      {"text", WINDROW_TEXT, {{"element_bytes", "4"}}, "no"},
      {"spaces", WINDROW_TEXT, {{"element_bytes", "4"}, {"text_padding", "space_padded"}}, "no"},
      {"opaque", WINDROW_OPAQUE, {{"element_bytes", "3"}}, "0x00feff"},
      {"colour", WINDROW_INT16, {{"enumeration", "RED=1\nNONE=-1"}}, "-1"}};
  windrow_file* file = create(path());
  for (const Kind& kind : kinds) {
    KeyValues options = kind.options;
    options.emplace_back("fill_value", kind.value);
    define(file, kind.name, kind.type, {11}, options);
  }
  define(file, "zero", WINDROW_FLOAT64, {4}, {{"fill_value", "0"}});
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(path());
  for (const Kind& kind : kinds) {
    EXPECT_STREQ(describe(file, kind.name).fill_value, kind.value) << kind.name;
    EXPECT_EQ(describe(file, kind.name).has_fill_value, 1);
  }
  EXPECT_EQ(describe(file, "zero").has_fill_value, 0);
  EXPECT_EQ(read_all<uint64_t>(file, "uint64", 11), std::vector<uint64_t>(11, UINT64_MAX));
  EXPECT_EQ(read_all<std::complex<double>>(file, "complex", 11), std::vector<std::complex<double>>(11, {1.5, -2}));
  EXPECT_WINDROW_OK(windrow_close(file));
  if (GetParam() != ".h5")
    return;
  h5py(R"(
f = h5py.File(path, "r")
assert f["int8"].fillvalue == -128 and (f["int8"][...] == -128).all()
assert f["uint64"].fillvalue == 2**64 - 1 and (f["uint64"][...] == 2**64 - 1).all()
assert f["float16"].fillvalue == -0.375 and (f["float16"][...] == -0.375).all()
assert np.isinf(f["infinite float16"][...]).all()
assert np.isnan(f["nan"].fillvalue) and np.isnan(f["nan"][...]).all()
assert f["bool"].fillvalue == True and f["bool"][...].all()
assert (f["complex"][...] == 1.5 - 2j).all()
assert f["text"][...].tolist() == [b"no"] * 11 and f["spaces"].id.get_type().get_strpad() == h5py.h5t.STR_SPACEPAD
assert f["opaque"][0].tobytes() == b"\x00\xfe\xff"
assert (f["colour"][...] == -1).all()
)");
}

TEST_P(Fill, values_that_cannot_be_are_refused) {
  windrow_file* file = create(path());
  int variable = -1;
  const int64_t shape[1] = {4};
  const auto refused = [&](int type, const KeyValues& values, const char* why) {
    const Options options(values);
    EXPECT_EQ(windrow_define_variable_with(file, "v", type, 1, shape, options, &variable), WINDROW_BAD_ARGUMENT) << why;
    EXPECT_THAT(windrow_error_message(), HasSubstr(why));
    expect_same_everywhere(WINDROW_BAD_ARGUMENT);
  };
  refused(WINDROW_INT32, {{"fill_value", "seven"}}, "\"v\": its fill value \"seven\" is not of type int32");
  refused(WINDROW_INT8, {{"fill_value", "128"}}, "\"128\" is not of type int8");
  refused(WINDROW_FLOAT64, {{"fill_value", "1.5x"}}, "is not of type float64");
  refused(WINDROW_TEXT, {{"fill_value", "long"}, {"element_bytes", "3"}}, "is not of type text");
  refused(WINDROW_TEXT, {{"fill_value", "x"}}, "text of variable length and null spaces have no fill value");
  refused(WINDROW_OPAQUE, {{"fill_value", "0x00"}, {"element_bytes", "2"}}, "is not of type opaque");
  if (size_of() > 1)
    refused(WINDROW_INT32, {{"fill_value", rank_of() == 1 ? "1" : "2"}},
            "options of the variables differ between the ranks");
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_P(Fill, holds_in_chunks_and_records) {
  if (GetParam() != ".h5")
    GTEST_SKIP() << "no chunks in raw files";
  windrow_file* file = create(path());
  const int chunked = define(file, "chunked", WINDROW_FLOAT64, {8 * size_of(), 10},
                             {{"chunks", "5x4"}, {"filters", "shuffle,deflate:1"}, {"fill_value", "-999.5"}});
  const int grows =
      define(file, "grows", WINDROW_INT32, {0, 3 * size_of()}, {{"extendible", "true"}, {"fill_value", "4"}});
  const std::array<int64_t, 2> start{8 * rank_of(), 2}, count{3, 3};
  const std::vector<double> data(9, 1.0);
  EXPECT_WINDROW_OK(windrow_write_block(file, chunked, start.data(), count.data(), data.data()));
  const int64_t columns[1] = {3 * size_of()}, first[1] = {3 * rank_of()}, three[1] = {3};
  windrow_decomposition* made = nullptr;
  EXPECT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 1, columns, first, three, nullptr, nullptr, &made));
  const Decomposition record(made);
  const std::vector<int32_t> last = numbers(50);
  EXPECT_EQ(windrow_put_record(file, chunked, -1, record.get(), data.data()), WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("the number of a record must not be negative"));
  EXPECT_EQ(windrow_flush(file), WINDROW_BAD_ARGUMENT);
  EXPECT_WINDROW_OK(windrow_put_record(file, grows, 2, record.get(), last.data()));
  EXPECT_WINDROW_OK(windrow_close(file));
  file = open(path());
  const auto read = read_all<double>(file, "chunked", static_cast<size_t>(80 * size_of()));
  int wrong = 0;
  for (int64_t row = 0; row < 8 * size_of(); ++row)
    for (int64_t column = 0; column < 10; ++column) {
      const bool is = row % 8 < 3 && column >= 2 && column < 5;
      wrong += read[static_cast<size_t>(row * 10 + column)] != (is ? 1.0 : k_fill);
    }
  EXPECT_EQ(wrong, 0);
  const auto records = read_all<int32_t>(file, "grows", static_cast<size_t>(9 * size_of()));
  for (int i = 0; i < 9 * size_of(); ++i)
    EXPECT_EQ(records[static_cast<size_t>(i)], i < 6 * size_of() ? 4 : 50 + i - 6 * size_of()) << i;
  EXPECT_WINDROW_OK(windrow_close(file));
  h5py(R"(
f = h5py.File(path, "r")
assert f["chunked"].fillvalue == -999.5 and (f["chunked"][:, 9] == -999.5).all() and f["chunked"][1, 3] == 1
assert (f["grows"][:2] == 4).all() and f["grows"].fillvalue == 4
)");
}

// Elements in an object's header, and elements that were never written.
TEST_P(Fill, compact_and_unwritten_variables_of_others_are_read) {
  if (GetParam() != ".h5")
    GTEST_SKIP() << "only HDF5 has them";
  h5py(k_compact + R"(
compact(b"compact", np.arange(60, dtype=">i4").reshape(12, 5))
compact(b"scalar", np.array(2.5))
f.create_dataset("unwritten", (12, 5), "f4", fillvalue=1.5)
f.create_dataset("zeros", (7,), ">i2")
f.create_dataset("words", (7,), "S4")
)");
  windrow_file* file = open(path(), WINDROW_UPDATE);
  EXPECT_EQ(windrow_variable_count(file), 5);
  EXPECT_STREQ(windrow_unsupported_objects(file), "");
  EXPECT_EQ(read_all<double>(file, "scalar", 1), std::vector<double>(1, 2.5));
  EXPECT_EQ(read_all<int16_t>(file, "zeros", 7), std::vector<int16_t>(7, 0));
  const std::array<char, 4> no_text{};
  EXPECT_EQ((read_all<std::array<char, 4>>(file, "words", 7)[3]), no_text);
  // Blocks of columns, which overlap, with a larger box around them in memory; other types in memory.
  const std::array<int64_t, 2> shape{12, 5}, start{rank_of() % 3, 1}, count{9, 3}, memory_shape{10, 4},
      memory_start{1, 1};
  windrow_decomposition* made = nullptr;
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, shape.data(), start.data(), count.data(), memory_shape.data(),
                                  memory_start.data(), &made));
  const Decomposition block(made);
  int compact = -1, unwritten = -1;
  EXPECT_WINDROW_OK(windrow_find_variable(file, "compact", &compact));
  EXPECT_WINDROW_OK(windrow_find_variable(file, "unwritten", &unwritten));
  std::vector<int32_t> ints(40, -1);
  std::vector<double> doubles(40, -1), wide(40, -1);
  EXPECT_WINDROW_OK(windrow_get(file, compact, block.get(), ints.data()));
  EXPECT_WINDROW_OK(windrow_get_as(file, compact, block.get(), WINDROW_FLOAT64, doubles.data()));
  EXPECT_WINDROW_OK(windrow_get_as(file, unwritten, block.get(), WINDROW_FLOAT64, wide.data()));
  EXPECT_WINDROW_OK(windrow_flush(file));
  for (int64_t row = 0; row < 10; ++row)
    for (int64_t column = 0; column < 4; ++column) {
      const bool is = row > 0 && column > 0;
      const int64_t value = is ? (start[0] + row - 1) * 5 + column : -1;
      EXPECT_EQ(ints[static_cast<size_t>(row * 4 + column)], value);
      EXPECT_EQ(doubles[static_cast<size_t>(row * 4 + column)], static_cast<double>(value));
      EXPECT_EQ(wide[static_cast<size_t>(row * 4 + column)], is ? 1.5 : -1);
    }
  EXPECT_WINDROW_OK(windrow_close(file));
}

// Elements in a header are changed like others: in parts, by several ranks, in another type, twice in one flush, and
// read in the same flush.
TEST_P(Fill, compact_variables_of_others_are_written) {
  if (GetParam() != ".h5")
    GTEST_SKIP() << "only HDF5 has them";
  h5py(k_compact + R"(
compact(b"steps", np.arange(40, dtype=">i4").reshape(8, 5))
compact(b"largest", np.zeros(7900, "<f8"))
compact(b"scalar", np.array(2.5))
compact(b"kept", np.arange(3, dtype="i2"))
)");
  windrow_file* file = open(path(), WINDROW_UPDATE);
  int steps = -1, largest = -1, scalar = -1;
  EXPECT_WINDROW_OK(windrow_find_variable(file, "steps", &steps));
  EXPECT_WINDROW_OK(windrow_find_variable(file, "largest", &largest));
  EXPECT_WINDROW_OK(windrow_find_variable(file, "scalar", &scalar));
  // Rows 1 to 6 but for the first and the last column: row r by rank r % ranks, from doubles.
  std::vector<int64_t> points;
  std::vector<double> values;
  for (int64_t row = 1; row < 7; ++row)
    for (int64_t column = 1; row % size_of() == rank_of() && column < 4; ++column)
      points.push_back(row * 5 + column), values.push_back(static_cast<double>(100 + row * 5 + column));
  windrow_decomposition* made = nullptr;
  ASSERT_WINDROW_OK(
      windrow_points(MPI_COMM_WORLD, 40, static_cast<int64_t>(points.size()), points.data(), nullptr, &made));
  const Decomposition scattered(made);
  const std::array<int64_t, 1> begin{7900 * rank_of() / size_of()},
      count{7900 * (rank_of() + 1) / size_of() - begin[0]};
  std::vector<double> mine(static_cast<size_t>(count[0]));
  for (size_t i = 0; i < mine.size(); ++i)
    mine[i] = static_cast<double>(begin[0]) + static_cast<double>(i) + 0.5;
  EXPECT_WINDROW_OK(windrow_put_as(file, steps, scattered.get(), WINDROW_FLOAT64, values.data()));
  EXPECT_WINDROW_OK(windrow_write_block(file, largest, begin.data(), count.data(), mine.data()));
  ASSERT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &made));
  const Decomposition everybody(made);
  const double before = 1, after = -7;
  double read = 0;
  EXPECT_WINDROW_OK(windrow_put(file, scalar, everybody.get(), &before));
  EXPECT_WINDROW_OK(windrow_put(file, scalar, everybody.get(), &after));
  EXPECT_WINDROW_OK(windrow_get(file, scalar, everybody.get(), &read));
  EXPECT_WINDROW_OK(windrow_flush(file));
  EXPECT_EQ(read, after);
  EXPECT_EQ(read_all<double>(file, "largest", 7900).back(), 7899.5);
  EXPECT_EQ(read_all<int32_t>(file, "steps", 40)[6], 106);
  EXPECT_WINDROW_OK(windrow_close(file));
  h5py(R"(
f = h5py.File(path, "r")
wanted = np.arange(40).reshape(8, 5)
wanted[1:7, 1:4] += 100
assert f["steps"].dtype == ">i4" and (f["steps"][...] == wanted).all()
assert (f["largest"][...] == np.arange(7900) + 0.5).all()
assert f["scalar"][()] == -7 and f["kept"][...].tolist() == [0, 1, 2]
assert all(f[name].id.get_create_plist().get_layout() == h5py.h5d.COMPACT for name in f)
)");
}

// A template: its variables are defined but were never written. Some ranks put parts of them; the rest is unchanged.
TEST_P(Fill, unwritten_variables_of_others_are_written) {
  if (GetParam() != ".h5")
    GTEST_SKIP() << "only HDF5 has them";
  h5py(R"(
f = h5py.File(path, "w", userblock_size=512)
f.create_dataset("filled", (12, 5), "f4", fillvalue=1.5)
f.create_dataset("zeros", (7,), ">i2")
f.create_dataset("scalar", (), "f8")
f.create_dataset("never", (3,), "i4", fillvalue=9)
)");
  windrow_file* file = open(path(), WINDROW_UPDATE);
  int filled = -1, zeros = -1, scalar = -1;
  EXPECT_WINDROW_OK(windrow_find_variable(file, "filled", &filled));
  EXPECT_WINDROW_OK(windrow_find_variable(file, "zeros", &zeros));
  EXPECT_WINDROW_OK(windrow_find_variable(file, "scalar", &scalar));
  // The last rank alone has elements.
  const int64_t mine = rank_of() == size_of() - 1 ? 1 : 0;
  const std::array<int64_t, 2> start{3, 1}, count{2 * mine, 3};
  const std::array<int64_t, 1> begin{2}, length{4 * mine};
  const std::array<float, 6> values{1, 2, 3, 4, 5, 6};
  const std::array<int16_t, 4> shorts{7, 8, 9, 10};
  const double one = 2.25;
  EXPECT_WINDROW_OK(windrow_write_block(file, filled, start.data(), count.data(), values.data()));
  EXPECT_WINDROW_OK(windrow_write_block(file, zeros, begin.data(), length.data(), shorts.data()));
  windrow_decomposition* same = nullptr;
  ASSERT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &same));
  const Decomposition everybody(same);
  EXPECT_WINDROW_OK(windrow_put(file, scalar, everybody.get(), &one));
  EXPECT_WINDROW_OK(windrow_flush(file));
  EXPECT_EQ(read_all<int16_t>(file, "zeros", 7), (std::vector<int16_t>{0, 0, 7, 8, 9, 10, 0}));
  EXPECT_EQ(read_all<int32_t>(file, "never", 3), (std::vector<int32_t>{9, 9, 9}));
  EXPECT_WINDROW_OK(windrow_close(file));
  h5py(R"(
f = h5py.File(path, "r")
wanted = np.full((12, 5), 1.5, "f4")
wanted[3:5, 1:4] = np.arange(1, 7).reshape(2, 3)
assert (f["filled"][...] == wanted).all()
assert f["zeros"][...].tolist() == [0, 0, 7, 8, 9, 10, 0]
assert f["scalar"][()] == 2.25
assert f["never"].id.get_storage_size() == 0 and (f["never"][...] == 9).all()
)");
}

INSTANTIATE_TEST_SUITE_P(Formats, Fill, testing::Values(".raw", ".h5"),
                         [](const auto& format) { return format.param.substr(1); });

}  // namespace
