// SPDX-License-Identifier: BSD-3-Clause
// The option trace: what a line says is what the report says, the ranks' words are counted, and nothing that goes wrong
// with it is the program's error.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <numeric>

#include "../capi/files.hpp"
#include "../capi/report.hpp"

namespace {

struct Calls {
  int64_t gathers = 0, others = 0;
  friend bool operator==(const Calls&, const Calls&) = default;
} calls;

}  // namespace

// MPI's profiling interface: the library in this program sends by these functions.
extern "C" int MPI_Igather(const void* from, int count, MPI_Datatype type, void* to, int counts, MPI_Datatype types,
                           int root, MPI_Comm comm, MPI_Request* request) {
  ++calls.gathers;
  return PMPI_Igather(from, count, type, to, counts, types, root, comm, request);
}
extern "C" int MPI_Igatherv(const void* from, int count, MPI_Datatype type, void* to, const int* counts,
                            const int* places, MPI_Datatype types, int root, MPI_Comm comm, MPI_Request* request) {
  ++calls.gathers;
  return PMPI_Igatherv(from, count, type, to, counts, places, types, root, comm, request);
}
extern "C" int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  ++calls.others;
  return PMPI_Isend(from, count, type, to, tag, comm, request);
}
extern "C" int MPI_Send(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ++calls.others;
  return PMPI_Send(from, count, type, to, tag, comm);
}
extern "C" int MPI_Sendrecv(const void* from, int count, MPI_Datatype type, int to, int tag, void* into, int counts,
                            MPI_Datatype types, int source, int tags, MPI_Comm comm, MPI_Status* status) {
  ++calls.others;
  return PMPI_Sendrecv(from, count, type, to, tag, into, counts, types, source, tags, comm, status);
}
extern "C" int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                              MPI_Request* request) {
  ++calls.others;
  return PMPI_Iallreduce(from, to, count, type, op, comm, request);
}
extern "C" int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++calls.others;
  return PMPI_Allreduce(from, to, count, type, op, comm);
}
extern "C" int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  ++calls.others;
  return PMPI_Bcast(data, count, type, root, comm);
}

namespace {

using namespace windrow_test;
using nlohmann::json;
using testing::HasSubstr;

int64_t sum_of(const json& list) {
  return std::accumulate(list.begin(), list.end(), int64_t{0},
                         [](int64_t sum, const json& each) { return sum + each.get<int64_t>(); });
}

int64_t requests_of(const json& sizes) {
  int64_t sum = 0;
  for (const json& each : sizes)
    sum += each[1].get<int64_t>();
  return sum;
}

class Traces : public Files {
 protected:
  std::string trace() const { return folder_.file("a trace <of> ü.jsonl"); }
  windrow_file* create_traced(KeyValues values, const std::string& trace,
                              const std::string& name = "file & more") const {
    if (!trace.empty())
      values.push_back({"trace", trace});
    const Options options(values);
    windrow_file* file = nullptr;
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path(name).c_str(), options, &file));
    return file;
  }
  // Columns of a grid; the last rank, where it is not the only one, has none.
  static constexpr int64_t k_rows = 300, k_columns = 16;
  static bool holds() { return size_of() == 1 || rank_of() + 1 < size_of(); }
  static int define_grid(windrow_file* file, const char* name) {
    const int64_t shape[2] = {k_rows, k_columns * std::max(1, size_of() - 1)};
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable(file, name, WINDROW_FLOAT64, 2, shape, &variable));
    return variable;
  }
  static int write_grid(windrow_file* file, int variable) {
    const int64_t start[2] = {0, holds() ? k_columns * rank_of() : 0}, count[2] = {k_rows, holds() ? k_columns : 0};
    const std::vector<double> data(static_cast<size_t>(k_rows * k_columns), 1.5 + rank_of());
    return windrow_write_block(file, variable, start, count, data.data());
  }
  std::vector<json> lines() const {
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<json> found;
    std::ifstream stream(trace());
    for (std::string line; std::getline(stream, line);)
      found.push_back(json::parse(line));
    return found;
  }
  // Those that have a name: "windrow trace", "flush" or, alone, "details".
  static std::vector<json> lines_with(const char* name, std::vector<json> found) {
    std::erase_if(found, [&](const json& line) {
      return !line.contains(name) || (name == std::string("details") && line.contains("flush"));
    });
    return found;
  }
  // Columns of a decomposition that is made once.
  static Decomposition columns() {
    const int64_t shape[2] = {k_rows, k_columns * std::max(1, size_of() - 1)};
    const int64_t start[2] = {0, holds() ? k_columns * rank_of() : 0}, held[2] = {k_rows, holds() ? k_columns : 0};
    windrow_decomposition* raw = nullptr;
    EXPECT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, shape, start, held, nullptr, nullptr, &raw));
    return Decomposition(raw);
  }
};

}  // namespace

TEST_P(Traces, say_what_the_report_says) {
  std::vector<json> reports;
  for (const KeyValues& values : {KeyValues{}, KeyValues{{"strategy", "two-phase"}}, KeyValues{{"strategy", "list"}},
                                  KeyValues{{"domains", "aligned"},
                                            {"writers", "2"},
                                            {"access", "contiguous"},
                                            {"layout", "mock:stripe=16KiB,count=3"}}}) {
    windrow_file* file = create_traced(values, trace());
    const int variable = define_grid(file, "a <grid> & \"more\"");
    for (int step = 0; step < 2; ++step) {
      EXPECT_WINDROW_OK(write_grid(file, variable));
      reports.push_back(report_of(file));
    }
    EXPECT_WINDROW_OK(windrow_close(file));
  }
  const std::vector<json> found = lines();
  ASSERT_EQ(found.size(), 4 + 2 * reports.size());
  size_t number = 0;
  for (const json& line : lines_with("details", found)) {  // each call has a decomposition of its own
    const json& report = reports[number];
    EXPECT_EQ(line["details"], number % 2 + 1);
    for (const auto& [key, value] : line["report"].items())
      EXPECT_EQ(value, report[key]) << key;
    const json& ranks = line["by_rank"];
    for (const char* counter :
         {"bytes_written", "bytes_read", "write_requests", "read_requests", "messages", "bytes_sent",
          "description_messages", "bytes_copied", "bytes_shared", "bytes_direct", "writers"}) {
      EXPECT_EQ(ranks[counter].size(), size_of());
      EXPECT_EQ(sum_of(ranks[counter]), report[counter]) << counter;
    }
    EXPECT_EQ(requests_of(line["request_sizes"]["write"]), report["write_requests"]);
    EXPECT_EQ(requests_of(line["request_sizes"]["read"]), report["read_requests"]);
    int64_t bytes = 0;
    for (const json& part : line["targets"])
      bytes += part[2].get<int64_t>();
    EXPECT_EQ(bytes, report["bytes_written"].get<int64_t>() + report["bytes_read"].get<int64_t>());
    if (number >= 6 && size_of() > 1) {
      EXPECT_GT(line["targets"].size(), 1) << "the stripes of the mock are targets";
    }
    for (size_t rank = 0; rank < ranks["began_ns"].size(); ++rank)
      EXPECT_LT(ranks["began_ns"][rank], ranks["ended_ns"][rank]);
    ASSERT_EQ(line["queue"].size(), 1);
    EXPECT_EQ(line["queue"][0]["variable"], "/a <grid> & \"more\"");
    EXPECT_EQ(line["queue"][0]["ranks"], json::parse("[[0," + std::to_string(size_of() - 1) + "]]"));
    ++number;
  }
}

// Each flush of a plan has its own numbers, the first has the details, and no rank sends messages for the others.
TEST_P(Traces, have_a_line_of_bounded_size_for_each_repeated_flush) {
  const int64_t k_steps = size_of() == 1 ? 10'000 : 1000;
  std::vector<json> reports;
  std::array<Calls, 2> counted;
  const Decomposition mine = columns();
  const std::vector<double> data(static_cast<size_t>(k_rows * k_columns), 1.5);
  for (const bool traced : {false, true}) {
    windrow_file* file = create_traced({}, traced ? trace() : "");
    const int variable = define_grid(file, "grid");
    Calls before;
    for (int64_t step = 0; step < k_steps; ++step) {
      EXPECT_WINDROW_OK(windrow_put(file, variable, mine.get(), data.data()));
      EXPECT_WINDROW_OK(windrow_flush(file));
      if (step == 0)
        before = calls;
      if (traced && step < 10)
        reports.push_back(report_of(file));
    }
    counted[traced ? 1 : 0] = {.gathers = calls.gathers - before.gathers, .others = calls.others - before.others};
    EXPECT_WINDROW_OK(windrow_close(file));
  }
  EXPECT_EQ(counted[0], counted[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  std::ifstream stream(trace());
  std::string line, others;
  std::getline(stream, line);  // the opening
  std::getline(stream, line);
  EXPECT_EQ(json::parse(line)["details"], 1);
  std::vector<json> flushes;
  for (int64_t flush = 1; std::getline(stream, line); ++flush) {
    EXPECT_THAT(line, HasSubstr("\"flush\":" + std::to_string(flush) + ",\"details\":1,\"error\":\"\","));
    if (flushes.size() < reports.size())
      flushes.push_back(json::parse(line));
    std::erase_if(line, [](char c) { return c >= '0' && c <= '9'; });
    if (flush == 1)
      others = line;
    ASSERT_EQ(line, others) << "they differ in the digits of numbers alone";
    ASSERT_LE(flush, k_steps);
  }
  ASSERT_EQ(flushes.size(), reports.size());
  EXPECT_EQ(flushes[0]["plans"][0]["pattern"]["bytes"], reports[0]["bytes"]);
  for (size_t i = 0; i < reports.size(); ++i) {
    for (const char* name : {"bytes", "bytes_written", "bytes_read", "write_requests", "read_requests", "rounds",
                             "messages", "bytes_sent", "description_messages", "writers"})
      EXPECT_EQ(flushes[i][name], reports[i][name]) << name;
    EXPECT_EQ(flushes[i]["targets"], reports[i]["targets"]["of_all_ranks"]);
    for (const auto& [stage, seconds] : reports[i]["seconds"].items()) {
      EXPECT_NEAR(flushes[i][stage + "_ns"].get<double>() * 1e-9, seconds.get<double>(), 2e-9) << stage;
      if (stage != "total") {
        EXPECT_GE(flushes[i][stage + "_sum_ns"], flushes[i][stage + "_ns"]);
        EXPECT_LE(flushes[i][stage + "_sum_ns"], size_of() * flushes[i][stage + "_ns"].get<int64_t>());
      }
    }
  }
}

// Puts and gets in one flush are plans of their own, and together another pair than either alone.
TEST_P(Traces, have_details_once_for_plans_that_go_together) {
  windrow_file* file = create_traced({}, trace());
  const int variable = define_grid(file, "grid");
  const Decomposition mine = columns();
  std::vector<double> data(static_cast<size_t>(k_rows * k_columns), 2.5), back(data.size());
  for (const auto& [puts, gets] : {std::pair(true, false), std::pair(false, true), std::pair(true, true),
                                   std::pair(true, true), std::pair(false, true), std::pair(true, false)}) {
    if (puts) {
      EXPECT_WINDROW_OK(windrow_put(file, variable, mine.get(), data.data()));
    }
    if (gets) {
      EXPECT_WINDROW_OK(windrow_get(file, variable, mine.get(), back.data()));
    }
    EXPECT_WINDROW_OK(windrow_flush(file));
  }
  EXPECT_WINDROW_OK(windrow_close(file));
  std::vector<int> details;
  for (const json& line : lines_with("flush", lines()))
    details.push_back(line["details"]);
  EXPECT_EQ(details, (std::vector<int>{1, 2, 3, 3, 2, 1}));
}

TEST_P(Traces, say_what_each_rank_holds) {
  windrow_file* file = create_traced({}, trace());
  const int grid = define_grid(file, "grid");
  EXPECT_WINDROW_OK(write_grid(file, grid));
  const int64_t points = 400 * size_of();
  int variable = -1;
  EXPECT_WINDROW_OK(windrow_define_variable(file, "points", WINDROW_INT32, 1, &points, &variable));
  windrow_decomposition* raw = nullptr;
  std::vector<int64_t> list;
  for (int64_t i = 0; i < 400; ++i)
    list.push_back(i * size_of() + (rank_of() + i % 7) % size_of());
  std::sort(list.begin(), list.end());
  EXPECT_WINDROW_OK(windrow_points(MPI_COMM_WORLD, points, 400, list.data(), nullptr, &raw));
  const Decomposition mesh(raw);
  const std::vector<int32_t> data(400, 7);
  for (int step = 0; step < 2; ++step)
    EXPECT_WINDROW_OK(windrow_write(file, variable, mesh.get(), data.data()));
  EXPECT_WINDROW_OK(windrow_close(file));
  const std::vector<json> found = lines();
  ASSERT_EQ(found.size(), 6);  // the opening; details and numbers; the same; numbers
  const json& block = found[1]["decompositions"];
  ASSERT_EQ(block.size(), 1);
  EXPECT_EQ(block[0]["kind"], "block");
  ASSERT_EQ(block[0]["ranks"].size(), size_of());
  for (int rank = 0; rank < size_of(); ++rank) {
    const bool held = size_of() == 1 || rank + 1 < size_of();
    EXPECT_EQ(block[0]["ranks"][static_cast<size_t>(rank)]["elements"], held ? k_rows * k_columns : 0);
    if (held) {
      EXPECT_EQ(block[0]["ranks"][static_cast<size_t>(rank)]["start"], json({0, k_columns * rank}));
    }
  }
  const json& told = found[3]["decompositions"];
  ASSERT_EQ(told.size(), 1);
  EXPECT_EQ(told[0]["kind"], "points");
  EXPECT_EQ(told[0]["id"], found[3]["queue"][0]["decomposition"]);
  EXPECT_EQ(found[5]["details"], 2) << "once is enough";
  int64_t elements = 0, pieces = 0, runs = 0;
  for (const json& each : told[0]["ranks"]) {
    elements += each["elements"].get<int64_t>();
    pieces += each["pieces"].get<int64_t>();
    if (each.contains("lengths"))
      runs += requests_of(each["lengths"]);
  }
  EXPECT_EQ(elements, points);
  if (size_of() > 1) {
    EXPECT_EQ(runs, pieces) << "long lists are told by their runs' lengths";
  }
}

TEST_P(Traces, cost_two_gathers_a_plan) {
  // How many calls a rank makes: to open, for the first flush, for one like it, for one of nothing, to close.
  const auto count = [&](const std::string& trace) {
    std::vector<Calls> counted;
    calls = {};
    const auto note = [&] { counted.push_back(std::exchange(calls, {})); };
    windrow_file* file = create_traced({{"shared_memory", "true"}}, trace);
    note();
    const int variable = define_grid(file, "grid");
    std::vector<double> data(static_cast<size_t>(k_rows * k_columns), 1.5);
    const Decomposition mine = columns();
    calls = {};
    for (int step = 0; step < 2; ++step) {
      EXPECT_WINDROW_OK(windrow_put(file, variable, mine.get(), data.data()));
      EXPECT_WINDROW_OK(windrow_flush(file));
      note();
    }
    EXPECT_WINDROW_OK(windrow_flush(file));
    note();
    EXPECT_WINDROW_OK(windrow_close(file));
    note();
    return counted;
  };
  (void)count("");  // the communicator's own first words
  const std::vector<Calls> without = count(""), with = count(trace());
  for (const Calls& each : without)
    EXPECT_EQ(each.gathers, 0);
  EXPECT_EQ(with[0].gathers, 2);
  const bool one_host = size_of() <= ranks_per_host();
  if (one_host) {
    EXPECT_EQ(with[0].others, without[0].others + 1);
  }
  EXPECT_EQ(with[1].gathers, 2);
  EXPECT_EQ(with[2].gathers, 0) << "its plan has been told";
  EXPECT_EQ(with[3].gathers, 0) << "a flush of nothing has no line";
  EXPECT_EQ(with[4].gathers, 0);
  if (one_host) {
    for (size_t i = 1; i < with.size(); ++i)
      EXPECT_EQ(with[i].others, without[i].others) << i;
  }
}

TEST_P(Traces, that_cannot_be_written_are_a_warning_on_every_rank) {
  const std::string text = folder_.file("somebody's text");
  if (rank_of() == 0)
    std::ofstream(text) << "not a trace\n";
  MPI_Barrier(MPI_COMM_WORLD);
  for (const auto& [at, why] :
       {std::pair(folder_.file("no such folder/trace"), "no such file or directory"),
        std::pair(folder_.path(), "is a directory"), std::pair(text, "does not begin with"),
        std::pair(std::string("/dev/full"), "is not a file"), std::pair(path("file & more"), "is the data file")}) {
    calls = {};
    windrow_file* file = create_traced({}, at);
    const int variable = define_grid(file, "grid");
    EXPECT_WINDROW_OK(write_grid(file, variable));
    const json report = report_of(file);
    EXPECT_THAT(report["trace"]["problem"].get<std::string>(), HasSubstr(why));
    const char* told = nullptr;
    EXPECT_WINDROW_OK(windrow_report(file, "text", &told));
    EXPECT_THAT(told, HasSubstr("warning: not written"));
    EXPECT_WINDROW_OK(windrow_close(file));
    EXPECT_EQ(calls.gathers, 0);
  }
  EXPECT_EQ(bytes_of_file(text), "not a trace\n");
}

TEST_P(Traces, go_on_after_other_programs) {
  for (const char* name : {"one", "two"}) {
    windrow_file* file = create_traced({}, trace(), name);
    EXPECT_WINDROW_OK(write_grid(file, define_grid(file, "grid")));
    EXPECT_WINDROW_OK(windrow_close(file));
  }
  const std::vector<json> found = lines();
  ASSERT_EQ(found.size(), 6);
  EXPECT_NE(found[0]["opening"], found[3]["opening"]);
  for (const size_t i : {size_t{1}, size_t{2}, size_t{4}, size_t{5}})
    EXPECT_EQ(found[i]["opening"], found[i < 3 ? 0 : 3]["opening"]);
}

TEST_P(Traces, have_a_line_of_a_flush_in_two_parts_and_of_one_that_fails) {
  windrow_file* file = create_traced({}, trace());
  const int variable = define_grid(file, "grid");
  const Decomposition mine = columns();
  const std::vector<double> data(static_cast<size_t>(k_rows * k_columns), 2.5);
  EXPECT_WINDROW_OK(windrow_put(file, variable, mine.get(), data.data()));
  EXPECT_WINDROW_OK(windrow_flush_begin(file));
  EXPECT_WINDROW_OK(windrow_flush_end(file));
  const json report = report_of(file);
  if (rank_of() == 0) {
    EXPECT_NE(windrow_put(file, 99, mine.get(), data.data()), WINDROW_OK);
  }
  EXPECT_EQ(windrow_flush(file), WINDROW_BAD_ARGUMENT);
  EXPECT_EQ(lines().size(), 5) << "a failed flush waits for no other";
  EXPECT_WINDROW_OK(windrow_close(file));
  const std::vector<json> found = lines(), details = lines_with("details", found), flushes = lines_with("flush", found);
  ASSERT_EQ(details.size(), 2);
  ASSERT_EQ(flushes.size(), 2);
  EXPECT_EQ(flushes[0]["error"], "");
  EXPECT_EQ(details[0]["queue"].size(), 1);
  EXPECT_EQ(sum_of(details[0]["by_rank"]["bytes_written"]), report["bytes_written"]);
  EXPECT_THAT(flushes[1]["error"].get<std::string>(), HasSubstr("no variable number 99"));
  EXPECT_EQ(flushes[1]["details"], 2);
}

TEST_P(Traces, say_on_which_hosts_ranks_run) {
  windrow_file* file = create_traced({}, trace());
  EXPECT_WINDROW_OK(windrow_close(file));
  const int each = ranks_per_host();
  const std::vector<json> found = lines();
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0]["hosts"].size(), (size_of() + each - 1) / each);
  for (const json& range : found[0]["ranks_on_hosts"]) {
    EXPECT_EQ(range[0], range[2].get<int>() * each);
    EXPECT_EQ(range[1], std::min(size_of(), (range[2].get<int>() + 1) * each) - 1);
  }
  EXPECT_GE(found[0]["clock_accuracy_s"].get<double>(), 0);
}

INSTANTIATE_TEST_SUITE_P(Formats, Traces, testing::Values(".h5", ".raw"),
                         [](const auto& each) { return each.param.substr(1); });
