// SPDX-License-Identifier: BSD-3-Clause
// What all ranks read the same: one rank reads it, and a message to each other host brings it there, smaller where a
// codec makes it so. Values are right on every rank, what travels is counted to the byte, and a message that was
// damaged on its way is an error on all ranks. Where all ranks are on one host there is no message.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "../capi/checked.hpp"
#include "../capi/report.hpp"
#include "../damage.hpp"

namespace {

using namespace windrow_test;
using nlohmann::json;

constexpr int64_t k_floats = 100'003, k_rows = 300, k_columns = 61;
constexpr int64_t k_window = 65536, k_windows = (4 * k_floats + k_window - 1) / k_window;

// The first call is collective.
int host_of(int rank) {
  static const int each = ranks_per_host();
  return rank / each;
}
int hosts() {
  return host_of(size_of() - 1) + 1;
}

enum class Values {
  smooth,
  random,
  equal
};

std::vector<float> values_of(Values kind) {
  std::vector<float> all(k_floats, 3.25F);
  std::mt19937 generator(5);
  for (size_t i = 0; i < all.size(); ++i) {
    if (kind == Values::smooth)
      all[i] = std::floor(std::tanh(static_cast<float>(i) * 1e-5F) * 1000);
    const auto bits = static_cast<uint32_t>(generator());
    if (kind == Values::random)
      std::memcpy(&all[i], &bits, sizeof bits);
  }
  return all;
}

// Bit by bit: noise has numbers that are none.
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<std::string> codecs() {
  std::vector<std::string> built;
  for (const char* name : {"lzo", "lz4", "zstd"})
    if (windrow_has((std::string("codec=") + name).c_str()) == 1) {
      built.emplace_back(name);
      built.push_back(std::string(name) + "+shuffle");
    }
  if (windrow_has("codec=delta") == 1)
    built.emplace_back("delta");
  return built;
}

KeyValues with(const std::string& codec, bool checks = false) {
  return {{"buffer", std::to_string(k_window)}, {"codec", codec}, {"check_messages", checks ? "true" : "false"}};
}

class Broadcast : public testing::Test {
 protected:
  void SetUp() override {
    windrow_decomposition* made = nullptr;
    ASSERT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 0, nullptr, nullptr, nullptr, &made));
    whole_.reset(made);
  }

  std::string path() const { return folder_.file("same.raw"); }

  void write(const std::vector<float>& values) {
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), nullptr, &file));
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable(file, "table", WINDROW_FLOAT32, 1, &k_floats, &variable));
    EXPECT_WINDROW_OK(windrow_write(file, variable, whole_.get(), values.data()));
    EXPECT_WINDROW_OK(windrow_close(file));
  }

  // So many times one after the other; the report of the last.
  json read(const KeyValues& options, const std::vector<float>& want, int times = 2) {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, Options(options), &file));
    json report;
    for (int i = 0; i < times; ++i) {
      std::vector<float> got(want.size(), -1);
      EXPECT_WINDROW_OK(windrow_read(file, 0, whole_.get(), got.data()));
      EXPECT_TRUE(same_bits(got, want)) << "read " << i;
      report = report_of(file);
    }
    EXPECT_WINDROW_OK(windrow_close(file));
    return report;
  }

  static void expect_counts(const json& report) {
    EXPECT_EQ(report["plans"][0]["codec"] == "off", hosts() == 1);
    EXPECT_EQ(report["bytes_broadcast"], hosts() > 1 ? 4 * k_floats : 0);
    EXPECT_EQ(report["messages"], hosts() > 1 ? k_windows * (hosts() - 1) : 0);
    EXPECT_EQ(report["messages"], report["plans"][0]["expected"]["messages"]);
    EXPECT_EQ(report["bytes_before_codec"], 4 * k_floats * (hosts() - 1));
    EXPECT_EQ(report["description_messages"], 0);
    EXPECT_EQ(report["allocations"], 0) << "a kept plan";
    // All ranks' counters, each rank's own by receiver, and those of what became of messages are of the same bytes.
    int64_t mine[3] = {}, all[3] = {}, kinds[3] = {};
    for (const json& to : report["sent_by_this_rank"]) {
      EXPECT_NE(host_of(to["to"]), host_of(rank_of()));
      mine[0] += to["messages"].get<int64_t>();
      mine[1] += to["bytes"].get<int64_t>();
      mine[2] += to["bytes_sent"].get<int64_t>();
    }
    MPI_Allreduce(mine, all, 3, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (const json& each : report["codecs"]) {
      kinds[0] += each["messages"].get<int64_t>();
      kinds[1] += each["bytes_in"].get<int64_t>();
      kinds[2] += each["bytes_out"].get<int64_t>();
    }
    EXPECT_THAT(all,
                testing::ElementsAre(report["messages"].get<int64_t>(), report["bytes_before_codec"].get<int64_t>(),
                                     report["bytes_sent"].get<int64_t>()));
    EXPECT_THAT(kinds, testing::ElementsAreArray(all));
  }

  SharedFolder folder_;
  Decomposition whole_;
};

TEST_F(Broadcast, goes_to_all_at_once_without_a_codec) {
  for (const Values kind : {Values::smooth, Values::random, Values::equal}) {
    const std::vector<float> values = values_of(kind);
    write(values);
    const json report = read(with("off"), values);
    EXPECT_EQ(report["messages"], 0);
    EXPECT_EQ(report["bytes_sent"], 0);
    EXPECT_EQ(report["bytes_broadcast"], hosts() > 1 ? 4 * k_floats : 0);
    EXPECT_TRUE(report["codecs"].empty());
    EXPECT_EQ(report["codec_memory"], 0);
    EXPECT_EQ(report["plans"][0]["codec"], "off");
  }
}

TEST_F(Broadcast, less_travels_between_hosts_and_the_same_is_read) {
  for (const Values kind : {Values::smooth, Values::random, Values::equal}) {
    const std::vector<float> values = values_of(kind);
    write(values);
    for (const std::string& codec : codecs())
      for (const bool checks : {false, true}) {
        SCOPED_TRACE(codec + (checks ? ", checked" : ""));
        const json report = read(with(codec, checks), values);
        expect_counts(report);
        if (hosts() == 1)
          continue;
        EXPECT_EQ(report["plans"][0]["codec"], codec);
        const auto sent = report["bytes_sent"].get<int64_t>(), before = report["bytes_before_codec"].get<int64_t>(),
                   messages = report["messages"].get<int64_t>();
        if (kind == Values::smooth) {
          EXPECT_LT(3 * sent, before);
        }
        if (kind == Values::random) {
          EXPECT_GE(static_cast<double>(sent), 0.95 * static_cast<double>(before));
          EXPECT_LE(sent, before + (checks ? 16 * messages : 0));
        }
        if (kind == Values::equal) {
          EXPECT_EQ(sent, messages * (16 + 4));
        }
        double made = 0, undone = 0;
        for (const json& each : report["codecs"])
          made += each["seconds_encode"].get<double>(), undone += each["seconds_decode"].get<double>();
        EXPECT_GT(made, 0);
        EXPECT_EQ(undone > 0, kind != Values::random || checks);
      }
  }
}

TEST_F(Broadcast, auto_explains_itself) {
  for (const Values kind : {Values::smooth, Values::random, Values::equal}) {
    const std::vector<float> values = values_of(kind);
    write(values);
    const json report = read(with("auto"), values, 20);
    if (hosts() == 1)
      continue;
    EXPECT_EQ(report["plans"][0]["codec"], "auto");
    EXPECT_THAT(
        report["plans"][0]["reasons"].back(),
        testing::MatchesRegex("codec.*(far faster|no other is predicted|tried in turn|for each message| took ).*"));
    EXPECT_EQ(report["bytes_broadcast"], 4 * k_floats);
    if (report["messages"] == 0)
      continue;  // to leave it to MPI was found to be faster
    expect_counts(report);
    EXPECT_LE(report["bytes_sent"], report["bytes_before_codec"]);
    if (kind == Values::equal) {
      EXPECT_EQ(report["bytes_sent"], report["messages"].get<int64_t>() * 20);
    }
  }
}

TEST_F(Broadcast, is_checked_without_a_codec_too) {
  const std::vector<float> values = values_of(Values::random);
  write(values);
  const json report = read(with("off", true), values);
  EXPECT_EQ(report["plans"][0]["codec"], "off");
  EXPECT_EQ(report["messages"], hosts() > 1 ? k_windows * (hosts() - 1) : 0);
  EXPECT_EQ(report["bytes_before_codec"], 4 * k_floats * (hosts() - 1));
  EXPECT_LE(report["bytes_sent"].get<int64_t>(),
            report["bytes_before_codec"].get<int64_t>() + 16 * report["messages"].get<int64_t>());
  EXPECT_GE(report["bytes_sent"].get<int64_t>(), report["bytes_before_codec"].get<int64_t>());
}

// Several variables of other elements, with holes between and within them.
TEST_F(Broadcast, brings_parts_of_several_variables) {
  const int64_t shape[2] = {k_rows, k_columns}, start[2] = {3, 5}, count[2] = {k_rows - 10, k_columns - 20}, one = 1;
  std::vector<int32_t> grid(static_cast<size_t>(k_rows * k_columns));
  for (size_t i = 0; i < grid.size(); ++i)
    grid[i] = static_cast<int32_t>(i / 50);
  const double scalar = 2.5;
  const std::vector<float> table = values_of(Values::smooth);
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), nullptr, &file));
  int variables[3] = {-1, -1, -1};
  EXPECT_WINDROW_OK(windrow_define_variable(file, "grid", WINDROW_INT32, 2, shape, &variables[0]));
  EXPECT_WINDROW_OK(windrow_define_variable(file, "table", WINDROW_FLOAT32, 1, &k_floats, &variables[1]));
  EXPECT_WINDROW_OK(windrow_define_variable(file, "scalar", WINDROW_FLOAT64, 1, &one, &variables[2]));
  EXPECT_WINDROW_OK(windrow_put(file, variables[0], whole_.get(), grid.data()));
  EXPECT_WINDROW_OK(windrow_put(file, variables[1], whole_.get(), table.data()));
  EXPECT_WINDROW_OK(windrow_put(file, variables[2], whole_.get(), &scalar));
  EXPECT_WINDROW_OK(windrow_flush(file));
  EXPECT_WINDROW_OK(windrow_close(file));
  windrow_decomposition* made = nullptr;
  ASSERT_WINDROW_OK(windrow_same(MPI_COMM_WORLD, 2, shape, start, count, &made));
  const Decomposition part(made);
  std::vector<std::string> all = codecs();
  all.insert(all.end(), {"auto", "off"});
  for (const std::string& codec : all)
    for (const char* buffer : {"4096", "4MiB"})
      for (const char* checks : {"false", "true"}) {
        SCOPED_TRACE(codec + ", " + buffer + ", checked: " + checks);
        ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ,
                                       Options({{"buffer", buffer}, {"codec", codec}, {"check_messages", checks}}),
                                       &file));
        std::vector<int32_t> got(static_cast<size_t>(count[0] * count[1]), -1);
        std::vector<float> got_table(table.size(), -1);
        double got_scalar = -1;
        EXPECT_WINDROW_OK(windrow_get(file, variables[0], part.get(), got.data()));
        EXPECT_WINDROW_OK(windrow_get(file, variables[1], whole_.get(), got_table.data()));
        EXPECT_WINDROW_OK(windrow_get(file, variables[2], whole_.get(), &got_scalar));
        EXPECT_WINDROW_OK(windrow_flush(file));
        EXPECT_EQ(report_of(file)["bytes_broadcast"] > 0, hosts() > 1);
        EXPECT_WINDROW_OK(windrow_close(file));
        EXPECT_EQ(got_scalar, scalar);
        EXPECT_TRUE(same_bits(got_table, table));
        int wrong = 0;
        for (int64_t row = 0; row < count[0]; ++row)
          for (int64_t column = 0; column < count[1]; ++column)
            wrong += got[static_cast<size_t>(row * count[1] + column)] !=
                             grid[static_cast<size_t>((row + start[0]) * k_columns + column + start[1])]
                         ? 1
                         : 0;
        EXPECT_EQ(wrong, 0);
      }
}

// For any damaged message: the same error on all ranks, in time, and the next read of the same file is not affected.
TEST_F(Broadcast, a_damaged_message_is_an_error_on_all_ranks) {
  // If a message is too long, MPICH calls this error handler, for any communicator.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  damaged_tags = {5};  // data
  damaged_bytes_at_least = 24;
  for (const Values kind : {Values::smooth, Values::random}) {
    const std::vector<float> values = values_of(kind);
    write(values);
    std::vector<KeyValues> ways{with("off", true), with("auto"), with("auto", true)};
    for (const std::string& codec : codecs())
      ways.insert(ways.end(), {with(codec), with(codec, true)});
    for (const KeyValues& way : ways)
      for (const Damage kind_of_damage : {Damage::byte, Damage::shorter, Damage::longer, Damage::much_longer}) {
        if (kind_of_damage == Damage::byte && way.back().second != "true")
          continue;  // no check detects it
        SCOPED_TRACE(way[1].second + ", checked: " + way[2].second + ", damage " +
                     std::to_string(static_cast<int>(kind_of_damage)));
        windrow_file* file = nullptr;
        ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, Options(way), &file));
        std::vector<float> got(values.size(), -1);
        EXPECT_WINDROW_OK(windrow_get(file, 0, whole_.get(), got.data()));
        damaged_messages = 0;
        damage = kind_of_damage;
        const int code = windrow_flush(file);
        damage = Damage::none;
        int damaged = 0;
        MPI_Allreduce(&damaged_messages, &damaged, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        const bool may_rest = way[1].second == "auto" && way.back().second != "true";  // then MPI carries all
        if (!may_rest) {
          EXPECT_EQ(damaged > 0, hosts() > 1);
        }
        EXPECT_EQ(code, damaged > 0 ? WINDROW_INTERNAL : WINDROW_OK) << windrow_error_message();
        expect_same_everywhere(code);
        if (code != WINDROW_OK) {
          EXPECT_THAT(windrow_error_message(), testing::HasSubstr("message from"));
        }
        EXPECT_WINDROW_OK(windrow_get(file, 0, whole_.get(), got.data()));
        EXPECT_WINDROW_OK(windrow_flush(file));
        EXPECT_TRUE(same_bits(got, values));
        EXPECT_WINDROW_OK(windrow_close(file));
      }
  }
}

}  // namespace
