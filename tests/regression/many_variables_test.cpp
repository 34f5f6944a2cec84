// SPDX-License-Identifier: BSD-3-Clause
// What is done with a few variables takes the same in a file of many: the bytes of memory that it takes are counted.
#include <atomic>
#include <cstdlib>
#include <new>

#include "../capi/checked.hpp"

namespace {

std::atomic<int64_t> allocated{0};  // an I/O thread allocates too

}  // namespace

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  allocated += static_cast<int64_t>(size);
  return std::malloc(size == 0 ? 1 : size);
}
void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace {

using namespace windrow_test;

// No number of variables, nor a few more, is one at which a vector grows.
constexpr int k_some = 520, k_many = 2080, k_few = 50, k_before = 10;

class ManyVariables : public testing::Test {
 protected:
  void create(const std::string& name, const KeyValues& options) {
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder_.file(name).c_str(), Options(options), &file_));
  }
  void discard() { EXPECT_WINDROW_OK(windrow_discard(file_)); }
  // The number of the first.
  int define(int count, const std::vector<int64_t>& shape, const windrow_options* options = nullptr) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i)
      names.push_back("v" + std::to_string(windrow_variable_count(file_) + i));
    std::vector<windrow_variable_definition> definitions;
    for (const std::string& name : names)
      definitions.push_back({name.c_str(), WINDROW_INT32, static_cast<int>(shape.size()), shape.data(), options});
    std::vector<int> numbers(names.size());
    EXPECT_WINDROW_OK(windrow_define_variables(file_, count, definitions.data(), numbers.data()));
    return numbers.front();
  }
  // step() for a few, after some that allocate memory for them.
  template <class Step>
  static int64_t bytes_of(Step&& step) {
    for (int i = 0; i < k_before; ++i)
      step();
    const int64_t before = allocated;
    for (int i = 0; i < k_few; ++i)
      step();
    return allocated - before;
  }
  static void expect_same(int64_t some, int64_t many) {
    EXPECT_GT(some, 0);
    EXPECT_LT(static_cast<double>(many), 1.5 * static_cast<double>(some));
  }

  SharedFolder folder_;
  windrow_file* file_ = nullptr;
};

TEST_F(ManyVariables, take_a_record_each_as_few_do) {
  if (windrow_has("hdf5") == 0)
    GTEST_SKIP() << "without HDF5";
  const auto bytes_for = [&](int variables) {
    create("a.h5", {});
    define(variables, {0, 4}, Options({{"extendible", "true"}}));
    windrow_decomposition* rows = nullptr;
    EXPECT_WINDROW_OK(windrow_rows(MPI_COMM_WORLD, 4, rank_of() == 0 ? 4 : 0, &rows));
    const std::vector<int32_t> data(4, 7);
    const auto write = [&](int record) {
      for (int i = 0; i < k_few; ++i)
        EXPECT_WINDROW_OK(windrow_put_record(file_, i, record, rows, data.data()));
      EXPECT_WINDROW_OK(windrow_flush(file_));
    };
    write(0);
    const int64_t before = allocated;
    write(1);
    const int64_t bytes = allocated - before;
    windrow_decomposition_free(rows);
    discard();
    return bytes;
  };
  const int64_t some = bytes_for(k_some);
  expect_same(some, bytes_for(k_many));
}

TEST_F(ManyVariables, are_checked_for_an_old_version_of_netcdf_as_few_are) {
  const auto bytes_for = [&](int variables) {
    create("a.nc", {{"netcdf_version", "2"}});
    define(variables, {4});
    const int64_t bytes = bytes_of([&] { define(1, {4}); });
    discard();
    return bytes;
  };
  const int64_t some = bytes_for(k_some);
  expect_same(some, bytes_for(k_many));
}

TEST_F(ManyVariables, have_dimensions_of_their_own_as_few_have) {
  const auto bytes_for = [&](int variables) {
    create("a.nc", {});
    define(variables + k_before + k_few, {4});
    int next = 0;
    const auto name = [&] {
      const std::string dimension = "d" + std::to_string(next);
      const char* names[1] = {dimension.c_str()};
      EXPECT_WINDROW_OK(windrow_name_dimensions(file_, next++, names));
    };
    while (next < variables)
      name();
    const int64_t bytes = bytes_of(name);
    discard();
    return bytes;
  };
  const int64_t some = bytes_for(k_some);
  expect_same(some, bytes_for(k_many));
}

}  // namespace
