// SPDX-License-Identifier: BSD-3-Clause
#include "subfiling/new_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../temporary_folder.hpp"
#include "subfiling/subfiles.hpp"

namespace windrow::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(NewSetNames, the_folder_has_the_name_of_the_file_and_subfiles_its_ending) {
  const SetNames names = new_set_names("raw", "given.dat", "/data/final.dat");
  EXPECT_EQ(names.format, "raw");
  EXPECT_EQ(names.ending, ".dat");
  EXPECT_EQ(names.folder, "final.dat.subfiles-" + names.identity.substr(0, 8));
  EXPECT_NE(names.identity, new_set_names("raw", "given.dat", "/data/final.dat").identity);
}

TEST(NewSetNames, without_a_usable_ending_it_is_that_of_the_format) {
  EXPECT_EQ(new_set_names("hdf5", "given", "given").ending, ".h5");
  EXPECT_EQ(new_set_names("netcdf", "given.", "given").ending, ".nc");
  EXPECT_EQ(new_set_names("raw", "given.01234567890123456", "given").ending, ".raw");
}

TEST(WhyNoSet, a_format_or_a_name_may_not_allow_it) {
  const TemporaryFolder folder;
  const auto opened = open_format("raw", folder.path("a.raw"), FormatMode::create, {});
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  Format& format = *opened.value();
  ASSERT_TRUE(format.can_split());
  EXPECT_EQ(why_no_set(format, "raw", {}, "/data/a.raw"), "");
  FormatOptions old;
  old.netcdf_version = 2;
  EXPECT_EQ(why_no_set(format, "raw", old, "/data/a.raw"), "");
  EXPECT_THAT(why_no_set(format, "netcdf", old, "/data/a.nc"), StartsWith("netcdf_version=2 allows no more"));
  EXPECT_THAT(why_no_set(format, "raw", {}, "/data/a\nb"), HasSubstr("cannot be the beginning of the name"));
}

TEST(LimitFileCount, a_single_file_where_there_can_be_no_set) {
  EXPECT_EQ(limit_file_count({4, "four"}, "").files, 4);
  const FileCount one = limit_file_count({4, "four"}, "because");
  EXPECT_EQ(one.files, 1);
  EXPECT_EQ(one.why, "files one: because");
  EXPECT_EQ(limit_file_count({1, "one"}, "because").why, "one");
  EXPECT_EQ(limit_file_count({Subfiles::k_most + 1, "many"}, "").files, Subfiles::k_most);
}

}  // namespace
}  // namespace windrow::test
