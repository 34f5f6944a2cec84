// SPDX-License-Identifier: BSD-3-Clause
// Many more ranks than cores: counts of messages, and every byte in its place. A small grid of columns, so that each
// rank has pieces in all writers' domains.
#include <nlohmann/json.hpp>

#include "../capi/files.hpp"

namespace {

using namespace windrow_test;
using nlohmann::json;

int hosts() {
  const char* text = std::getenv("WINDROW_RANKS_PER_HOST");
  const int each = text == nullptr ? size_of() : std::atoi(text);
  return (size_of() + each - 1) / each;
}

TEST(Crowd, writes_and_reads_with_few_messages) {
  const SharedFolder folder;
  constexpr int64_t k_rows = 300, k_columns = 2;
  const int64_t shape[2] = {k_rows, k_columns * size_of()}, start[2] = {0, k_columns * rank_of()},
                count[2] = {k_rows, k_columns};
  windrow_decomposition* made = nullptr;
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, shape, start, count, nullptr, nullptr, &made));
  const std::unique_ptr<windrow_decomposition, decltype(&windrow_decomposition_free)> columns(
      made, windrow_decomposition_free);
  const Options options{{"align", "4096"}, {"access", "contiguous"}};
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder.file("crowd.raw").c_str(), options, &file));
  int variable = -1;
  ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT32, 2, shape, &variable));
  std::vector<int32_t> data, read(k_rows * k_columns, -1);
  for (int64_t i = 0; i < k_rows * k_columns; ++i)
    data.push_back(static_cast<int32_t>(i * size_of() + rank_of()));
  ASSERT_WINDROW_OK(windrow_write(file, variable, columns.get(), data.data()));
  const char* text = nullptr;
  ASSERT_WINDROW_OK(windrow_report(file, "json", &text));
  const json report = json::parse(text);
  EXPECT_EQ(report["writers"], hosts());
  EXPECT_EQ(report["bytes_written"], shape[0] * shape[1] * 4);
  EXPECT_EQ(report["messages"], report["plans"][0]["expected"]["messages"]);
  EXPECT_EQ(report["write_requests"], report["plans"][0]["expected"]["write_requests"]);
  if (hosts() == 1) {
    EXPECT_EQ(report["messages"], 0);
  } else if (size_of() / hosts() >= 16) {
    // To the host's lowest rank, and from there in one message to each writer of another host.
    EXPECT_EQ(report["description_messages"], size_of() - hosts() + hosts() * (hosts() - 1));
  } else {
    EXPECT_EQ(report["description_messages"], size_of() * (hosts() - 1));
  }
  ASSERT_WINDROW_OK(windrow_read(file, variable, columns.get(), read.data()));
  EXPECT_EQ(read, data);
  ASSERT_WINDROW_OK(windrow_close(file));
}

}  // namespace
