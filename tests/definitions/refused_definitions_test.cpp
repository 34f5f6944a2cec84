// SPDX-License-Identifier: BSD-3-Clause
// Definitions that differ on one rank, or that one rank cannot make: an error on all ranks, and the file is as if the
// call had not been made. Rank 0 may already have made them.
#include <gmock/gmock.h>

#include <map>
#include <numeric>

#include "../capi/checked.hpp"

namespace {

using namespace windrow_test;
using testing::HasSubstr;

constexpr int64_t k_elements = 2400;

windrow_variable_definition line(const char* path, const int64_t* shape, int type = WINDROW_INT32) {
  return {path, type, 1, shape, nullptr};
}

// With refused calls in between, or without: number and place of each variable, by path.
using Places = std::map<std::string, std::pair<int, int64_t>>;

void refuse(windrow_file* file, int variables, bool groups) {
  const bool other = rank_of() == size_of() - 1;
  const int64_t shape = k_elements, another = other ? k_elements + 1 : k_elements;
  std::vector<std::string> names;
  for (int i = 0; i < variables; ++i)
    names.push_back((groups ? "refused/deep/" : "refused ") + std::to_string(i));
  std::vector<windrow_variable_definition> definitions;
  for (const std::string& name : names)
    definitions.push_back(line(name.c_str(), &shape));
  std::vector<int> numbers(names.size(), -1);
  if (size_of() > 1) {
    definitions.back().shape = &another;
    EXPECT_EQ(windrow_define_variables(file, variables, definitions.data(), numbers.data()), WINDROW_BAD_ARGUMENT);
    EXPECT_THAT(windrow_error_message(), HasSubstr("differ between the ranks"));
    definitions.back().shape = &shape;
  }
  // One rank's own mistake: its words are what all get.
  if (other)
    definitions.back().type = 12345;
  EXPECT_EQ(windrow_define_variables(file, variables, definitions.data(), numbers.data()), WINDROW_BAD_ARGUMENT);
  EXPECT_THAT(windrow_error_message(), HasSubstr("12345"));
  definitions.back().type = WINDROW_INT32;
  // More on one rank than on the others.
  if (size_of() > 1) {
    EXPECT_EQ(windrow_define_variables(file, other ? variables - 1 : variables, definitions.data(), numbers.data()),
              WINDROW_BAD_ARGUMENT);
    EXPECT_THAT(windrow_error_message(), HasSubstr("differ between the ranks"));
  }
  int number = 0;
  for (const std::string& name : names)
    EXPECT_EQ(windrow_find_variable(file, name.c_str(), &number), WINDROW_NOT_FOUND) << name;
}

Places write(const std::string& path, bool refuses) {
  const bool groups = !path.ends_with(".nc");
  const char* last = !refuses ? "last" : groups ? "refused" : "refused 2";  // a refused name is free, a group's too
  const int64_t shape = k_elements, start = k_elements * rank_of() / size_of(),
                count = k_elements * (rank_of() + 1) / size_of() - start;
  windrow_file* file = nullptr;
  EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(), nullptr, &file));
  std::map<std::string, int> numbers;
  const auto define = [&](const char* name) {
    EXPECT_WINDROW_OK(windrow_define_variable(file, name, WINDROW_INT32, 1, &shape, &numbers[name]));
  };
  if (refuses)
    refuse(file, 2, groups);
  define("first");
  if (refuses)
    refuse(file, 3, groups);
  for (const int many : {16, 17, 40})  // as many as fit into one word of a message, and more
    if (refuses)
      refuse(file, many, groups);
  define("second");
  define(last);
  windrow_decomposition* decomposition = nullptr;
  EXPECT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 1, &shape, &start, &count, nullptr, nullptr, &decomposition));
  std::vector<int32_t> values(static_cast<size_t>(count));
  Places places;
  for (const auto& [name, number] : numbers) {
    std::iota(values.begin(), values.end(), static_cast<int32_t>(start) + 100 * number);
    EXPECT_WINDROW_OK(windrow_put(file, number, decomposition, values.data()));
    EXPECT_WINDROW_OK(windrow_flush(file));
    windrow_variable_info info{};
    info.size = sizeof info;
    EXPECT_WINDROW_OK(windrow_inquire_variable(file, number, &info));
    places[name == last ? "last" : name] = {number, info.offset};
  }
  EXPECT_WINDROW_OK(windrow_close(file));
  EXPECT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_READ, nullptr, &file));
  EXPECT_EQ(windrow_variable_count(file), 3);
  EXPECT_EQ(windrow_group_count(file), 1);
  for (const auto& [name, number] : numbers) {
    std::vector<int32_t> read(values.size(), -1);
    int found = -1;
    EXPECT_WINDROW_OK(windrow_find_variable(file, name.c_str(), &found));
    EXPECT_WINDROW_OK(windrow_get(file, found, decomposition, read.data()));
    EXPECT_WINDROW_OK(windrow_flush(file));
    std::iota(values.begin(), values.end(), static_cast<int32_t>(start) + 100 * number);
    EXPECT_EQ(read, values) << name;
  }
  EXPECT_WINDROW_OK(windrow_close(file));
  windrow_decomposition_free(decomposition);
  return places;
}

const char* format_of(const std::string& ending) {
  return ending == ".h5" ? "hdf5" : ending == ".nc" ? "netcdf" : "raw";
}

class RefusedDefinitions : public testing::TestWithParam<const char*> {
 protected:
  SharedFolder folder_;
};

TEST_P(RefusedDefinitions, leave_no_trace) {
  const std::string ending = GetParam();
  if (windrow_has(format_of(ending)) == 0)
    GTEST_SKIP() << "not built in: " << ending;
  const Places with = write(folder_.file("with" + ending), true),
               without = write(folder_.file("without" + ending), false);
  for (const auto& [name, place] : without) {
    EXPECT_EQ(with.at(name).first, place.first) << name;
    if (ending == ".raw") {  // the headers of others are longer, as names are
      EXPECT_EQ(with.at(name).second, place.second) << name;
    }
  }
  if (rank_of() != 0)
    return;
  // A refused definition leaves no space in the file, except what HDF5 reports.
  const auto size = [&](const char* name) { return std::filesystem::file_size(folder_.file(name + ending)); };
  EXPECT_LE(size("with"), size("without") + k_elements * 4);
}

// Messages about the variables of a file have the same length on ranks that have refused a definition as on the others.
TEST_P(RefusedDefinitions, are_followed_by_records) {
  const std::string ending = GetParam(), path = folder_.file("records" + ending);
  if (windrow_has(format_of(ending)) == 0 || ending == ".raw")
    GTEST_SKIP() << "nothing grows in " << ending;
  const Options options{{"extendible", "true"}};
  const int64_t shape[2] = {0, size_of()}, start = rank_of(), count = 1;
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(), nullptr, &file));
  int number = -1;
  ASSERT_WINDROW_OK(windrow_define_variable_with(file, "t", WINDROW_INT32, 2, shape, options, &number));
  windrow_decomposition* decomposition = nullptr;
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 1, &shape[1], &start, &count, nullptr, nullptr, &decomposition));
  for (int32_t record = 0; record < 3; ++record) {
    refuse(file, record + 1, ending != ".nc");
    const int32_t value = 10 * record + rank_of();
    EXPECT_WINDROW_OK(windrow_put_record(file, number, record, decomposition, &value));
    EXPECT_WINDROW_OK(windrow_flush(file));
  }
  EXPECT_WINDROW_OK(windrow_close(file));
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_READ, nullptr, &file));
  EXPECT_EQ(windrow_variable_count(file), 1);
  for (int32_t record = 0; record < 3; ++record) {
    int32_t value = -1;
    EXPECT_WINDROW_OK(windrow_get_record(file, 0, record, decomposition, &value));
    EXPECT_WINDROW_OK(windrow_flush(file));
    EXPECT_EQ(value, 10 * record + rank_of());
  }
  EXPECT_WINDROW_OK(windrow_close(file));
  windrow_decomposition_free(decomposition);
}

// A file that others see already is not touched before all agree.
TEST_P(RefusedDefinitions, leave_a_published_file_as_it_is) {
  const std::string ending = GetParam(), path = folder_.file("published" + ending);
  if (windrow_has(format_of(ending)) == 0)
    GTEST_SKIP() << "not built in: " << ending;
  write(path, false);
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_UPDATE, nullptr, &file));
  const auto bytes = [&] {
    MPI_Barrier(MPI_COMM_WORLD);
    std::ifstream stream(path, std::ios::binary);
    std::string all{std::istreambuf_iterator<char>(stream), {}};
    MPI_Barrier(MPI_COMM_WORLD);
    return all;
  };
  const std::string before = bytes();
  refuse(file, 3, ending != ".nc");
  EXPECT_TRUE(bytes() == before);
  const int64_t shape = k_elements;
  int number = -1;
  EXPECT_WINDROW_OK(windrow_define_variable(file, "added", WINDROW_INT32, 1, &shape, &number));
  EXPECT_EQ(number, 3);
  EXPECT_WINDROW_OK(windrow_close(file));
}

INSTANTIATE_TEST_SUITE_P(formats, RefusedDefinitions, testing::Values(".raw", ".h5", ".nc"),
                         [](const auto& each) { return std::string(each.param).substr(1); });

}  // namespace
