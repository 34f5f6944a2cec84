// SPDX-License-Identifier: BSD-3-Clause
// Every format that is built in passes the contract; the table itself.
#include "../contract/format_contract.hpp"

namespace windrow::test {

// Those that hold all there is and place each variable when it is defined. NetCDF classic does neither: tests/netcdf.
std::vector<std::string_view> whole_formats() {
  std::vector<std::string_view> names(format_names().begin(), format_names().end());
  std::erase(names, "netcdf");
  return names;
}

INSTANTIATE_TEST_SUITE_P(built_in, FormatContract, testing::ValuesIn(whole_formats()),
                         [](const auto& name) { return std::string(name.param); });

TEST(FormatTable, finds_the_format_of_a_name) {
  for (const char* name : {"a.h5", "/x.y/a.hdf5", "a b.nc4"})
    EXPECT_EQ(format_of_name(name), "hdf5") << name;
  EXPECT_EQ(format_of_name("a.raw"), "raw");
  for (const char* name : {"a.nc", "b.cdf"})
    EXPECT_EQ(format_of_name(name), "netcdf") << name;
  for (const char* name : {"", "h5", "a", "a.h5/b", "a.h5.txt"})
    EXPECT_EQ(format_of_name(name), "") << name;
}

TEST(FormatTable, finds_hdf5_behind_a_user_block_without_the_library) {
  TemporaryFolder folder;
  constexpr unsigned char k_signature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  for (const int64_t offset : {0, 512, 1024, 2048, 1 << 20}) {
    auto store = open_store(folder.path("user block"), StoreMode::create, {});
    ASSERT_TRUE(store.value()->write_at(offset, std::as_bytes(std::span(k_signature))).ok());
    EXPECT_EQ(format_of_file(folder.path("user block")).value(), "hdf5") << offset;
  }
  for (const int64_t offset : {1, 256, 1536}) {
    auto store = open_store(folder.path("no user block"), StoreMode::create, {});
    ASSERT_TRUE(store.value()->write_at(offset, std::as_bytes(std::span(k_signature))).ok());
    EXPECT_EQ(format_of_file(folder.path("no user block")).status().code(), Code::bad_file) << offset;
  }
  EXPECT_EQ(format_of_file(folder.path("missing")).status().code(), Code::not_found);
}

TEST(FormatTable, finds_netcdf_classic_without_the_library) {
  TemporaryFolder folder;
  for (const auto& [version, expected] : {std::pair{1, Code::ok}, {2, Code::ok}, {5, Code::ok}, {3, Code::bad_file}}) {
    auto store = open_store(folder.path("a file"), StoreMode::create, {});
    const std::array<unsigned char, 4> head{'C', 'D', 'F', static_cast<unsigned char>(version)};
    ASSERT_TRUE(store.value()->write_at(0, std::as_bytes(std::span(head))).ok());
    const auto found = format_of_file(folder.path("a file"));
    EXPECT_EQ(found.status().code(), expected) << version;
    if (found.ok()) {
      EXPECT_EQ(found.value(), "netcdf");
    }
  }
}

TEST(FormatTable, says_what_is_not_built_in) {
  const auto unknown = open_format("grib", "x", FormatMode::create, {});
  EXPECT_EQ(unknown.status().code(), Code::unsupported);
  EXPECT_THAT(unknown.status().message(), testing::HasSubstr("raw"));
  const auto has = [](std::string_view name) {
    return std::find(format_names().begin(), format_names().end(), name) != format_names().end();
  };
  if (has("hdf5"))
    return;
  const auto without = open_format("hdf5", "x.h5", FormatMode::create, {});
  EXPECT_EQ(without.status().code(), Code::unsupported);
  EXPECT_THAT(without.status().message(), testing::HasSubstr("built without HDF5"));
}

TEST(FormatTable, knows_its_types) {
  EXPECT_EQ(type_size(Type::int8), 1);
  EXPECT_EQ(type_size(Type::float64), 8);
  EXPECT_EQ(type_size(Type::text), 0);
  EXPECT_EQ(type_size(Type::none), 0);
  EXPECT_STREQ(type_name(Type::uint16), "uint16");
  EXPECT_STREQ(type_name(Type::text), "text");
  EXPECT_STREQ(type_name(Type::float16), "float16");
  EXPECT_EQ(type_size(Type::float16), 2);
  EXPECT_STREQ(type_name(static_cast<Type>(99)), "none");
}

}  // namespace windrow::test
