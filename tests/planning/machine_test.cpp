// SPDX-License-Identifier: BSD-3-Clause
// The option machine: which axes the model chooses, and that an invalid machine file is an error on all ranks before
// anything is written.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <numeric>
#include <random>

#include "../capi/files.hpp"
#include "codec/compressor.hpp"

namespace {

using namespace windrow_test;
using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

// Writers with parts of their own are as much faster as there are more of them.
std::string scaling_machine() {
  json machine{{"windrow machine", 1}, {"name", "a scaling one"}, {"writes", json::array()}};
  for (const int ranks : {1, 2, 4, 8})
    for (const int bytes : {4096, 4 << 20})
      machine["writes"].push_back({{"request_bytes", bytes}, {"ranks", ranks}, {"bytes_per_s", 1e6 * ranks}});
  machine["writes"].push_back(
      {{"request_bytes", 4096}, {"ranks", 1}, {"bytes_per_s", 1e3}, {"sharing", "interleaved"}});
  return machine.dump();
}

class Machines : public Files {
 protected:
  static constexpr int64_t k_rows = 6000, k_columns = 24;  // more than a MiB of each rank
  std::string machine_file() const { return folder_.file("a machine.json"); }
  void make_machine(const std::string& text) {
    if (rank_of() == 0)
      std::ofstream(machine_file(), std::ios::binary) << text;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void expect_error(const std::string& name, int code, const std::string& part) {
    windrow_file* file = nullptr;
    const int found = windrow_create(MPI_COMM_WORLD, path().c_str(), Options({{"machine", name}}), &file);
    EXPECT_EQ(found, code);
    EXPECT_THAT(windrow_error_message(), HasSubstr(name)) << part;
    EXPECT_THAT(windrow_error_message(), HasSubstr(part));
    expect_same_everywhere(found);
    EXPECT_EQ(file, nullptr);
    for (const std::string& left : folder_.names())
      EXPECT_THAT(left, testing::Not(HasSubstr("windrow-")));
  }
  // Short pieces of every rank, all over the file, written and flushed; what the plan says.
  json written(const KeyValues& values) {
    windrow_file* file = nullptr;
    const int64_t shape[2] = {k_rows, k_columns * size_of()}, start[2] = {0, k_columns * rank_of()},
                  count[2] = {k_rows, k_columns};
    std::vector<double> data(static_cast<size_t>(k_rows * k_columns));
    std::iota(data.begin(), data.end(), 1e6 * rank_of());
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), Options(values), &file));
    EXPECT_WINDROW_OK(windrow_define_variable(file, "grid", WINDROW_FLOAT64, 2, shape, &variable));
    EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, data.data()));
    const char* text = nullptr;
    EXPECT_WINDROW_OK(windrow_report(file, "text", &text));
    EXPECT_THAT(text, HasSubstr("predicted"));
    EXPECT_WINDROW_OK(windrow_report(file, "json", &text));
    const json plan = json::parse(text)["plans"].at(0);
    std::vector<double> back(data.size(), -1);
    EXPECT_WINDROW_OK(windrow_read_block(file, variable, start, count, back.data()));
    EXPECT_EQ(back, data);
    EXPECT_WINDROW_OK(windrow_close(file));
    return plan;
  }
};

json chosen_of(const json& plan) {
  for (const json& each : plan["predicted"]["alternatives"])
    if (each["chosen"])
      return each;
  ADD_FAILURE() << "no alternative is chosen";
  return {};
}

TEST_P(Machines, that_are_none_are_errors_on_all_ranks) {
  expect_error(folder_.file("no such file.json"), WINDROW_NOT_FOUND, "no such file");
  expect_error(folder_.path(), WINDROW_BAD_ARGUMENT, "a folder");
  const std::string sound = scaling_machine();
  for (const auto& [text, part] :
       {std::pair<std::string, std::string>{"", "not JSON"},
        {sound.substr(0, sound.size() / 2), "not JSON"},
        {"{}", "windrow machine"},
        {R"({"windrow machine": 2})", "version 2"},
        {R"({"windrow machine": 1, "hosts": -4})", "hosts"},
        {R"({"windrow machine": 1, "network": {"latency_s": 1e300}})", "network.latency_s"}}) {
    make_machine(text);
    expect_error(machine_file(), WINDROW_BAD_FILE, part);
  }
}

TEST_P(Machines, let_what_is_predicted_decide) {
  make_machine(scaling_machine());
  const json plan = written({{"machine", machine_file()}, {"layout", "none"}});
  const json chosen = chosen_of(plan);
  EXPECT_EQ(plan["predicted"]["machine"], "a scaling one");
  EXPECT_EQ(plan["predicted"]["measured"], true);
  EXPECT_EQ(chosen["writers"].get<size_t>(), plan["writers"].size());
  EXPECT_EQ(chosen["domains"], plan["domains"]);
  // A single rank has one piece, so nothing is aggregated.
  EXPECT_EQ(plan["writers"].size(), static_cast<size_t>(size_of() < 2 ? 0 : size_of()));
  EXPECT_EQ(plan["pattern"]["bytes"].get<int64_t>(), k_rows * k_columns * 8 * size_of());
}

// Ranks of several hosts look at a little of what they write before they plan how.
TEST_P(Machines, know_what_messages_shrink_to) {
  json machine = json::parse(scaling_machine());
  machine["codecs"] = json::array({{{"name", "lz4"}, {"encode_bytes_per_s", 1e9}, {"decode_bytes_per_s", 2e9}}});
  make_machine(machine.dump());
  const bool looks = size_of() > ranks_per_host() && !windrow::compressors().empty();
  const int64_t shape[2] = {2000, 16 * size_of()}, start[2] = {0, 16 * rank_of()}, count[2] = {2000, 16};
  for (const bool zeros : {true, false}) {
    std::vector<double> data(2000 * 16, 0);
    std::mt19937_64 random(static_cast<uint64_t>(rank_of()));
    if (!zeros)
      for (double& each : data)
        each = std::ldexp(static_cast<double>(random()), -20);
    windrow_file* file = nullptr;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), Options({{"machine", machine_file()}}), &file));
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable(file, "grid", WINDROW_FLOAT64, 2, shape, &variable));
    EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, data.data()));
    const char* text = nullptr;
    EXPECT_WINDROW_OK(windrow_report(file, "json", &text));
    EXPECT_EQ(json::parse(text)["plans"][0]["pattern"]["shrinks_to_of_64"], !looks ? 0 : zeros ? 1 : 64);
    EXPECT_WINDROW_OK(windrow_close(file));
  }
}

TEST_P(Machines, that_nobody_measured_leave_the_rule_alone) {
  const json plan = written({{"layout", "none"}});
  EXPECT_EQ(plan["predicted"]["measured"], false);
  EXPECT_EQ(plan["writers"].size(),
            static_cast<size_t>(size_of() / ranks_per_host() + (size_of() % ranks_per_host() != 0 ? 1 : 0)) *
                (plan["domains"] == "none" ? 0 : 1));
  EXPECT_EQ(chosen_of(plan)["domains"], plan["domains"]);
  EXPECT_GT(chosen_of(plan)["seconds"]["total"], 0);
}

TEST_P(Machines, stay_with_the_file_when_its_strategy_changes) {
  make_machine(scaling_machine());
  windrow_file* file = nullptr;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), Options({{"machine", machine_file()}}), &file));
  EXPECT_WINDROW_OK(windrow_set_strategy(file, Options({{"domains", "even"}, {"writers", "1"}})));
  EXPECT_EQ(windrow_set_strategy(file, Options({{"machine", "another"}})), WINDROW_BAD_ARGUMENT);
  const int64_t shape[1] = {1000 * size_of()}, start[1] = {1000 * rank_of()}, count[1] = {1000};
  int variable = -1;
  const std::vector<double> data(1000, 1);
  EXPECT_WINDROW_OK(windrow_define_variable(file, "row", WINDROW_FLOAT64, 1, shape, &variable));
  EXPECT_WINDROW_OK(windrow_write_block(file, variable, start, count, data.data()));
  const char* text = nullptr;
  EXPECT_WINDROW_OK(windrow_explain(file, "text", &text));
  EXPECT_THAT(text, HasSubstr("machine  a scaling one"));
  EXPECT_THAT(text, HasSubstr("predicted even, 1 writer"));
  EXPECT_WINDROW_OK(windrow_close(file));
}

INSTANTIATE_TEST_SUITE_P(Raw, Machines, testing::Values(".raw"));

}  // namespace
