// SPDX-License-Identifier: BSD-3-Clause
// windrow.hpp over the library, and beside the library's own headers, which use the same namespace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <windrow/windrow.hpp>

#include "../temporary_folder.hpp"
#include "base/status.hpp"

namespace {

// The same folder on every rank.
std::string shared_path(const std::string& name) {
  static const windrow::test::TemporaryFolder folder;
  std::string path = folder.path();
  path.resize(4096);
  MPI_Bcast(path.data(), static_cast<int>(path.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  return std::string(path.c_str()) + "/" + name;
}

template <class Call>
int code_of(Call&& call) {
  try {
    call();
  } catch (const windrow::Error& error) {
    EXPECT_FALSE(std::string(error.what()).empty());
    return error.code();
  }
  return WINDROW_OK;
}

TEST(CppCover, writes_references) {
  if (windrow_has("hdf5") == 0)
    GTEST_SKIP() << "built without HDF5";
  auto file = windrow::File::create(MPI_COMM_WORLD, shared_path("references.h5"));
  const int variable = file.define_variable("of", WINDROW_REFERENCE, {2});
  const std::vector<std::string> paths{"/of", ""};
  file.put_texts(variable, paths);
  EXPECT_EQ(file.texts(variable), paths);
  file.put_attribute_references("of", "list", {"/", "/of", ""});
  EXPECT_EQ(file.attribute_text("of", "list"), (std::vector<std::string>{"/", "/of", ""}));
  EXPECT_EQ(file.find_attribute("of", "list").type, WINDROW_REFERENCE);
  EXPECT_THAT(
      [&] { file.put_attribute_references("/", "bad", {"/nowhere"}); },
      testing::Throws<windrow::Error>(testing::Property(&windrow::Error::what, testing::HasSubstr("/nowhere"))));
  file.close();
}

TEST(CppCover, writes_and_reads_variables_and_attributes) {
  const std::string path = shared_path("all.raw");
  const auto rows = windrow::Decomposition::rows(MPI_COMM_WORLD, 100);
  const auto [first, count] = rows.my_rows();
  std::vector<double> numbers(static_cast<size_t>(count) * 3);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<double>(first * 3) + static_cast<double>(i);

  auto out = windrow::File::create(MPI_COMM_WORLD, path, {{"strategy", "two-phase"}});
  const int variable = out.define_variable<double>("group/numbers", {100, 3});
  out.put(variable, rows, numbers);
  out.flush();
  out.put_attribute("/", "title", "a title");
  out.put_attribute("group/numbers", "scale", 2.5F);
  out.put_attribute("group", "list", std::vector<int64_t>{1, 2, 3});
  out.put_attribute("group", "empty", std::vector<double>{});
  EXPECT_NE(out.report("json").find("\"bytes\""), std::string::npos);
  out.close();
  EXPECT_FALSE(out.is_open());

  auto in = windrow::File::open(MPI_COMM_WORLD, path);
  EXPECT_EQ(in.shape(in.find_variable("/group/numbers")), (std::vector<int64_t>{100, 3}));
  EXPECT_EQ(in.attribute_text("/", "title"), std::vector<std::string>{"a title"});
  EXPECT_EQ(in.attribute<float>("/group/numbers", "scale"), std::vector<float>{2.5F});
  EXPECT_EQ(in.attribute<int64_t>("group", "list"), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(in.attribute<double>("group", "empty"), std::vector<double>{});
  const auto all = windrow::Decomposition::same(MPI_COMM_WORLD, {100, 3});
  std::vector<double> read(300, -1);
  in.read(in.find_variable("group/numbers"), all, std::span(read));
  for (size_t i = 0; i < read.size(); ++i)
    EXPECT_EQ(read[i], static_cast<double>(i));
  in.close();
}

TEST(CppCover, copies_attributes_between_files) {
  auto from = windrow::File::create(MPI_COMM_WORLD, shared_path("from.raw"));
  from.put_attribute("/", "title", "a title");
  auto to = windrow::File::create(MPI_COMM_WORLD, shared_path("to.raw"));
  to.define_group("inside");
  to.copy_attribute("inside", from, "/", "title");
  EXPECT_EQ(to.attribute_text("inside", "title"), std::vector<std::string>{"a title"});
  EXPECT_EQ(code_of([&] { to.copy_attribute("inside", from, "/", "nothing"); }), WINDROW_NOT_FOUND);
  EXPECT_EQ(code_of([&] { to.copy_attribute("outside", from, "/", "title"); }), WINDROW_NOT_FOUND);
  from.discard();
  to.discard();
}

TEST(CppCover, same_without_a_shape_is_all_of_any_variable) {
  auto file = windrow::File::create(MPI_COMM_WORLD, shared_path("whole.raw"));
  const int scalar = file.define_variable<int>("scalar", {}), matrix = file.define_variable<int>("matrix", {2, 2});
  const auto whole = windrow::Decomposition::same(MPI_COMM_WORLD, {});
  const int value = 7;
  const std::vector<int> values{1, 2, 3, 4};
  file.put(scalar, whole, std::span(&value, 1));
  file.put(matrix, whole, values);
  file.close();
  auto in = windrow::File::open(MPI_COMM_WORLD, shared_path("whole.raw"));
  std::vector<int> one(1), four(4);
  in.get(in.find_variable("scalar"), whole, one);
  in.get(in.find_variable("matrix"), whole, four);
  in.flush();
  EXPECT_EQ(one, std::vector<int>{7});
  EXPECT_EQ(four, values);
  in.close();
}

TEST(CppCover, describes_grids_for_viewers) {
  if (windrow_has("xdmf") == 0)
    GTEST_SKIP() << "built without HDF5";
  auto file = windrow::File::create(MPI_COMM_WORLD, shared_path("viewer.h5"));
  const int values = file.define_variable<double>("values", {3, 4}),
            curved = file.define_variable<double>("curved", {3, 4, 2});
  const int y = file.define_variable<double>("y", {3}), x = file.define_variable<double>("x", {4});
  const int nodes = file.define_variable<double>("nodes", {12, 3}), cells = file.define_variable<int>("cells", {5, 3});
  const int mixed = file.define_variable<int>("mixed", {9});
  file.xdmf_field(file.xdmf_uniform_grid("uniform", 0.5, {3, 4}, {0, 0}, {1, 2}), "values", windrow::Center::nodes,
                  values);
  file.xdmf_rectilinear_grid("rectilinear", {}, {y, x});
  file.xdmf_curvilinear_grid("curvilinear", {}, curved);
  file.xdmf_mesh("triangles", {}, windrow::Cell::triangle, cells, nodes);
  file.xdmf_mesh("mixed", {}, windrow::Cell::mixed, mixed, nodes, 2);
  EXPECT_EQ(code_of([&] { file.xdmf_uniform_grid("short", {}, {3, 4}, {0}, {1, 2}); }), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(code_of([&] { file.xdmf_uniform_grid("uniform", {}, {3, 4}, {0, 0}, {1, 2}); }), WINDROW_EXISTS);
  file.close();
  EXPECT_TRUE(std::filesystem::exists(shared_path("viewer.xmf")));
}

TEST(CppCover, throws_what_went_wrong) {
  EXPECT_EQ(code_of([] { windrow::File::open(MPI_COMM_WORLD, shared_path("missing.raw")); }), WINDROW_NOT_FOUND);
  EXPECT_EQ(code_of([] { windrow::Options{{"colour", "red"}}; }), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(code_of([] {
              windrow::Decomposition::block(MPI_COMM_WORLD, {4, 4}, {0, 0, 0}, {1, 1});
            }),
            WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(code_of([] {
              windrow::Decomposition::block(MPI_COMM_WORLD, {4, 4}, {0, 0}, {5, 1});
            }),
            WINDROW_BAD_ARGUMENT);
  // Wrong on one rank only: an error on every rank.
  const std::vector<int64_t> starts{0, 0, 2, 2}, counts{1, 1, 1, 1};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool wrong_here = rank == 0;
  const auto blocks = [&](size_t kept_starts, size_t kept_counts) {
    return code_of([&] {
      windrow::Decomposition::blocks(MPI_COMM_WORLD, {4, 4}, std::span(starts).first(wrong_here ? kept_starts : 0),
                                     std::span(counts).first(wrong_here ? kept_counts : 0));
    });
  };
  EXPECT_EQ(blocks(4, 4), WINDROW_OK);
  EXPECT_EQ(blocks(2, 4), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(blocks(4, 2), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(blocks(3, 3), WINDROW_BAD_ARGUMENT);
}

// Wrong on one rank only: an error on every rank, and no rank waits for another. Each rank has a row that is reversed
// in memory, with numbers of another type than the file; its second record.
TEST(CppCover, converts_records_that_lie_apart_in_memory) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::vector<int64_t> start{rank, 0}, count{1, 4}, offset{6}, strides{8, -2};
  const auto backwards = windrow::Decomposition::blocks(MPI_COMM_WORLD, {size, 4}, start, count, offset, strides);
  EXPECT_EQ(
      code_of([&] {
        windrow::Decomposition::blocks(MPI_COMM_WORLD, {size, 4}, start, count, offset, std::span(strides).first(1));
      }),
      WINDROW_BAD_ARGUMENT);

  auto file = windrow::File::create(MPI_COMM_WORLD, shared_path("records.raw"));
  const int variable = file.define_variable<double>("records", {2, size, 4});
  const std::vector<int32_t> numbers{3, -1, 2, -1, 1, -1, 0};
  file.put_record_as(variable, 1, backwards, numbers);
  file.flush();
  std::vector<float> read(7, -1);
  file.get_record_as(variable, 1, backwards, read);
  file.flush();
  EXPECT_EQ(read, (std::vector<float>{3, -1, 2, -1, 1, -1, 0}));
  std::vector<double> record(static_cast<size_t>(size) * 4);
  file.get_record(variable, 1, windrow::Decomposition::same(MPI_COMM_WORLD, {size, 4}), record);
  file.flush();
  for (size_t i = 0; i < record.size(); ++i)
    EXPECT_EQ(record[i], static_cast<double>(i % 4));
  file.close();
}

TEST(CppCover, refuses_lists_of_other_lengths_on_every_rank) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const bool wrong = rank == size - 1;
  const std::vector<int64_t> none{0, 0}, shape{2, 3}, odd = wrong ? std::vector<int64_t>{0} : none;
  const std::vector<int64_t> list{0, 1};
  const std::vector<unsigned char> flags(wrong ? 1 : 2, 1);
  EXPECT_THROW(windrow::Decomposition::block(MPI_COMM_WORLD, shape, odd, none), windrow::Error);
  EXPECT_THROW(windrow::Decomposition::same(MPI_COMM_WORLD, shape, odd, none), windrow::Error);
  EXPECT_THROW(windrow::Decomposition::points(MPI_COMM_WORLD, 9, list, flags), windrow::Error);
}

TEST(CppCover, refuses_elements_of_another_type) {
  auto file = windrow::File::create(MPI_COMM_WORLD, shared_path("types.raw"));
  const int variable = file.define_variable<double>("numbers", {10});
  const auto rows = windrow::Decomposition::rows(MPI_COMM_WORLD, 10);
  std::vector<float> narrow(10);
  EXPECT_EQ(code_of([&] { file.put(variable, rows, narrow); }), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(code_of([&] { file.get(variable, rows, narrow); }), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(code_of([&] { file.flush(); }), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(code_of([&] { file.attribute<int>("/", "nothing"); }), WINDROW_NOT_FOUND);
  file.discard();
}

// What is said of data of `given` elements where the decomposition asks for `needed`.
std::string too_short(const std::string& call, size_t given, int64_t needed) {
  return call + " of variable \"/numbers\": the data has " + std::to_string(given) +
         " elements, and the decomposition asks for " + std::to_string(needed);
}

// Too short on the last rank only: an error on every rank, and nothing outside the data is read or written.
TEST(CppCover, refuses_data_that_is_too_short) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  auto file = windrow::File::create(MPI_COMM_WORLD, shared_path("short.raw"));
  const int variable = file.define_variable<double>("numbers", {2, 3 * size, 2});
  const auto whole = windrow::Decomposition::block(MPI_COMM_WORLD, {2, 3 * size}, {0, 3 * rank}, {2, 3});
  const auto ghosts =
      windrow::Decomposition::block(MPI_COMM_WORLD, {2, 3 * size}, {0, 3 * rank}, {2, 3}, {3, 5}, {1, 1});
  const auto record = windrow::Decomposition::rows(MPI_COMM_WORLD, 3 * size, 3);
  // The distance of each call's elements in memory, before the last.
  const std::vector<int64_t> start{0, 3 * rank}, count{2, 3}, offset{0}, strides{10, 3};
  const auto apart = windrow::Decomposition::blocks(MPI_COMM_WORLD, {2, 3 * size}, start, count, offset, strides);
  const auto check = [&](const std::string& name, int64_t needed, auto&& call) {
    SCOPED_TRACE(name);
    std::vector<double> enough(static_cast<size_t>(needed), rank), few(static_cast<size_t>(needed) - 1, rank);
    const auto move = [&](std::vector<double>& data) {
      std::string said;
      const auto try_to = [&](auto&& step) {
        try {
          step();
        } catch (const windrow::Error& error) {
          EXPECT_EQ(error.code(), WINDROW_BAD_ARGUMENT);
          said = error.what();
        }
      };
      try_to([&] { call(data); });
      if (name != "write" && name != "read")
        try_to([&] { file.flush(); });
      return said;
    };
    EXPECT_EQ(move(enough), "");
    EXPECT_NE(move(rank == size - 1 ? few : enough).find(too_short(name, few.size(), needed)), std::string::npos);
    EXPECT_EQ(move(enough), "");
    std::vector<double> none;
    EXPECT_NE(move(rank == size - 1 ? none : enough).find(too_short(name, 0, needed)), std::string::npos);
  };
  check("put", 12, [&](auto& data) { file.put(variable, whole, data); });
  check("get", 12, [&](auto& data) { file.get(variable, whole, data); });
  check("write", 30, [&](auto& data) { file.write(variable, ghosts, data); });
  check("read", 30, [&](auto& data) { file.read(variable, ghosts, data); });
  check("put", 34, [&](auto& data) { file.put(variable, apart, data); });
  check("put_record", 6, [&](auto& data) { file.put_record(variable, 1, record, data); });
  check("get_record", 6, [&](auto& data) { file.get_record(variable, 1, record, std::span(data)); });
  check("put_as", 12, [&](auto& data) { file.put_as(variable, whole, data); });
  check("get_as", 30, [&](auto& data) { file.get_as(variable, ghosts, data); });
  check("put_record_as", 6, [&](auto& data) { file.put_record_as(variable, 0, record, data); });
  check("get_record_as", 6, [&](auto& data) { file.get_record_as(variable, 0, record, data); });
  EXPECT_EQ(ghosts.memory({2, 3 * size, 2}), 30);
  EXPECT_EQ(code_of([&] { (void)ghosts.memory({2, 3 * size + 1}); }), WINDROW_BAD_ARGUMENT);
  file.discard();
}

// The memory of text is counted in bytes. A rank that holds nothing needs none, with any box.
TEST(CppCover, asks_for_no_more_elements_than_there_are) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  auto file = windrow::File::create(MPI_COMM_WORLD, shared_path("few.raw"));
  const int names = file.define_variable("names", WINDROW_TEXT, {size}, windrow::Options{{"element_bytes", "4"}});
  const int numbers = file.define_variable<float>("numbers", {size, 0});
  const auto rows = windrow::Decomposition::rows(MPI_COMM_WORLD, size, 1);
  std::vector<char> name{'a', 'b', 'c', 'd'};
  file.write(names, rows, name);
  EXPECT_EQ(code_of([&] { file.write(names, rows, std::span(name).first(rank == 0 ? 3 : 4)); }), WINDROW_BAD_ARGUMENT);
  const std::vector<float> none;
  file.write(numbers, rows, none);
  const bool last = rank == size - 1;
  const auto one =
      windrow::Decomposition::block(MPI_COMM_WORLD, {size}, {0}, {last ? size : 0}, {last ? size : 9}, {0});
  const std::vector<char> all(last ? static_cast<size_t>(size) * 4 : 0, 'x');
  file.write(names, one, all);
  file.discard();
}

// Has what std::mdspan has.
template <class T>
struct View {
  T* data = nullptr;
  std::array<int64_t, 2> extents{}, strides{};
  static constexpr int rank() { return 2; }
  T* data_handle() const { return data; }
  int64_t extent(int i) const { return extents[static_cast<size_t>(i)]; }
  int64_t stride(int i) const { return strides[static_cast<size_t>(i)]; }
};

TEST(CppCover, moves_views_of_several_dimensions) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  auto file = windrow::File::create(MPI_COMM_WORLD, shared_path("views.raw"));
  const int variable = file.define_variable<float>("v", {3 * size, 4});
  std::vector<float> data(12), read(12, -1);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(100 * rank) + static_cast<float>(i);
  const int64_t first = 3 * rank;
  file.write_block(variable, {first, 0}, View<const float>{data.data(), {3, 4}, {4, 1}});
  file.read_block(variable, {first, 0}, View<float>{read.data(), {3, 4}, {4, 1}});
  EXPECT_EQ(read, data);
  // Nothing, with any strides.
  file.write_block(variable, {first, 0}, View<const float>{data.data(), {0, 4}, {1, 0}});
  file.write_block(variable, {first, 0}, View<const float>{data.data(), {3, 0}, {10, 1}});
  // Wrong on one rank only: an error on every rank.
  const bool wrong = rank == 0;
  EXPECT_EQ(code_of([&] {
              file.write_block(variable, {first, 0}, View<const float>{data.data(), {3, 4}, {wrong ? 5 : 4, 1}});
            }),
            WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(code_of([&] {
              file.write_block(variable, wrong ? windrow::Sizes{first} : windrow::Sizes{first, 0},
                               View<const float>{data.data(), {3, 4}, {4, 1}});
            }),
            WINDROW_BAD_ARGUMENT);
  std::vector<double> doubles(12);
  EXPECT_EQ(code_of([&] {
              if (wrong)
                file.read_block(variable, {first, 0}, View<double>{doubles.data(), {3, 4}, {4, 1}});
              else
                file.read_block(variable, {first, 0}, View<float>{read.data(), {3, 4}, {4, 1}});
            }),
            WINDROW_BAD_ARGUMENT);
  const auto rows = windrow::Decomposition::rows(MPI_COMM_WORLD, 3 * size);
  EXPECT_EQ(code_of([&] {
              if (wrong)
                file.write(variable, rows, doubles);
              else
                file.write(variable, rows, data);
            }),
            WINDROW_BAD_ARGUMENT);
  file.read_block(variable, {first, 0}, View<float>{read.data(), {3, 4}, {4, 1}});
  EXPECT_EQ(read, data);
  file.close();
}

// The error of a collective call; the same on every rank.
template <class Call>
std::string said_on_all(Call&& call) {
  std::string said;
  try {
    call();
  } catch (const windrow::Error& error) {
    EXPECT_EQ(error.code(), WINDROW_BAD_ARGUMENT);
    said = error.what();
  }
  std::array<char, 1000> first{};
  said.copy(first.data(), first.size() - 1);
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  EXPECT_EQ(said, first.data());
  return said;
}

// Wrong on the last rank alone: no collective call fails there before the others, which would wait for it.
TEST(CppCover, fails_on_all_ranks_where_one_is_wrong) {
  if (windrow_has("hdf5") == 0)
    GTEST_SKIP() << "built without HDF5";
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const bool wrong = rank == size - 1;
  auto file = windrow::File::create(MPI_COMM_WORLD, shared_path("wrong.h5"));
  const int numbers = file.define_variable<double>("numbers", {size, 4}),
            texts = file.define_variable("texts", WINDROW_TEXT, {2});
  const int number = wrong ? 99 : numbers, text = wrong ? 99 : texts;
  const auto rows = windrow::Decomposition::rows(MPI_COMM_WORLD, size, 1);
  std::vector<double> data(4, 1);
  const View<double> view{data.data(), {1, 4}, {4, 1}}, apart{data.data(), {1, 4}, {8, 2}};
  const View<float> narrow{nullptr, {1, 4}, {4, 1}};
  const std::vector<std::string> words{"a", "b"};
  const auto none = testing::HasSubstr("no variable number 99");
  EXPECT_THAT(said_on_all([&] { file.write(number, rows, data); }), none);
  EXPECT_THAT(said_on_all([&] { file.read(number, rows, data); }), none);
  EXPECT_THAT(said_on_all([&] { file.write_block(number, {rank, 0}, view); }), none);
  EXPECT_THAT(said_on_all([&] { file.read_block(number, {rank, 0}, view); }), none);
  EXPECT_THAT(said_on_all([&] { file.put_texts(text, words); }), none);
  EXPECT_THAT(said_on_all([&] { (void)file.texts(text); }), none);
  EXPECT_THAT(said_on_all([&] { file.name_dimensions(number, {"row", "column"}); }), none);
  EXPECT_THAT(said_on_all([&] {
                file.name_dimensions(
                    numbers, wrong ? std::vector<std::string>{"row"} : std::vector<std::string>{"row", "column"});
              }),
              testing::HasSubstr("1 name for \"/numbers\", which has 2 dimensions"));
  EXPECT_THAT(said_on_all([&] { file.put_texts(texts, {"a"}); }),
              testing::HasSubstr("1 text for \"/texts\", which has 2 elements"));
  EXPECT_THAT(
      said_on_all([&] {
        if (wrong)
          file.write_block(numbers, {rank, 0}, narrow);
        else
          file.write_block(numbers, {rank, 0}, view);
      }),
      testing::HasSubstr("write_block: variable \"/numbers\" has elements of type float64, the data of type float32"));
  EXPECT_THAT(said_on_all([&] {
                file.read_block(numbers, {rank, 0}, wrong ? apart : view);
              }),
              testing::HasSubstr("the view has gaps"));
  EXPECT_THAT(said_on_all([&] {
                file.read_block(numbers, wrong ? windrow::Sizes{rank} : windrow::Sizes{rank, 0}, view);
              }),
              testing::HasSubstr("has 2 dimensions, the start 1 and the view 2"));
  const windrow::Sizes many(std::vector<int64_t>(40, 1)), few{size, 4};
  EXPECT_THAT(said_on_all([&] { (void)file.define_variable<int>("many", wrong ? many : few); }),
              testing::HasSubstr("ndims is 40"));
  EXPECT_THAT(said_on_all([&] { (void)windrow::Decomposition::same(MPI_COMM_WORLD, wrong ? many : few); }),
              testing::HasSubstr("ndims is 40"));
  // And nothing of it is left.
  file.write(numbers, rows, data);
  file.put_texts(texts, words);
  EXPECT_EQ(file.texts(texts), words);
  file.close();
}

// There is nothing to look at in these lists, so that their length alone is wrong.
TEST(CppCover, refuses_lists_for_what_has_none) {
  if (windrow_has("hdf5") == 0)
    GTEST_SKIP() << "built without HDF5";
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  auto file = windrow::File::create(MPI_COMM_WORLD, shared_path("none.h5"));
  const int scalar = file.define_variable<double>("scalar", {}),
            empty = file.define_variable("empty", WINDROW_TEXT, {0});
  const std::vector<std::string> none, one{"a"};
  EXPECT_THAT(said_on_all([&] { file.put_texts(empty, one); }),
              testing::HasSubstr("1 text for \"/empty\", which has 0 elements"));
  EXPECT_THAT(said_on_all([&] { file.put_texts(empty, rank == 0 ? one : none); }),
              testing::HasSubstr("1 text for \"/empty\""));
  EXPECT_EQ(said_on_all([&] { file.put_texts(empty, rank == 0 ? none : one); }), "") << "rank 0's are written";
  EXPECT_THAT(said_on_all([&] { file.name_dimensions(scalar, one); }),
              testing::HasSubstr("1 name for \"/scalar\", which has 0 dimensions"));
  EXPECT_THAT(said_on_all([&] { file.name_dimensions(scalar, rank == size - 1 ? one : none); }),
              testing::HasSubstr("1 name for \"/scalar\""));
  file.discard();
}

TEST(CppCover, says_what_is_missing_of_an_attribute) {
  auto file = windrow::File::create(MPI_COMM_WORLD, shared_path("missing.raw"));
  file.put_attribute("/", "title", "a title");
  const auto expect = [&](const std::string& object, const std::string& name, int code, const std::string& why) {
    const auto fails = testing::Throws<windrow::Error>(
        testing::AllOf(testing::Property(&windrow::Error::code, code),
                       testing::Property(&windrow::Error::what, testing::HasSubstr(why))));
    EXPECT_THAT([&] { (void)file.find_attribute(object, name); }, fails);
    EXPECT_THAT([&] { (void)file.attribute<int>(object, name); }, fails);
    EXPECT_THAT([&] { (void)file.attribute_bool(object, name); }, fails);
    EXPECT_THAT([&] { (void)file.attribute_text(object, name); }, fails);
  };
  expect("/", "titles", WINDROW_NOT_FOUND, "\"/\" has no attribute \"titles\"");
  expect("nowhere", "title", WINDROW_NOT_FOUND, "no such group or variable");
  file.close();
  expect("/", "title", WINDROW_BAD_ARGUMENT, "the file is NULL");
}

// What the compiler has to refuse: temporaries, and constants as a place to read into.
template <class Range>
concept CanPut = requires(windrow::File& file, const windrow::Decomposition& d, Range data) {
  file.put(0, d, std::forward<Range>(data));
};
template <class Range>
concept CanGet = requires(windrow::File& file, const windrow::Decomposition& d, Range data) {
  file.get(0, d, std::forward<Range>(data));
};
static_assert(CanPut<std::vector<double>&> && CanPut<const std::vector<double>&> && CanPut<std::span<const double>>);
static_assert(!CanPut<std::vector<double>&&> && !CanPut<std::vector<bool>&> && !CanPut<std::vector<std::string>&>);
static_assert(CanGet<std::vector<double>&> && !CanGet<const std::vector<double>&> && !CanGet<std::span<const double>>);
static_assert(windrow::type_of<long>() == windrow::type_of<int64_t>() &&
              windrow::type_of<unsigned char>() == WINDROW_UINT8);
static_assert(!std::is_same_v<windrow::Error, windrow::Status>);

}  // namespace
