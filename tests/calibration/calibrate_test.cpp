// SPDX-License-Identifier: BSD-3-Clause
// windrow_calibrate and windrow_advise: a machine file that passes the checks, no leftover files, and the same error on
// all ranks.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <fstream>
#include <numeric>

#include "../capi/checked.hpp"

namespace {

using namespace windrow_test;
using nlohmann::json;
using testing::HasSubstr;

class Calibration : public testing::Test {
 protected:
  std::string machine_file() const { return folder_.file("a machine.json"); }
  static json read(const std::string& path) { return json::parse(bytes_of_file(path)); }
  void write_file(const std::string& name, const std::string& text) {
    if (rank_of() == 0)
      std::ofstream(name, std::ios::binary) << text;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  int calibrate(const std::string& directory, const KeyValues& values, const std::string& file) {
    const int code = windrow_calibrate(MPI_COMM_WORLD, directory.c_str(), Options(values), file.c_str());
    expect_same_everywhere(code);
    return code;
  }
  // Short pieces of all ranks, `flushes` times, traced.
  void traced(const std::string& trace, int flushes) {
    constexpr int64_t k_rows = 2000, k_columns = 24;
    windrow_file* file = nullptr;
    const int64_t shape[2] = {k_rows, k_columns * size_of()}, start[2] = {0, k_columns * rank_of()},
                  count[2] = {k_rows, k_columns};
    const std::vector<double> data(static_cast<size_t>(k_rows * k_columns), 1);
    int variable = -1;
    ASSERT_WINDROW_OK(
        windrow_create(MPI_COMM_WORLD, folder_.file("traced.raw").c_str(), Options({{"trace", trace}}), &file));
    EXPECT_WINDROW_OK(windrow_define_variable(file, "grid", WINDROW_FLOAT64, 2, shape, &variable));
    for (int i = 0; i < flushes; ++i)
      EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, data.data()));
    EXPECT_WINDROW_OK(windrow_close(file));
  }

  SharedFolder folder_;
};

TEST_F(Calibration, makes_a_machine_file_and_leaves_nothing_else) {
  ASSERT_EQ(calibrate(folder_.path(), {{"layout", "mock:stripe=1MiB,count=2"}}, machine_file()), WINDROW_OK)
      << windrow_error_message();
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"a machine.json"});
  MPI_Barrier(MPI_COMM_WORLD);
  const json machine = read(machine_file());
  EXPECT_EQ(machine["hosts"].get<int>() * machine["ranks_per_host"].get<int>() >= size_of(), true);
  EXPECT_EQ(machine["storage"]["targets"], 2);
  EXPECT_GT(machine["memory"]["copy_bytes_per_s"], 1e6);
  bool all = false, in_turn = false, by_target = false;
  for (const json& rate : machine["writes"]) {
    EXPECT_GT(rate["bytes_per_s"], 0);
    all = all || rate["ranks"] == size_of();
    in_turn = in_turn || (rate["sharing"] == "interleaved" && rate["ranks"] > 1);
    by_target = by_target || (rate["sharing"] == "targets" && rate["ranks"] == 2);
  }
  EXPECT_TRUE(all);
  EXPECT_EQ(in_turn, size_of() > 1);
  EXPECT_EQ(by_target, size_of() > 1);
  EXPECT_FALSE(machine["reads"].empty());
  // It is one that a file can be opened with, and it is replaced as a whole.
  windrow_file* file = nullptr;
  EXPECT_WINDROW_OK(
      windrow_create(MPI_COMM_WORLD, folder_.file("a.raw").c_str(), Options({{"machine", machine_file()}}), &file));
  EXPECT_WINDROW_OK(windrow_discard(file));
}

TEST_F(Calibration, that_fails_leaves_the_machine_file_as_it_was) {
  write_file(machine_file(), "the one before");
  EXPECT_EQ(calibrate(folder_.file("no folder"), {}, machine_file()), WINDROW_NOT_FOUND);
  EXPECT_THAT(windrow_error_message(), HasSubstr("no folder"));
  // One rank's storage fails in the middle of a trial.
  for (int victim = 0; victim < size_of(); ++victim)
    EXPECT_EQ(calibrate(folder_.path(),
                        {{"store", "faulty"},
                         {"fault", "rank=" + std::to_string(victim) + ",operation=write,after=2,error=no_space"}},
                        machine_file()),
              WINDROW_NO_SPACE);
  EXPECT_EQ(bytes_of_file(machine_file()), "the one before");
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"a machine.json"});
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(calibrate("", {}, machine_file()), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(windrow_calibrate(MPI_COMM_WORLD, rank_of() == size_of() - 1 ? nullptr : folder_.path().c_str(), nullptr,
                              machine_file().c_str()),
            WINDROW_BAD_ARGUMENT);
  if (size_of() > 1) {
    EXPECT_EQ(windrow_calibrate(MPI_COMM_WORLD, folder_.path().c_str(), nullptr,
                                (machine_file() + std::to_string(rank_of())).c_str()),
              WINDROW_BAD_ARGUMENT);
  }
}

TEST_F(Calibration, advice_tells_kinds_of_flushes_with_both_seconds) {
  const std::string trace = folder_.file("a trace.jsonl");
  traced(trace, 3);
  MPI_Barrier(MPI_COMM_WORLD);
  json machine{{"windrow machine", 1}, {"name", "one"}, {"writes", json::array()}};
  for (const int ranks : {1, 2, 4, 8})
    machine["writes"].push_back({{"request_bytes", 4096}, {"ranks", ranks}, {"bytes_per_s", 1e5 * ranks * ranks}});
  write_file(machine_file(), machine.dump());
  const char* text = nullptr;
  ASSERT_WINDROW_OK(windrow_advise(trace.c_str(), machine_file().c_str(), "json", &text));
  const json advice = json::parse(text);
  EXPECT_EQ(advice["damage"], "");
  ASSERT_EQ(advice["kinds"].size(), 1U);
  EXPECT_EQ(advice["kinds"][0]["flushes"], (std::vector<int>{1, 2, 3}));
  EXPECT_GT(advice["kinds"][0]["measured_s"], 0);
  EXPECT_GT(advice["kinds"][0]["advised"]["predicted_s"], 0);
  ASSERT_WINDROW_OK(windrow_advise(trace.c_str(), nullptr, "text", &text));
  EXPECT_THAT(text, HasSubstr("3 flushes"));
  EXPECT_THAT(text, HasSubstr("no machine file"));
}

TEST_F(Calibration, advice_of_what_is_damaged_tells_what_came_before) {
  const std::string trace = folder_.file("a trace.jsonl"), cut = folder_.file("cut.jsonl");
  traced(trace, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  const std::string whole = bytes_of_file(trace);
  if (rank_of() == 0) {
    const char* text = nullptr;
    for (size_t length = whole.size() - 1; length > whole.find('\n') + 2; length -= std::min<size_t>(length, 211)) {
      std::ofstream(cut, std::ios::binary) << whole.substr(0, length);
      ASSERT_WINDROW_OK(windrow_advise(cut.c_str(), nullptr, "json", &text)) << length;
      EXPECT_THAT(json::parse(text)["damage"].get<std::string>(), testing::AnyOf(HasSubstr("cut"), testing::Eq("")))
          << length;
    }
    for (const auto& [bytes, part] : {std::pair<std::string, std::string>{"", "is empty"},
                                      {"hello\n", "not a trace"},
                                      {"{\"windrow trace\":7}\n", "version 7"}}) {
      std::ofstream(cut, std::ios::binary) << bytes;
      EXPECT_EQ(windrow_advise(cut.c_str(), nullptr, "text", &text), WINDROW_BAD_FILE);
      EXPECT_THAT(windrow_error_message(), HasSubstr(part));
    }
    EXPECT_EQ(windrow_advise("no such trace", nullptr, "text", &text), WINDROW_NOT_FOUND);
    EXPECT_EQ(windrow_advise(trace.c_str(), "no such machine", "text", &text), WINDROW_NOT_FOUND);
    EXPECT_EQ(windrow_advise(trace.c_str(), nullptr, "html", &text), WINDROW_BAD_ARGUMENT);
    EXPECT_EQ(windrow_advise(nullptr, nullptr, "text", &text), WINDROW_BAD_ARGUMENT);
    // An impossible number in the pattern makes the line invalid.
    std::string absurd = whole;
    const size_t at = absurd.find("\"pieces\":");
    ASSERT_NE(at, std::string::npos);
    for (const char* number : {"-", "1e300,\"x\":", "null,\"x\":"}) {
      std::string changed = absurd;
      for (size_t place = changed.find("\"pattern\":{"); place != std::string::npos;
           place = changed.find("\"pattern\":{", place + 1)) {
        const size_t pieces = changed.find("\"pieces\":", place);
        changed.insert(pieces + 9, number);
      }
      std::ofstream(cut, std::ios::binary) << changed;
      ASSERT_WINDROW_OK(windrow_advise(cut.c_str(), nullptr, "json", &text));
      EXPECT_NE(json::parse(text)["damage"], "") << number;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
