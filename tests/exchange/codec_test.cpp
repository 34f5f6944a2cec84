// SPDX-License-Identifier: BSD-3-Clause
// Messages between hosts made smaller on their way: what is written and read stays the same, what travels is less,
// counted to the byte; and a message that was damaged on its way is an error on all ranks. Where all ranks are on one
// host nothing is compressed, and the tests say so.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "../capi/checked.hpp"
#include "../capi/report.hpp"
#include "../damage.hpp"
#include "codec/compressor.hpp"

namespace {

using namespace windrow_test;
using nlohmann::json;

bool several_hosts() {
  return size_of() > ranks_per_host();
}

enum class Values {
  smooth,
  random,
  zeros,
  equal
};

// A mesh whose points go round the ranks, 25 values a point: every rank has a part of every window.
class Mesh {
 public:
  static constexpr int64_t k_points = 6000, k_load = 25;

  Mesh() {
    std::vector<int64_t> points;
    for (int64_t point = rank_of(); point < k_points; point += size_of())
      points.push_back(point);
    windrow_decomposition* made = nullptr;
    EXPECT_WINDROW_OK(
        windrow_points(MPI_COMM_WORLD, k_points, static_cast<int64_t>(points.size()), points.data(), nullptr, &made));
    decomposition.reset(made);
    mine = std::move(points);
  }

  std::vector<float> values(Values kind) const {
    std::vector<float> all;
    std::mt19937 generator(static_cast<unsigned>(rank_of() + 1));
    for (const int64_t point : mine)
      for (int64_t k = 0; k < k_load; ++k)
        switch (kind) {
          case Values::smooth:
            all.push_back(std::tanh(static_cast<float>(point * k_load + k) * 1e-5F));
            break;
          case Values::random: {
            const auto bits = static_cast<uint32_t>(generator());
            float value = 0;
            std::memcpy(&value, &bits, sizeof value);
            all.push_back(value);
            break;
          }
          case Values::zeros:
            all.push_back(0);
            break;
          case Values::equal:
            all.push_back(3.25F);
            break;
        }
    return all;
  }

  Decomposition decomposition;
  std::vector<int64_t> mine;
};

class Codec : public testing::Test {
 protected:
  // Writes, and gives the report; the bytes of the file go to `bytes`.
  json write(const KeyValues& options, const std::vector<float>& values, std::string& bytes, int flushes = 1) {
    const std::string path = folder_.file("mesh.raw");
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(), Options(options), &file));
    const int64_t shape[2] = {Mesh::k_points, Mesh::k_load};
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable(file, "potential", WINDROW_FLOAT32, 2, shape, &variable));
    json report;
    for (int i = 0; i < flushes; ++i) {
      EXPECT_WINDROW_OK(windrow_put(file, variable, mesh_.decomposition.get(), values.data()));
      EXPECT_WINDROW_OK(windrow_flush(file));
      report = report_of(file);
    }
    EXPECT_WINDROW_OK(windrow_close(file));
    bytes = bytes_of_file(path);
    MPI_Barrier(MPI_COMM_WORLD);
    return report;
  }

  json read(const KeyValues& options, const std::vector<float>& values) {
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(
        windrow_open(MPI_COMM_WORLD, folder_.file("mesh.raw").c_str(), WINDROW_READ, Options(options), &file));
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_find_variable(file, "potential", &variable));
    std::vector<float> got(values.size(), -1);
    EXPECT_WINDROW_OK(windrow_get(file, variable, mesh_.decomposition.get(), got.data()));
    EXPECT_WINDROW_OK(windrow_flush(file));
    const json report = report_of(file);
    EXPECT_WINDROW_OK(windrow_close(file));
    EXPECT_EQ(std::memcmp(got.data(), values.data(), values.size() * sizeof(float)), 0);
    return report;
  }

  static std::vector<std::string> codecs() {
    std::vector<std::string> built;
    for (const windrow::Compressor* compressor : windrow::compressors()) {
      built.emplace_back(compressor->name());
      if (compressor->shuffles())
        built.push_back(built.back() + "+shuffle");
      EXPECT_EQ(windrow_has(("codec=" + std::string(compressor->name())).c_str()), 1);
    }
    return built;
  }

  static KeyValues with(const std::string& codec) {
    return {{"domains", "even"}, {"buffer", "65536"}, {"codec", codec}};
  }

  static const json* kind(const json& report, const std::string& name) {
    for (const json& each : report["codecs"])
      if (each["codec"] == name)
        return &each;
    return nullptr;
  }

  SharedFolder folder_;
  Mesh mesh_;
};

TEST_F(Codec, less_travels_and_the_same_is_written_and_read) {
  const std::vector<float> values = mesh_.values(Values::smooth);
  std::string want, got;
  const json off = write(with("off"), values, want);
  const json off_read = read(with("off"), values);
  EXPECT_EQ(off["bytes_sent"], off["bytes_before_codec"]);
  EXPECT_TRUE(off["codecs"].empty());
  EXPECT_EQ(off["codec_memory"], 0);
  for (const std::string& codec : codecs()) {
    SCOPED_TRACE(codec);
    const json report = write(with(codec), values, got, 2);
    EXPECT_TRUE(got == want);
    EXPECT_EQ(report["messages"], off["messages"]) << "one message stays one message";
    EXPECT_EQ(report["bytes_before_codec"], off["bytes_before_codec"]);
    const json again = read(with(codec), values);
    EXPECT_EQ(again["messages"], off_read["messages"]);
    if (!several_hosts()) {
      EXPECT_EQ(report["bytes_sent"], off["bytes_sent"]);
      EXPECT_EQ(report["plans"][0]["codec"], "off");
      continue;
    }
    EXPECT_EQ(report["plans"][0]["codec"], codec);
    EXPECT_LE(report["bytes_sent"], off["bytes_sent"]);
    if (codec.ends_with("shuffle") || codec == "delta") {
      const json* made = kind(report, codec);
      ASSERT_NE(made, nullptr);
      EXPECT_GT((*made)["seconds_decode"], 0.0);
      EXPECT_GT(report["codec_memory"], 0);
      EXPECT_LT(1.3 * report["bytes_sent"].get<double>(), off["bytes_sent"].get<double>()) << "smooth numbers shrink";
      EXPECT_LT(1.3 * again["bytes_sent"].get<double>(), again["bytes_before_codec"].get<double>());
    }
  }
}

// The counters of all ranks, and each rank's own by receiver, are of the same bytes.
TEST_F(Codec, bytes_are_counted_before_and_after_for_each_receiver) {
  for (const std::string& codec : {std::string("off"), codecs().empty() ? std::string("off") : codecs().back()}) {
    SCOPED_TRACE(codec);
    std::string bytes;
    const json report = write(with(codec), mesh_.values(Values::smooth), bytes);
    int64_t mine[3] = {}, all[3] = {};
    for (const json& to : report["sent_by_this_rank"]) {
      EXPECT_NE(to["to"], rank_of());
      mine[0] += to["messages"].get<int64_t>();
      mine[1] += to["bytes"].get<int64_t>();
      mine[2] += to["bytes_sent"].get<int64_t>();
    }
    MPI_Allreduce(mine, all, 3, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    int64_t kinds[3] = {};
    for (const json& each : report["codecs"]) {
      kinds[0] += each["messages"].get<int64_t>();
      kinds[1] += each["bytes_in"].get<int64_t>();
      kinds[2] += each["bytes_out"].get<int64_t>();
    }
    EXPECT_EQ(all[0], report["messages"]);
    EXPECT_EQ(all[1], report["bytes_before_codec"]);
    EXPECT_EQ(all[2], report["bytes_sent"]);
    if (several_hosts() && codec != "off") {
      EXPECT_THAT(kinds, testing::ElementsAreArray(all))
          << "ranks of a host copy into shared buffers, so all messages go to other hosts";
    }
  }
}

// By receiver, from what a rank holds of each domain; a message of equal elements is a header of 16 bytes and one
// element.
TEST_F(Codec, bytes_to_each_receiver_are_those_of_its_domain) {
  for (const bool compressed : {false, true}) {
    if (compressed && codecs().empty())
      continue;
    SCOPED_TRACE(compressed ? "compressed" : "off");
    std::string bytes;
    const json report = write(with(compressed ? codecs().front() : "off"), mesh_.values(Values::equal), bytes);
    std::map<int, int64_t> want, got, sent;
    const json& plan = report["plans"][0];
    constexpr int64_t k_point = Mesh::k_load * static_cast<int64_t>(sizeof(float));
    for (size_t domain = 0; domain < plan["writers"].size(); ++domain) {
      const int writer = plan["writers"][domain];
      if (writer / ranks_per_host() == rank_of() / ranks_per_host())
        continue;
      const int64_t begin = plan["domain_bytes"][domain][0], end = plan["domain_bytes"][domain][1];
      for (const int64_t point : mesh_.mine)
        want[writer] += std::max<int64_t>(0, std::min(end, (point + 1) * k_point) - std::max(begin, point * k_point));
    }
    std::erase_if(want, [](const auto& each) { return each.second == 0; });
    for (const json& to : report["sent_by_this_rank"]) {
      got[to["to"]] = to["bytes"];
      EXPECT_EQ(to["bytes_sent"], compressed
                                      ? to["messages"].get<int64_t>() * (16 + static_cast<int64_t>(sizeof(float)))
                                      : to["bytes"].get<int64_t>());
    }
    EXPECT_EQ(got, want);
    const int mine = static_cast<int>(got.size());
    int receivers = 0;
    MPI_Allreduce(&mine, &receivers, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(receivers > 0, several_hosts());
  }
}

// While one message travels the next is compressed. Frames are longer than what MPI sends without being asked for, and
// there is one writer, so a message is on its way for a while.
TEST_F(Codec, messages_are_compressed_while_earlier_ones_travel) {
  constexpr int64_t k_rows = 64, k_columns = 1 << 16;
  const int64_t shape[2] = {k_rows, k_columns}, first = k_columns * rank_of() / size_of();
  const int64_t start[2] = {0, first}, count[2] = {k_rows, k_columns * (rank_of() + 1) / size_of() - first};
  std::vector<float> values(static_cast<size_t>(count[0] * count[1]));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<float>(i) * 1e-3F);
  for (const std::string& codec : {codecs().empty() ? std::string("off") : codecs().front(), std::string("off")}) {
    SCOPED_TRACE(codec);
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(
        windrow_create(MPI_COMM_WORLD, folder_.file("wide.raw").c_str(),
                       Options({{"domains", "even"}, {"writers", "1"}, {"buffer", "4MiB"}, {"codec", codec}}), &file));
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable(file, "height", WINDROW_FLOAT32, 2, shape, &variable));
    const bool compressed = several_hosts() && codec != "off";
    int64_t overlapped = 0;  // the same on all ranks
    // On a busy machine the writer may take one before its sender is at the next: of many that is not so with all.
    for (int attempt = 0; attempt < (compressed ? 20 : 1) && overlapped == 0; ++attempt) {
      EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, values.data()));
      const json report = report_of(file);
      overlapped = report["messages_overlapped"];
      EXPECT_LT(overlapped, report["messages"].get<int64_t>() + 1);
    }
    EXPECT_EQ(overlapped > 0, compressed);
    EXPECT_WINDROW_OK(windrow_close(file));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_F(Codec, what_does_not_shrink_travels_as_it_is) {
  const std::vector<float> values = mesh_.values(Values::random);
  std::string want, got;
  const json off = write(with("off"), values, want);
  for (const std::string& codec : codecs()) {
    SCOPED_TRACE(codec);
    const json report = write(with(codec), values, got);
    EXPECT_TRUE(got == want);
    EXPECT_LE(report["bytes_sent"], off["bytes_sent"]);
    EXPECT_GE(report["bytes_sent"].get<double>(), 0.95 * off["bytes_sent"].get<double>());
    read(with(codec), values);
  }
}

TEST_F(Codec, equal_elements_cost_a_few_bytes_and_no_compressor) {
  std::vector<std::string> all = codecs();
  all.emplace_back("auto");
  for (const Values kind_of_values : {Values::zeros, Values::equal})
    for (const std::string& codec : all) {
      SCOPED_TRACE(codec);
      const std::vector<float> values = mesh_.values(kind_of_values);
      std::string got;
      const json report = write(with(codec), values, got);
      read(with(codec), values);
      if (!several_hosts())
        continue;
      const json* equal = kind(report, "equal elements");
      ASSERT_NE(equal, nullptr);
      EXPECT_EQ((*equal)["messages"], report["messages"]);
      EXPECT_EQ(report["bytes_sent"], report["messages"].get<int64_t>() * (16 + 4));
    }
}

// Lists of places are compressed too, where they are long.
TEST_F(Codec, descriptions_travel_compressed) {
  if (codecs().empty() || !several_hosts())
    GTEST_SKIP() << "nothing travels between hosts";
  std::string bytes;
  // Points without a pattern, so that their list is long.
  std::vector<int64_t> order(Mesh::k_points);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  std::vector<int64_t> mine;
  for (size_t i = static_cast<size_t>(rank_of()); i < order.size(); i += static_cast<size_t>(size_of()))
    mine.push_back(order[i]);
  windrow_decomposition* made = nullptr;
  EXPECT_WINDROW_OK(
      windrow_points(MPI_COMM_WORLD, Mesh::k_points, static_cast<int64_t>(mine.size()), mine.data(), nullptr, &made));
  mesh_.decomposition.reset(made);
  mesh_.mine = mine;
  const std::vector<float> values = mesh_.values(Values::smooth);
  std::string want;
  const json off = write(with("off"), values, want);
  const auto all = windrow::compressors();
  if (std::ranges::none_of(all, [](const windrow::Compressor* each) { return each->does(1); }))
    GTEST_SKIP() << "no compressor of bytes is built in";
  EXPECT_EQ(off["description_bytes"], off["description_bytes_before_codec"]);
  for (const windrow::Compressor* each : all) {  // delta too, which is for numbers: another takes its place
    SCOPED_TRACE(each->name());
    const json report = write(with(std::string(each->name())), values, bytes);
    EXPECT_TRUE(bytes == want);
    EXPECT_EQ(report["description_bytes_before_codec"], off["description_bytes"]);
    EXPECT_LT(report["description_bytes"], off["description_bytes"]);
  }
}

// A flush in two calls is tuned by its exchange alone, independent of the program's work meanwhile, and reports the
// reason. Flushes of two files that are in flight have the same codec; the first one to end counts.
TEST_F(Codec, a_flush_in_two_is_tuned_too) {
  const std::vector<float> mine = mesh_.values(Values::smooth);
  const int64_t both_shape[2] = {Mesh::k_points, Mesh::k_load};
  windrow_file* files[2] = {};
  int of[2] = {-1, -1};
  for (int i = 0; i < 2; ++i) {
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder_.file("both" + std::to_string(i) + ".raw").c_str(),
                                     Options(with("auto")), &files[i]));
    EXPECT_WINDROW_OK(windrow_define_variable(files[i], "potential", WINDROW_FLOAT32, 2, both_shape, &of[i]));
  }
  for (int step = 0; step < 30; ++step) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_WINDROW_OK(windrow_put(files[i], of[i], mesh_.decomposition.get(), mine.data()));
      EXPECT_WINDROW_OK(windrow_flush_begin(files[i]));
    }
    for (int i = 0; i < 2; ++i)
      EXPECT_WINDROW_OK(windrow_flush_end(files[(i + step) % 2]));
  }
  for (windrow_file* each : files)
    EXPECT_WINDROW_OK(windrow_close(each));
  EXPECT_TRUE(bytes_of_file(folder_.file("both0.raw")) == bytes_of_file(folder_.file("both1.raw")));
  MPI_Barrier(MPI_COMM_WORLD);

  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder_.file("two.raw").c_str(), Options(with("auto")), &file));
  const int64_t shape[2] = {Mesh::k_points, Mesh::k_load};
  int variable = -1;
  EXPECT_WINDROW_OK(windrow_define_variable(file, "potential", WINDROW_FLOAT32, 2, shape, &variable));
  const std::vector<float> values = mesh_.values(Values::smooth);
  for (int i = 0; i < 20; ++i) {
    EXPECT_WINDROW_OK(windrow_put(file, variable, mesh_.decomposition.get(), values.data()));
    EXPECT_WINDROW_OK(windrow_flush_begin(file));
    EXPECT_WINDROW_OK(windrow_flush_end(file));
  }
  const json reasons = report_of(file)["plans"][0]["reasons"];
  if (several_hosts() && !codecs().empty()) {
    EXPECT_THAT(
        reasons.back(),
        testing::MatchesRegex("codec.*(far faster|no other is predicted|tried in turn|for each message| took ).*"));
  }
  EXPECT_WINDROW_OK(windrow_close(file));
}

TEST_F(Codec, auto_explains_itself_and_later_flushes_say_nothing_more) {
  const std::vector<float> values = mesh_.values(Values::smooth);
  std::string want, got;
  const json off = write(with("off"), values, want);
  for (const char* strategy : {"tpc", "auto"}) {
    const json report = write({{"strategy", strategy}, {"domains", "even"}, {"buffer", "65536"}}, values, got, 20);
    EXPECT_TRUE(got == want);
    EXPECT_EQ(report["messages"], off["messages"]);
    EXPECT_EQ(report["bytes_before_codec"], off["bytes_before_codec"]);
    EXPECT_LE(report["bytes_sent"], off["bytes_sent"]);
    EXPECT_EQ(report["description_messages"], 0) << "a kept plan";
    EXPECT_EQ(report["allocations"], 0);
    EXPECT_EQ(report["plans"][0]["codec"], several_hosts() ? "auto" : "off");
    if (several_hosts()) {
      EXPECT_THAT(
          report["plans"][0]["reasons"].back(),
          testing::MatchesRegex("codec.*(far faster|no other is predicted|tried in turn|for each message| took ).*"));
    }
  }
}

TEST_F(Codec, checked_messages_are_the_same_and_a_header_longer_at_most) {
  for (const char* shared : {"true", "false"}) {
    const KeyValues plain{{"domains", "even"}, {"buffer", "65536"}, {"shared_memory", shared}, {"codec", "off"}};
    KeyValues checked = plain;
    checked.emplace_back("check_messages", "true");
    for (const Values kind_of_values : {Values::smooth, Values::random}) {
      const std::vector<float> values = mesh_.values(kind_of_values);
      std::string want, got;
      const json off = write(plain, values, want);
      const json report = write(checked, values, got);
      EXPECT_TRUE(got == want);
      EXPECT_LE(report["bytes_sent"].get<int64_t>(),
                off["bytes_sent"].get<int64_t>() + 16 * off["messages"].get<int64_t>());
      read(checked, values);
    }
  }
}

// A checksum makes no message smaller that is to travel as it is: not with a codec of "off", nor between ranks of one
// host.
TEST_F(Codec, equal_elements_travel_as_they_are_where_nothing_is_compressed) {
  const std::vector<float> values = mesh_.values(Values::zeros);
  std::vector<std::string> all{"off"};
  if (!several_hosts())
    all = codecs();
  for (const std::string& codec : all) {
    SCOPED_TRACE(codec);
    std::string got;
    const json report = write({{"domains", "even"},
                               {"buffer", "65536"},
                               {"shared_memory", "false"},
                               {"codec", codec},
                               {"check_messages", "true"}},
                              values, got);
    EXPECT_EQ(kind(report, "equal elements"), nullptr);
    EXPECT_EQ(report["bytes_sent"],
              report["bytes_before_codec"].get<int64_t>() + 16 * report["messages"].get<int64_t>());
    EXPECT_EQ(report["messages"].get<int64_t>() > 0, size_of() > 1);
  }
}

// For any damaged message: the same error on all ranks, in time, and the existing file is unchanged.
TEST_F(Codec, a_damaged_message_is_an_error_on_all_ranks) {
  MPI_Comm_set_errhandler(
      MPI_COMM_WORLD,
      MPI_ERRORS_RETURN);  // if a message is too long, MPICH calls this error handler, for any communicator
  damaged_tags = {5};      // data
  damaged_bytes_at_least = 24;
  const KeyValues plain{{"domains", "even"}, {"buffer", "65536"}, {"shared_memory", "false"}, {"codec", "off"}};
  std::vector<KeyValues> ways{plain, plain};
  ways.back().emplace_back("check_messages", "true");
  if (several_hosts())
    for (const std::string& codec : codecs()) {
      ways.push_back(with(codec));
      ways.push_back(with(codec));
      ways.back().emplace_back("check_messages", "true");
    }
  const std::vector<float> values = mesh_.values(Values::smooth);
  const std::string path = folder_.file("mesh.raw");
  std::string want;
  write(with("off"), values, want);
  for (const KeyValues& way : ways)
    for (const Damage kind_of_damage : {Damage::byte, Damage::shorter, Damage::longer, Damage::much_longer}) {
      if (kind_of_damage == Damage::byte && way.back().first != "check_messages")
        continue;  // no check detects it
      windrow_file* file = nullptr;
      EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(), Options(way), &file));
      const int64_t shape[2] = {Mesh::k_points, Mesh::k_load};
      int variable = -1;
      EXPECT_WINDROW_OK(windrow_define_variable(file, "potential", WINDROW_FLOAT32, 2, shape, &variable));
      EXPECT_WINDROW_OK(windrow_put(file, variable, mesh_.decomposition.get(), values.data()));
      damage = kind_of_damage;
      const int code = windrow_flush(file);
      damage = Damage::none;
      if (size_of() > 1) {
        EXPECT_EQ(code, WINDROW_INTERNAL) << windrow_error_message();
        EXPECT_THAT(windrow_error_message(), testing::HasSubstr("message from"));
        EXPECT_NE(windrow_close(file), WINDROW_OK);
      } else {
        EXPECT_EQ(code, WINDROW_OK);
        EXPECT_WINDROW_OK(windrow_close(file));
      }
      EXPECT_TRUE(bytes_of_file(path) == want);
      MPI_Barrier(MPI_COMM_WORLD);
      // And to read.
      EXPECT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_READ, Options(way), &file));
      EXPECT_WINDROW_OK(windrow_find_variable(file, "potential", &variable));
      std::vector<float> got(values.size());
      EXPECT_WINDROW_OK(windrow_get(file, variable, mesh_.decomposition.get(), got.data()));
      const char* plan = nullptr;
      EXPECT_WINDROW_OK(windrow_explain(file, "json", &plan));
      const bool messages = json::parse(plan)[0]["expected"]["messages"] > 0;
      damage = kind_of_damage;
      const int read_code = windrow_flush(file);
      damage = Damage::none;
      EXPECT_EQ(read_code, messages ? WINDROW_INTERNAL : WINDROW_OK) << windrow_error_message();
      // The next read of the same file is not affected.
      EXPECT_WINDROW_OK(windrow_get(file, variable, mesh_.decomposition.get(), got.data()));
      EXPECT_WINDROW_OK(windrow_flush(file));
      EXPECT_EQ(std::memcmp(got.data(), values.data(), values.size() * sizeof(float)), 0);
      EXPECT_WINDROW_OK(windrow_close(file));
    }
}

// What ranks say they have, with a checksum whether messages have one or not: what is wrong and can be read would let
// ranks wait for ever.
TEST_F(Codec, a_damaged_description_is_an_error_on_all_ranks) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const std::vector<float> values = mesh_.values(Values::smooth);
  std::string want;
  write(with("off"), values, want);
  for (const auto& [codec, checks] :
       {std::pair("off", "false"), std::pair("off", "true"), std::pair("auto", "false"), std::pair("auto", "true")})
    for (const Damage kind_of_damage : {Damage::byte, Damage::shorter, Damage::longer, Damage::much_longer}) {
      const KeyValues way{{"domains", "even"},
                          {"buffer", "65536"},
                          {"shared_memory", "false"},
                          {"codec", codec},
                          {"check_messages", checks}};
      windrow_file* file = nullptr;
      ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder_.file("mesh.raw").c_str(), Options(way), &file));
      const int64_t shape[2] = {Mesh::k_points, Mesh::k_load};
      int variable = -1;
      EXPECT_WINDROW_OK(windrow_define_variable(file, "potential", WINDROW_FLOAT32, 2, shape, &variable));
      EXPECT_WINDROW_OK(windrow_put(file, variable, mesh_.decomposition.get(), values.data()));
      damaged_tags = {1, 2, 3};     // notices and descriptions
      damaged_bytes_at_least = 16;  // a notice of a long one is a number alone, which may be any
      damaged_messages = 0;
      damage = kind_of_damage;
      const int code = windrow_flush(file);
      damage = Damage::none;
      int damaged = 0;
      MPI_Allreduce(&damaged_messages, &damaged, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      EXPECT_EQ(damaged > 0, size_of() > 1);
      EXPECT_EQ(code, damaged > 0 ? WINDROW_INTERNAL : WINDROW_OK) << windrow_error_message();
      EXPECT_WINDROW_OK(windrow_discard(file));  // nothing was written yet
      EXPECT_TRUE(bytes_of_file(folder_.file("mesh.raw")) == want);
      MPI_Barrier(MPI_COMM_WORLD);
    }
}

// Consecutive rows: a rank's message is contiguous in the window, so it is decompressed directly into it.
TEST_F(Codec, rows_are_undone_at_their_place) {
  constexpr int64_t k_rows = 4000, k_columns = 40;
  const int64_t shape[2] = {k_rows, k_columns}, first = k_rows * rank_of() / size_of(), start[2] = {first, 0},
                count[2] = {k_rows * (rank_of() + 1) / size_of() - first, k_columns};
  std::vector<float> values(static_cast<size_t>(count[0] * k_columns));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::floor(static_cast<float>(first * k_columns) / 64 + static_cast<float>(i) / 64);
  std::string want;
  int64_t copied = 0;  // as they are
  for (const std::string& codec : [] {
         auto all = codecs();
         all.insert(all.begin(), "off");
         return all;
       }())
    for (const char* checks : {"false", "true"}) {
      SCOPED_TRACE(codec + ", checked: " + checks);
      KeyValues way = with(codec);
      way.emplace_back("writers", "1");
      way.emplace_back("check_messages", checks);
      windrow_file* file = nullptr;
      ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder_.file("rows.raw").c_str(), Options(way), &file));
      int variable = -1;
      EXPECT_WINDROW_OK(windrow_define_variable(file, "height", WINDROW_FLOAT32, 2, shape, &variable));
      EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, values.data()));
      const json report = report_of(file);
      if (want.empty())
        copied = report["bytes_copied"];
      // A frame that arrived where its message will be is moved away first; a frame with a checksum arrives next to it.
      const bool aside = codec != "off" && std::string(checks) == "false";
      int64_t frames = 0;
      for (const json& each : report["codecs"])
        if (each["codec"] != "uncompressed")
          frames += each["bytes_out"].get<int64_t>();
      EXPECT_EQ(report["bytes_copied"], copied + (aside ? frames : 0));
      if (codec != "off" && several_hosts()) {
        EXPECT_LT(report["bytes_sent"].get<int64_t>(), report["bytes_before_codec"].get<int64_t>() / 2);
      }
      std::vector<float> back(values.size(), -1);
      EXPECT_WINDROW_OK(windrow_read_block(file, variable, start, count, back.data()));
      EXPECT_EQ(back, values);
      EXPECT_WINDROW_OK(windrow_close(file));
      if (want.empty())
        want = bytes_of_file(folder_.file("rows.raw"));
      EXPECT_TRUE(bytes_of_file(folder_.file("rows.raw")) == want);
      MPI_Barrier(MPI_COMM_WORLD);
    }
}

// Where a link is slow, as over tests/network's of 100 Mbit/s: what shrinks is sent smaller, noise as it is, and what
// shrinks again smaller again. How soon is a matter of seconds that are measured, also of a busy machine: so there are
// ten times as many flushes for it as an idle one needs.
TEST_F(Codec, auto_follows_the_data_over_a_slow_link) {
  if (std::getenv("WINDROW_SLOW_LINK") == nullptr || codecs().empty())
    GTEST_SKIP() << "the link is not known to be slow, or there is no compressor";
  const std::string path = folder_.file("mesh.raw");
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(),
                                   Options({{"domains", "even"}, {"writers", "1"}, {"codec", "auto"}}), &file));
  const int64_t shape[2] = {Mesh::k_points, Mesh::k_load};
  int variable = -1;
  EXPECT_WINDROW_OK(windrow_define_variable(file, "potential", WINDROW_FLOAT32, 2, shape, &variable));
  // Every eighth flush looks at the data; what it finds is tried, of each kind three flushes.
  for (const auto& [kind_of_values, flushes] :
       {std::pair{Values::smooth, 16}, {Values::random, 24}, {Values::smooth, 40}}) {
    SCOPED_TRACE(flushes);
    const std::vector<float> values = mesh_.values(kind_of_values);
    const auto followed = [kind = kind_of_values](double shrunk) {
      return kind == Values::smooth ? shrunk < 0.8 : shrunk >= 0.95;
    };
    double shrunk = 0;
    for (int i = 0; i < flushes || (i < 10 * flushes && !followed(shrunk)); ++i) {
      EXPECT_WINDROW_OK(windrow_put(file, variable, mesh_.decomposition.get(), values.data()));
      EXPECT_WINDROW_OK(windrow_flush(file));
      const json report = report_of(file);
      shrunk = report["bytes_sent"].get<double>() / report["bytes_before_codec"].get<double>();
    }
    EXPECT_PRED1(followed, shrunk);
    EXPECT_LE(shrunk, 1);
  }
  EXPECT_WINDROW_OK(windrow_close(file));
}

}  // namespace
