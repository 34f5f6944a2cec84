// SPDX-License-Identifier: BSD-3-Clause
// Measuring the link between hosts costs a tenth of what is to be moved at most, and the report counts it.
#include <nlohmann/json.hpp>

#include "../capi/checked.hpp"
#include "comm/comm.hpp"
#include "comm/link.hpp"

namespace {

using namespace windrow_test;

int hosts() {
  return (size_of() + ranks_per_host() - 1) / ranks_per_host();
}

TEST(LinkProbe, sends_no_more_than_it_may) {
  auto comm = windrow::Comm::of(MPI_COMM_WORLD);
  ASSERT_TRUE(comm.ok());
  for (const int64_t most : {int64_t{0}, int64_t{12290}, int64_t{12291}, int64_t{49155}, int64_t{196611},
                             int64_t{1000000}, windrow::k_unbounded_probe}) {
    const auto probe = windrow::measure_link(*comm.value(), most);
    ASSERT_TRUE(probe.ok());
    const bool sends = hosts() > 1 && comm.value()->host_rank() == 0 && most >= 12291;
    EXPECT_LE(probe.value().sent, most);
    EXPECT_EQ(probe.value().sent > 0, sends) << most;
    EXPECT_EQ(probe.value().seconds_per_byte > 0, hosts() > 1 && most >= 12291) << most;
    if (!sends)
      continue;
    if (most == 12291 || most == 49155) {
      EXPECT_EQ(probe.value().sent, most) << "three messages of a byte, and three of 4 or of 16 KiB";
    }
    EXPECT_EQ(probe.value().rough, most < 196611) << most;
  }
}

// A flush of `bytes` in rows that go round the ranks; what the report says of the probe.
int64_t probe_bytes_of(windrow_file* file, const std::string& name, int64_t bytes) {
  constexpr int64_t k_columns = 64;
  const int64_t rows = bytes / 8 / k_columns, shape[2] = {rows, k_columns};
  std::vector<int64_t> points;
  for (int64_t row = rank_of(); row < rows; row += size_of())
    points.push_back(row);
  int variable = -1;
  EXPECT_WINDROW_OK(windrow_define_variable(file, name.c_str(), WINDROW_FLOAT64, 2, shape, &variable));
  windrow_decomposition* d = nullptr;
  EXPECT_WINDROW_OK(
      windrow_points(MPI_COMM_WORLD, rows, static_cast<int64_t>(points.size()), points.data(), nullptr, &d));
  const std::vector<double> data(points.size() * k_columns, 1.0 / 3);
  EXPECT_WINDROW_OK(windrow_put(file, variable, d, data.data()));
  EXPECT_WINDROW_OK(windrow_flush(file));
  windrow_decomposition_free(d);
  const char* text = "";
  EXPECT_WINDROW_OK(windrow_report(file, "json", &text));
  return nlohmann::json::parse(text)["link_probe_bytes"].get<int64_t>();
}

TEST(LinkProbe, is_a_tenth_of_a_flush_at_most_and_counted) {
  SharedFolder folder;
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(
      windrow_create(MPI_COMM_WORLD, folder.file("a.raw").c_str(), Options({{"strategy", "tpc"}}), &file));
  const auto rounded = [](int64_t bytes) { return bytes / 512 * 512; };
  const int64_t sent = hosts() > 1 ? hosts() * 12291 : 0;
  EXPECT_EQ(probe_bytes_of(file, "tiny", rounded(100000)), 0) << "the messages themselves tell";
  // 13 000 bytes a host are a tenth: three messages of a byte, three of 4 KiB.
  EXPECT_EQ(probe_bytes_of(file, "small", rounded(int64_t{130000} * hosts())), sent);
  EXPECT_EQ(probe_bytes_of(file, "small again", rounded(int64_t{140000} * hosts())), 0) << "it is kept";
  const int64_t large = rounded(int64_t{4} << 20) * hosts(), probed = probe_bytes_of(file, "large", large);
  EXPECT_LE(probed, large / 10);
  EXPECT_EQ(probed > 0, hosts() > 1) << "longer messages tell more";
  EXPECT_EQ(probe_bytes_of(file, "large again", large + 512), 0);
  EXPECT_WINDROW_OK(windrow_close(file));
}

}  // namespace
