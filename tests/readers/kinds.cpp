// SPDX-License-Identifier: BSD-3-Clause
// Writes one HDF5 file of every kind of thing, and one as netCDF-4 tools expect it, in parallel, for other people's
// readers.
//   kinds KINDS.h5 CLIMATE.nc4
#include <mpi.h>

#include <complex>
#include <cstdio>
#include <string>
#include <vector>
#include <windrow/windrow.hpp>

namespace {

using windrow::Decomposition;
using windrow::File;
using windrow::Options;

constexpr int64_t k_time = 3, k_cells = 50;

int rank() {
  int number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  return number;
}

// This rank's rows of an array whose element i holds value(i).
template <class T, class Value>
std::vector<T> part(const Decomposition& rows, Value&& value) {
  std::vector<T> data;
  const auto mine = rows.my_rows();
  for (int64_t i = 0; i < mine.count; ++i)
    data.push_back(static_cast<T>(value(mine.first + i)));
  return data;
}

void put_bytes(File& file, int variable, const Decomposition& rows, const std::vector<unsigned char>& bytes) {
  windrow::check(windrow_put(file.get(), variable, rows.get(), bytes.data()));
  file.flush();
}

template <class T, class Value>
void number(File& file, const std::string& name, int type, const Options& options, const Decomposition& rows,
            Value&& value) {
  const int variable = file.define_variable(name, type, {k_cells}, options);
  const std::vector<T> data = part<T>(rows, value);
  windrow::check(windrow_put(file.get(), variable, rows.get(), data.data()));
  file.flush();
}

void write_kinds(const std::string& path) {
  File file = File::create(MPI_COMM_WORLD, path);
  const Decomposition rows = Decomposition::rows(MPI_COMM_WORLD, k_cells);
  const Options plain, big = [] {
    Options o;
    o.set("byte_order", "big");
    return o;
  }();
  const auto same = [](int64_t i) { return i; };
  number<int8_t>(file, "numbers/int8", WINDROW_INT8, plain, rows, same);
  number<uint16_t>(file, "numbers/uint16 big", WINDROW_UINT16, big, rows, same);
  number<int64_t>(file, "numbers/int64", WINDROW_INT64, plain, rows, same);
  number<float>(file, "numbers/float32 big", WINDROW_FLOAT32, big, rows, same);
  number<double>(file, "numbers/\xce\xb5", WINDROW_FLOAT64, plain, rows,
                 [](int64_t i) { return 0.5 * static_cast<double>(i); });
  number<unsigned char>(file, "bool", WINDROW_BOOL, plain, rows, [](int64_t i) { return i % 3 == 0; });
  number<std::complex<double>>(file, "complex", WINDROW_COMPLEX128, plain, rows,
                               [](int64_t i) { return std::complex<double>(static_cast<double>(i), -1); });
  Options colours, text, opaque, filled, chunks, grows;
  colours.set("enumeration", "RED=0\nGREEN=1\nBLUE=2");
  number<int32_t>(file, "colour", WINDROW_INT32, colours, rows, [](int64_t i) { return i % 3; });
  text.set("element_bytes", "4");
  std::vector<unsigned char> bytes;
  const auto mine = rows.my_rows();
  for (int64_t i = mine.first; i < mine.first + mine.count; ++i)
    for (const char each : {'n', static_cast<char>('0' + i / 10), static_cast<char>('0' + i % 10), '\0'})
      bytes.push_back(static_cast<unsigned char>(each));
  put_bytes(file, file.define_variable("text", WINDROW_TEXT, {k_cells}, text), rows, bytes);
  opaque.set("element_bytes", "4");
  put_bytes(file, file.define_variable("opaque", WINDROW_OPAQUE, {k_cells}, opaque), rows, bytes);
  filled.set("fill_value", "-1");
  const int half = file.define_variable("half", WINDROW_INT32, {2 * k_cells}, filled);
  const std::vector<int32_t> data = part<int32_t>(rows, same);
  const int64_t start[1] = {mine.first}, count[1] = {mine.count};
  windrow::check(windrow_write_block(file.get(), half, start, count, data.data()));
  file.define_variable("never", WINDROW_FLOAT32, {4}, filled);
  chunks.set("chunks", "16");
  chunks.set("filters", "shuffle,deflate:6,fletcher32");
  number<double>(file, "compressed", WINDROW_FLOAT64, chunks, rows,
                 [](int64_t i) { return static_cast<double>(i / 7); });
  grows.set("extendible", "true");
  const int records = file.define_variable("records", WINDROW_INT32, {0, k_cells}, grows);
  for (int64_t record = 0; record < k_time; ++record) {
    const std::vector<int32_t> row = part<int32_t>(rows, [&](int64_t i) { return 100 * record + i; });
    windrow::check(windrow_put_record(file.get(), records, record, rows.get(), row.data()));
    file.flush();
  }
  file.define_variable("scalar", WINDROW_FLOAT64, {});
  Options null;
  null.set("null_space", "true");
  file.define_variable("null", WINDROW_INT32, {}, null);
  const int words = file.define_variable("words", WINDROW_TEXT, {3});
  const char* const list[3] = {"one", "two words", "größe"};
  windrow::check(windrow_put_texts(file.get(), words, list));
  file.define_link("numbers/link", "/colour");
  file.define_group("empty group");
  const int32_t three[3] = {1, 2, 3};
  const int64_t shape[1] = {3};
  windrow::check(windrow_put_attribute(file.get(), "/", "three", WINDROW_INT32, 1, shape, three));
  windrow::check(windrow_put_attribute_text(file.get(), "/", "title", "every kind of thing"));
  const unsigned char yes = 1;
  windrow::check(windrow_put_attribute(file.get(), "colour", "is a colour", WINDROW_BOOL, 0, nullptr, &yes));
  const std::vector<double> large(20'000, 1.5);
  const int64_t large_shape[1] = {20'000};
  windrow::check(windrow_put_attribute(file.get(), "numbers", "large", WINDROW_FLOAT64, 1, large_shape, large.data()));
  file.close();
}

void write_climate(const std::string& path) {
  File file = File::create(MPI_COMM_WORLD, path);
  const Decomposition times = Decomposition::rows(MPI_COMM_WORLD, k_time),
                      cells = Decomposition::rows(MPI_COMM_WORLD, k_cells);
  const int time = file.define_variable("time", WINDROW_FLOAT64, {k_time}),
            x = file.define_variable("x", WINDROW_FLOAT32, {k_cells});
  const std::vector<double> hours = part<double>(times, [](int64_t i) { return 6.0 * static_cast<double>(i); });
  const std::vector<float> places = part<float>(cells, [](int64_t i) { return static_cast<float>(i); });
  windrow::check(windrow_put(file.get(), time, times.get(), hours.data()));
  windrow::check(windrow_put(file.get(), x, cells.get(), places.data()));
  file.name_dimensions(time, {"time"});
  file.name_dimensions(x, {"x"});
  windrow::check(windrow_put_attribute_text(file.get(), "time", "units", "hours since 2000-01-01"));
  Options compressed;
  compressed.set("filters", "shuffle,deflate:1");
  const int temperature = file.define_variable("temperature", WINDROW_FLOAT32, {k_time, k_cells}, compressed);
  file.name_dimensions(temperature, {"time", "x"});
  windrow::check(windrow_put_attribute_text(file.get(), "temperature", "units", "K"));
  Options filled;
  filled.set("fill_value", "-9999");
  const int pressure = file.define_variable("pressure", WINDROW_FLOAT64, {k_time, k_cells, 2}, filled);
  file.name_dimensions(pressure, {"time", "x", "side"});
  const double missing = -9999;
  windrow::check(windrow_put_attribute(file.get(), "pressure", "_FillValue", WINDROW_FLOAT64, 0, nullptr, &missing));
  const auto mine = cells.my_rows();
  const int64_t shape[2] = {k_time, k_cells}, start[2] = {0, mine.first}, count[2] = {k_time, mine.count};
  const Decomposition columns = Decomposition::block(MPI_COMM_WORLD, shape, start, count);
  std::vector<float> kelvin;
  for (int64_t t = 0; t < k_time; ++t)
    for (int64_t i = mine.first; i < mine.first + mine.count; ++i)
      kelvin.push_back(static_cast<float>(250 + 10 * t + i));
  windrow::check(windrow_put(file.get(), temperature, columns.get(), kelvin.data()));
  const int64_t first[3] = {1, mine.first, 0}, some[3] = {1, mine.count, 1};
  const std::vector<double> pascal = part<double>(cells, [](int64_t i) { return 1e5 + static_cast<double>(i); });
  file.flush();
  windrow::check(windrow_write_block(file.get(), pressure, first, some, pascal.data()));
  file.close();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int exit_code = 0;
  try {
    if (argc != 3)
      throw std::runtime_error("kinds KINDS.h5 CLIMATE.nc4");
    write_kinds(argv[1]);
    write_climate(argv[2]);
  } catch (const std::exception& error) {
    if (rank() == 0)
      std::fprintf(stderr, "kinds: %s\n", error.what());
    exit_code = 1;
  }
  MPI_Finalize();
  return exit_code;
}
