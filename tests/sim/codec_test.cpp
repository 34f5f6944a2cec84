// SPDX-License-Identifier: BSD-3-Clause
// What codecs make of messages between hosts, as it is simulated: less where links are slow, nothing where they are
// fast.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/compressor.hpp"
#include "sim/simulate.hpp"

namespace windrow::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr double k_slow = 1e6, k_fast = 1e15;

// Blocks of 8 ranks on 4 hosts; deflate is for chunks and not for messages.
Result<Simulation> run(double link_bytes_per_s, const char* codec, double shrinks_to = 0.5, bool reading = false) {
  Machine machine;
  machine.hosts = 4, machine.ranks_per_host = 2;
  machine.network.bytes_per_s = machine.network.host_bytes_per_s = link_bytes_per_s;
  machine.codecs = {{"deflate", 1e15, 1e15}, {"lz4", 4e8, 1e9}, {"zstd", 1e8, 5e8}};
  SimulationRequest request{.workload = {.division = Division::grid,
                                         .reading = reading,
                                         .ranks = 8,
                                         .shape = {64, 64, 64},
                                         .element_bytes = 4,
                                         .rank_grid = {2, 2, 2}},
                            .machine = machine,
                            .settings = {},
                            .library = {},
                            .shrinks_to = shrinks_to};
  EXPECT_TRUE(request.settings.set("codec", codec).ok());
  EXPECT_TRUE(request.settings.set("domains", "even").ok());
  return simulate(request);
}

double exchange_of(double link_bytes_per_s, const char* codec, double shrinks_to = 0.5, bool reading = false) {
  const auto simulation = run(link_bytes_per_s, codec, shrinks_to, reading);
  EXPECT_TRUE(simulation.ok()) << simulation.status().message();
  return simulation.ok() ? simulation.value().seconds.exchange : -1;
}

}  // namespace

TEST(SimulatedCodec, pays_where_links_are_slow) {
  for (const bool reading : {false, true}) {
    const double plain = exchange_of(k_slow, "off", 0.5, reading);
    EXPECT_NEAR(exchange_of(k_slow, "auto", 0.5, reading), plain / 2, plain / 50);
    EXPECT_NEAR(exchange_of(k_slow, "auto", 0.1, reading), plain / 10, plain / 50);
  }
  EXPECT_EQ(run(k_slow, "off").value().codec, "");
  EXPECT_THAT(run(k_slow, "auto").value().codec, StartsWith("lz4, to 0.5 of the bytes, in "));
  if (find_compressor("zstd") != nullptr) {
    EXPECT_THAT(run(k_slow, "zstd").value().codec, StartsWith("zstd, to 0.5 of the bytes, in "));
  }
  EXPECT_EQ(run(k_slow, "auto").value().message_bytes, run(k_slow, "off").value().message_bytes)
      << "counted before they are compressed";
}

TEST(SimulatedCodec, is_left_out_by_auto_where_it_costs_more_than_it_saves) {
  const double plain = exchange_of(k_fast, "off");
  EXPECT_EQ(exchange_of(k_fast, "auto"), plain);
  EXPECT_EQ(run(k_fast, "auto").value().codec, "");
  EXPECT_EQ(exchange_of(k_slow, "auto", 1), exchange_of(k_slow, "off", 1)) << "nothing shrinks";
  EXPECT_GT(exchange_of(k_fast, "lz4"), plain) << "asked for, it is used";
  if (find_compressor("zstd") != nullptr) {
    EXPECT_GT(exchange_of(k_fast, "zstd"), exchange_of(k_fast, "lz4"));
  }
}

TEST(SimulatedCodec, is_said_to_be_left_out_where_its_speed_is_not_known) {
  if (find_compressor("lzo") == nullptr)
    GTEST_SKIP() << "built without lzo";
  EXPECT_EQ(exchange_of(k_slow, "lzo"), exchange_of(k_slow, "off"));
  EXPECT_EQ(run(k_slow, "lzo").value().codec, "lzo is ignored: its speed is not in the machine file");
}

TEST(SimulatedCodec, cannot_shrink_to_nothing_or_more_than_all) {
  for (const double wrong : {0.0, -1.0, 1.5}) {
    const auto refused = run(k_slow, "auto", wrong);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().code(), Code::bad_argument);
    EXPECT_THAT(refused.status().message(), HasSubstr("it must be above 0 and at most 1"));
  }
}

}  // namespace windrow::test
