// SPDX-License-Identifier: BSD-3-Clause
// windrow.hpp in a program without exceptions: the first error is kept until it is queried.
#define WINDROW_STATUS
#include <gmock/gmock.h>

#include <windrow/windrow.hpp>
#include "checked.hpp"

namespace {

using testing::HasSubstr;
using windrow::take_status;

TEST(CppStatus, keeps_the_first_error_and_goes_on) {
  const windrow_test::SharedFolder folder;
  EXPECT_TRUE(take_status().ok());
  windrow::File missing = windrow::File::open(MPI_COMM_WORLD, folder.file("missing.raw"));
  EXPECT_FALSE(missing.is_open());
  EXPECT_EQ(missing.find_variable("v"), -1);  // of no file: an error too, and not the first
  const windrow::Status status = take_status();
  EXPECT_EQ(status.code, WINDROW_NOT_FOUND);
  EXPECT_THAT(status.message, HasSubstr("missing.raw"));
  EXPECT_TRUE(take_status().ok());

  windrow::File file = windrow::File::create(MPI_COMM_WORLD, folder.file("file.raw"));
  const int variable = file.define_variable<int32_t>("v", {10});
  const auto rows = windrow::Decomposition::rows(MPI_COMM_WORLD, 10);
  std::vector<int32_t> data(static_cast<size_t>(rows.my_rows().count), 7), read(data.size());
  std::vector<double> wide(data.size());
  EXPECT_TRUE(take_status().ok());
  // A wrong type on one rank: the flush fails on all, and no rank is left waiting.
  if (windrow_test::rank_of() == 0)
    file.put(variable, rows, wide);
  else
    file.put(variable, rows, data);
  EXPECT_EQ(take_status().ok(), windrow_test::rank_of() != 0);
  file.flush();
  EXPECT_EQ(take_status().code, WINDROW_BAD_ARGUMENT);
  file.write(variable, rows, data);
  file.read(variable, rows, read);
  EXPECT_EQ(read, data);
  EXPECT_TRUE(file.attribute<int>("/", "nothing").empty());
  EXPECT_EQ(take_status().code, WINDROW_NOT_FOUND);
  windrow::check(windrow_put_attribute(file.get(), "/", "number", WINDROW_INT32, 0, nullptr, data.data()));
  EXPECT_EQ(file.attribute_text("/", "number").size(), 1U);
  EXPECT_EQ(take_status().code, WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(file.texts(variable).size(), 10U);
  EXPECT_EQ(take_status().code, WINDROW_BAD_ARGUMENT);
  windrow::Sizes many(std::vector<int64_t>(40, 1));
  EXPECT_EQ(many.count(), 40);
  EXPECT_TRUE(take_status().ok());
  EXPECT_EQ(file.define_variable<int>("many", many), -1);
  EXPECT_THAT(take_status().message, HasSubstr("ndims is 40"));
  file.close();
  EXPECT_TRUE(take_status().ok());
}

// A list that one rank cannot make: the call with it fails on all, and no rank is left waiting.
TEST(CppStatus, of_a_list_of_bytes_reaches_all_ranks) {
  const windrow_test::SharedFolder folder;
  auto file = windrow::ByteFile::open(MPI_COMM_WORLD, folder.file("bytes"), windrow::Mode::update_or_create);
  const std::vector<int64_t> offsets{10 * windrow_test::rank_of()}, lengths{10}, wrong{10, 10};
  const std::string mine(10, 'x');
  const bool is_wrong = windrow_test::rank_of() == 0;
  const auto list = windrow::ByteList::pieces(offsets, is_wrong ? wrong : lengths);
  EXPECT_EQ(take_status().ok(), !is_wrong);
  file.write(list, mine);
  const windrow::Status status = take_status();
  EXPECT_EQ(status.code, WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(status.rank, 0);
  EXPECT_EQ(std::filesystem::file_size(folder.file("bytes")), 0U);
  file.write(windrow::ByteList::pieces(offsets, lengths), mine);
  file.close();
  EXPECT_TRUE(take_status().ok());
}

}  // namespace
