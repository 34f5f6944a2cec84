// SPDX-License-Identifier: BSD-3-Clause
// Fill values in a plain file: no format, no open file.
#include "filling/fill_manager.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../temporary_folder.hpp"
#include "comm/agree.hpp"

namespace windrow {
namespace {

using testing::HasSubstr;

constexpr int64_t k_elements = 10;

std::vector<std::byte> bytes_of(double value) {
  std::vector<std::byte> bytes(sizeof(value));
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

Variable variable_of(std::string path, int64_t offset, bool extendible) {
  Variable variable;
  variable.path = std::move(path);
  variable.type = Type::float64;
  variable.shape = {k_elements};
  variable.extendible = extendible;
  variable.placement = {.offset = offset, .bytes = 8 * k_elements};
  variable.fill = bytes_of(2.5);
  return variable;
}

class FillManagerTest : public testing::Test {
 protected:
  FillManagerTest() : comm_(Comm::of(MPI_COMM_WORLD).value()), publication_(true) {
    std::array<char, 4096> path{};
    if (comm_->rank() == 0) {
      folder_ = std::make_unique<test::TemporaryFolder>();
      folder_->path("data").copy(path.data(), path.size() - 1);
      std::ofstream(path.data()) << std::string(1000, '\0');
    }
    MPI_Bcast(path.data(), static_cast<int>(path.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    path_ = path.data();
    file_.emplace(path_, true, StoreOptions{});
    catalog_.variables = {variable_of("/whole", 80, false), variable_of("/filled", 160, false)};
    write_state_.grow(2);
    write_state_.add_contiguous(0, true);
  }
  FillManager manager() {
    return FillManager({.comm = *comm_,
                        .space = AddressSpace(catalog_, nullptr),
                        .write_state = write_state_,
                        .file = *file_,
                        .layout = nullptr,
                        .publication = publication_});
  }
  // As every rank finds the file once all have closed it.
  std::vector<double> numbers_at(int64_t offset, size_t count) {
    EXPECT_TRUE(file_->close().ok());
    EXPECT_TRUE(agree(*comm_, Status{}).ok());
    std::vector<double> numbers(count);
    std::ifstream file(path_, std::ios::binary);
    file.seekg(offset);
    file.read(reinterpret_cast<char*>(numbers.data()), static_cast<std::streamsize>(8 * count));
    EXPECT_TRUE(agree(*comm_, Status{}).ok());
    return numbers;
  }

  std::shared_ptr<Comm> comm_;
  std::unique_ptr<test::TemporaryFolder> folder_;  // rank 0
  std::string path_;
  std::optional<DataFile> file_;
  Catalog catalog_;
  WriteState write_state_;
  Publication publication_;
};

TEST_F(FillManagerTest, TheRestIsFilledOnce) {
  ASSERT_TRUE(manager().fill_rest().ok());
  EXPECT_FALSE(write_state_.any_needs_fill());
  const std::vector<double> numbers = numbers_at(72, 12);
  EXPECT_EQ(numbers.front(), 0);
  EXPECT_EQ(numbers.back(), 0);
  EXPECT_EQ(std::vector<double>(numbers.begin() + 1, numbers.end() - 1), std::vector<double>(k_elements, 2.5));
}

TEST_F(FillManagerTest, AFailedFillNamesTheVariableAndEndsThePublication) {
  file_.emplace(path_ + " that is not there", true, StoreOptions{});
  const Status status = manager().fill_rest();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr("; undefined now: \"/whole\""));
  EXPECT_TRUE(write_state_[0].needs_fill());
  EXPECT_TRUE(publication_.has_failed());
}

TEST_F(FillManagerTest, ABatchIsWholeIfItHasAllBytesOfItsVariables) {
  const std::array<int64_t, 1> both{3};
  BatchSummary summary;
  summary.objects = both;
  summary.bytes = 2 * 8 * k_elements - 1;
  EXPECT_FALSE(manager().is_whole(summary));
  summary.bytes += 1;
  EXPECT_TRUE(manager().is_whole(summary));
}

TEST_F(FillManagerTest, NewRecordsAreFilledUnlessAllAreWritten) {
  // Records of two variables lie between each other.
  catalog_.variables = {variable_of("/a", 0, true), variable_of("/b", 8, true)};
  for (Variable& each : catalog_.variables)
    each.placement.stride = 16;
  write_state_[0].filled_records = write_state_[1].filled_records = 4;
  write_state_[0].fill = VariableState::Fill::complete;
  ASSERT_TRUE(manager().any_unfilled_records());
  // All ranks together write all new records of /b.
  std::vector<int64_t> written{8, comm_->rank() == 0 ? 8 * 6 : 0};
  ASSERT_TRUE(manager().fill_records({}, written).ok());
  EXPECT_FALSE(manager().any_unfilled_records());
  const std::vector<double> numbers = numbers_at(0, 2 * k_elements);
  for (size_t record = 0; record < k_elements; ++record) {
    EXPECT_EQ(numbers[2 * record], record < 4 ? 0 : 2.5) << record;
    EXPECT_EQ(numbers[2 * record + 1], 0) << record;
  }
}

TEST_F(FillManagerTest, RecordsInChunksAreNotFilledHere) {
  catalog_.variables = {variable_of("/a", -1, true)};
  EXPECT_TRUE(manager().has_unfilled_records(0));
  catalog_.variables[0].chunking.shape = {2};
  EXPECT_FALSE(manager().has_unfilled_records(0));
}

}  // namespace
}  // namespace windrow
