// SPDX-License-Identifier: BSD-3-Clause
// Domains that are the stripes of targets: what every rank really asked of the storage is gathered, and no stripe may
// have been two ranks'.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <numeric>
#include <set>

#include "../capi/files.hpp"
#include "../capi/report.hpp"
#include "../capi/touched.hpp"

namespace {

using namespace windrow_test;
using nlohmann::json;
using testing::HasSubstr;

class Targets : public Files {
 protected:
  // A grid of columns: every rank has pieces all over the file. Rank 0 has none where there are several.
  static constexpr int64_t k_rows = 3001, k_columns = 17;
  void TearDown() override {
    if (file_ != nullptr) {
      EXPECT_WINDROW_OK(windrow_close(std::exchange(file_, nullptr)));
    }
  }
  int create(const KeyValues& values) {
    EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(), Options(values), &file_));
    return define("grid");
  }
  int define(const char* name, const KeyValues& values = {}) {
    const int64_t shape[2] = {k_rows, k_columns * holders_};
    int variable = -1;
    EXPECT_WINDROW_OK(windrow_define_variable_with(file_, name, WINDROW_FLOAT64, 2, shape, Options(values), &variable));
    return variable;
  }
  void write(int variable) {
    std::iota(data_.begin(), data_.end(), 1e6 * rank_of());
    EXPECT_WINDROW_OK(windrow_write_block(file_, variable, start_, count_, data_.data()));
  }
  void expect_data(int variable) {
    std::vector<double> read(data_.size(), -1);
    EXPECT_WINDROW_OK(windrow_read_block(file_, variable, start_, count_, read.data()));
    EXPECT_EQ(read, data_);
  }
  int64_t bytes() const { return k_rows * k_columns * holders_ * 8; }

  windrow_file* file_ = nullptr;
  const int first_ = size_of() > 1 ? 1 : 0;
  const int64_t holders_ = size_of() - first_;
  const bool holds_ = rank_of() >= first_;
  const int64_t start_[2] = {0, holds_ ? k_columns*(rank_of() - first_) : 0},
                count_[2] = {holds_ ? k_rows : 0, holds_ ? k_columns : 0};
  std::vector<double> data_ = std::vector<double>(static_cast<size_t>(count_[0] * count_[1]));
};

struct Case {
  std::string layout;
  const char* writers;
  size_t targets;
};

TEST_P(Targets, have_one_writer_each_or_as_many_as_planned) {
  const std::string late = "mock:stripe=16KiB,count=1,until=" + std::to_string(bytes() / 4 * 3);
  for (const Case& each :
       {Case{"mock:stripe=64KiB,count=4", "4", 4}, Case{"mock:stripe=64KiB,count=4", "8", 4},
        Case{"mock:stripe=64KiB,count=2", "7", 2}, Case{"mock:stripe=16KiB,count=7", "3", 7},
        Case{"mock:stripe=5000,count=5,first=3", "5", 5}, Case{"mock:stripe=16KiB,count=7,targets=3", "8", 3},
        Case{"mock:stripe=16KiB,count=1,object=32KiB,objects=1000,targets=3", "3", 3},
        Case{"mock:stripe=16KiB,count=2,object=32KiB,objects=1000,targets=4", "8", 4},
        Case{"mock:stripe=16KiB,count=1,until=100000;stripe=32KiB,count=3,first=1", "4", 4},
        // Several writers share a target, and the range of one has none of its stripes.
        Case{late + ";stripe=16KiB,count=1,first=1", "4", 2}, Case{late + ";stripe=16KiB,count=1,first=1", "7", 2},
        Case{late + ";stripe=16KiB,count=3,first=1", "8", 4}}) {
    SCOPED_TRACE(each.layout + " writers " + each.writers);
    const int variable = create({{"layout", each.layout}, {"domains", "target"}, {"writers", each.writers}});
    write(variable);
    const auto writers = std::min<size_t>(static_cast<size_t>(std::stoi(each.writers)), static_cast<size_t>(size_of()));
    const size_t groups = std::min(writers, each.targets), sharers = writers / groups;
    const json plan = report_of(file_)["plans"][0];
    EXPECT_EQ(plan["domains"], writers > 1 ? "target" : "aligned");
    EXPECT_EQ(plan["stripes_with_two_writers"], 0);
    for (const bool reading : {false, true}) {
      SCOPED_TRACE(reading ? "read" : "written");
      if (reading)
        expect_data(variable);
      const Touched touched = touched_of(file_);
      EXPECT_EQ(touched.bytes, bytes());
      EXPECT_EQ(touched.shared(), 0);
      EXPECT_EQ(touched.ranks_of_target.size(), each.targets);
      for (const auto& [target, ranks] : touched.ranks_of_target)
        EXPECT_LE(ranks.size(), sharers) << "target " << target;
      const size_t most =
          (each.targets + groups - 1) / groups + (each.layout.find("until") == std::string::npos ? 0 : 1);
      for (const auto& [rank, targets] : touched.targets_of_rank)
        EXPECT_LE(targets.size(), most) << "rank " << rank;
    }
    EXPECT_WINDROW_OK(windrow_close(std::exchange(file_, nullptr)));
  }
}

// A file of which only the first objects are known: each later object has one writer too.
TEST_P(Targets, of_some_objects_may_be_known) {
  const int variable = create({{"layout", "mock:stripe=16KiB,count=2,object=32KiB,objects=10,targets=3"},
                               {"domains", "target"},
                               {"writers", "3"}});
  write(variable);
  const json report = report_of(file_);
  EXPECT_THAT(report["layout"].get<std::string>(),
              HasSubstr("object size 32 KiB, its first 10 objects on 3 targets: 0, 1, 2"));
  EXPECT_EQ(report["plans"][0]["stripes_with_two_writers"], 0);
  if (size_of() >= 3) {
    EXPECT_THAT(report["plans"][0]["reasons"].dump(), HasSubstr("beyond 320 KiB the targets of objects are unknown"));
  }
  const Touched touched = touched_of(file_);
  EXPECT_EQ(touched.shared(), 0);
  for (const auto& [target, ranks] : touched.ranks_of_target)
    EXPECT_TRUE(target < 0 || ranks.size() <= 1) << target;
  expect_data(variable);
}

// The count in the plan is what the ranks do.
TEST_P(Targets, are_all_every_writers_where_domains_are_even) {
  const int variable = create({{"layout", "mock:stripe=16KiB,count=3"}, {"domains", "even"}, {"writers", "4"}});
  write(variable);
  const Touched touched = touched_of(file_);
  EXPECT_EQ(touched.shared(), report_of(file_)["plans"][0]["stripes_with_two_writers"]);
  for (const auto& [rank, targets] : touched.targets_of_rank)
    EXPECT_EQ(targets.size(), 3U);
  if (size_of() >= 3) {
    EXPECT_GE(touched.shared(), 1);
  }
}

// Of pieces that their holders write, of chunks, and where no stripes are known.
TEST_P(Targets, are_not_counted_where_nobody_does) {
  const std::pair<std::string, std::string> striped{"layout", "mock:stripe=16KiB,count=3"};
  for (const KeyValues& options :
       {KeyValues{striped, {"domains", "none"}}, KeyValues{{"layout", "none"}, {"domains", "even"}}}) {
    write(create(options));
    EXPECT_EQ(report_of(file_)["plans"][0]["stripes_with_two_writers"], nullptr) << options.back().second;
    EXPECT_WINDROW_OK(windrow_close(std::exchange(file_, nullptr)));
  }
  if (GetParam() == ".raw")
    return;  // it has no chunks
  create({striped});
  write(define("chunked", {{"chunks", "100,17"}}));
  const json report = report_of(file_);
  for (const json& plan : report["plans"])
    EXPECT_EQ(plan["stripes_with_two_writers"], nullptr);
}

TEST_P(Targets, are_dealt_in_turn_by_cyclic_domains) {
  const int variable = create({{"layout", "mock:stripe=16KiB,count=4"}, {"domains", "cyclic"}, {"writers", "4"}});
  write(variable);
  const Touched touched = touched_of(file_);
  EXPECT_EQ(touched.shared(), 0);
  if (size_of() >= 4) {
    for (const auto& [rank, targets] : touched.targets_of_rank)
      EXPECT_EQ(targets.size(), 1U) << "four writers and four targets";
  }
  expect_data(variable);
}

// A writer's round is as many of its stripes as its buffer holds. Each rank sends it one message for all of them; the
// storage gets a request for each.
TEST_P(Targets, move_several_stripes_in_one_round) {
  constexpr int64_t k_targets = 4, k_stripes = 3;
  if (size_of() < k_targets)
    GTEST_SKIP() << "groups have neighbours";
  const int variable = create({{"layout", "mock:stripe=16KiB,count=4"},
                               {"domains", "target"},
                               {"writers", "4"},
                               {"buffer", "49152"},
                               {"shared_memory", "false"}});
  write(variable);
  for (const bool reading : {false, true}) {
    SCOPED_TRACE(reading ? "read" : "written");
    if (reading)
      expect_data(variable);
    const Touched touched = touched_of(file_);
    const json report = report_of(file_);
    const int64_t first = touched.ranks_of_stripe.begin()->first / 16384 / k_targets;  // of the periods
    std::set<std::pair<int64_t, int64_t>> rounds;
    for (const auto& [stripe, ranks] : touched.ranks_of_stripe)
      rounds.insert({stripe / 16384 % k_targets, (stripe / 16384 / k_targets - first) / k_stripes});
    EXPECT_EQ(report["rounds"], rounds.size());
    EXPECT_EQ(report[reading ? "read_requests" : "write_requests"], touched.ranks_of_stripe.size());
    EXPECT_EQ(report["messages"], report["plans"][0]["expected"]["messages"]);
    int64_t own = holds_ && touched.targets_of_rank.count(rank_of()) > 0 ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    const int64_t all =
        static_cast<int64_t>(rounds.size()) * holders_ - own * static_cast<int64_t>(rounds.size()) / k_targets;
    EXPECT_LE(std::abs(report["messages"].get<int64_t>() - all), holders_ + k_targets)
        << "the last stripe may be too short to have bytes of each rank";
  }
}

// The bytes between the first and the last one have no cost, neither in planning nor in moving: here 2^28 stripes.
TEST_P(Targets, are_found_of_a_few_pieces_in_a_terabyte) {
  constexpr int64_t k_elements = int64_t{1} << 37, k_pieces = 40, k_length = 700;
  EXPECT_WINDROW_OK(windrow_create(
      MPI_COMM_WORLD, path().c_str(),
      Options({{"layout", "mock:stripe=4KiB,count=8"}, {"domains", "target"}, {"writers", "8"}}), &file_));
  int variable = -1;
  EXPECT_WINDROW_OK(windrow_define_variable(file_, "sparse", WINDROW_FLOAT64, 1, &k_elements, &variable));
  std::vector<double> data(k_pieces * k_length), read(k_pieces * k_length);
  std::iota(data.begin(), data.end(), 1e6 * (rank_of() + 1));
  std::vector<int64_t> starts;
  for (int64_t piece = 0; piece < k_pieces; ++piece)
    starts.push_back(k_elements / (k_pieces * size_of()) * (piece * size_of() + rank_of()));
  const std::vector<int64_t> counts(k_pieces, k_length);
  Decomposition pieces;
  windrow_decomposition* made = nullptr;
  ASSERT_WINDROW_OK(
      windrow_blocks(MPI_COMM_WORLD, 1, &k_elements, k_pieces, starts.data(), counts.data(), nullptr, nullptr, &made));
  pieces.reset(made);
  EXPECT_WINDROW_OK(windrow_put(file_, variable, pieces.get(), data.data()));
  EXPECT_WINDROW_OK(windrow_flush(file_));
  EXPECT_EQ(touched_of(file_).shared(), 0);
  EXPECT_EQ(touched_of(file_).bytes, k_pieces * k_length * 8 * size_of());
  EXPECT_LE(report_of(file_)["rounds"], 3 * k_pieces * size_of());
  EXPECT_WINDROW_OK(windrow_read(file_, variable, pieces.get(), read.data()));
  EXPECT_EQ(read, data);
}

TEST_P(Targets, are_chosen_where_the_file_lies_on_several) {
  for (const bool several : {true, false}) {
    const int variable = create({{"layout", several ? "mock:stripe=512KiB,count=4" : "mock:stripe=64KiB,count=4"},
                                 {"writers", "3"},
                                 {"direct_bytes", "64KiB"}});
    write(variable);
    const json plan = report_of(file_)["plans"][0];
    if (size_of() >= 4) {
      EXPECT_EQ(plan["domains"], several ? "target" : "aligned") << plan;
      EXPECT_EQ(touched_of(file_).shared(), 0);
    }
    expect_data(variable);
    EXPECT_WINDROW_OK(windrow_close(std::exchange(file_, nullptr)));
  }
}

TEST_P(Targets, are_asked_for_in_vain_where_nobody_knows_them) {
  const int variable = create({{"layout", "none"}, {"domains", "target"}, {"writers", "2"}});
  write(variable);
  const json plan = report_of(file_)["plans"][0];
  EXPECT_EQ(plan["domains"], "aligned");
  EXPECT_THAT(plan["reasons"].dump(),
              HasSubstr(size_of() > 1 ? "the targets of the bytes are unknown" : "one writer has all stripes"));
  expect_data(variable);
}

// The writer of a stripe fills elements of it that no rank writes.
TEST_P(Targets, have_one_writer_for_what_is_filled) {
  create({{"layout", "mock:stripe=16KiB,count=3"}, {"domains", "target"}, {"writers", "3"}, {"buffer", "8192"}});
  const int filled = define("filled", {{"fill_value", "-7"}});
  const int64_t start[2] = {k_rows / 2, 3}, count[2] = {rank_of() == 0 ? 40 : 0, rank_of() == 0 ? 4 : 0};
  const std::vector<double> some(160, 5);
  EXPECT_WINDROW_OK(windrow_write_block(file_, filled, start, count, some.data()));
  EXPECT_EQ(touched_of(file_).shared(), 0);
  EXPECT_EQ(touched_of(file_).bytes, bytes());
  const int64_t all_start[2] = {0, 0}, all_count[2] = {k_rows, k_columns * holders_};
  std::vector<double> read(static_cast<size_t>(all_count[0] * all_count[1]));
  EXPECT_WINDROW_OK(windrow_read_block(file_, filled, all_start, all_count, read.data()));
  EXPECT_EQ(std::count(read.begin(), read.end(), 5), 160);
  EXPECT_EQ(std::count(read.begin(), read.end(), -7), static_cast<int64_t>(read.size()) - 160);
}

// Before a read the ranks write all elements that were never written.
TEST_P(Targets, have_one_writer_for_what_all_ranks_fill) {
  EXPECT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path().c_str(),
                                   Options({{"layout", "mock:stripe=48KiB,count=3"}, {"domains", "none"}}), &file_));
  const int64_t shape = 5'000'011, start = 0, count = rank_of() == 0 ? 1 : 0;  // 40 MB: more than a rank is given alone
  int variable = -1;
  EXPECT_WINDROW_OK(windrow_define_variable_with(file_, "filled", WINDROW_FLOAT64, 1, &shape,
                                                 Options({{"fill_value", "-7"}}), &variable));
  double read = 0;
  EXPECT_WINDROW_OK(windrow_read_block(file_, variable, &start, &count, &read));
  const Touched touched = touched_of(file_);
  EXPECT_EQ(touched.shared(), 0);
  EXPECT_GE(touched.bytes, shape * 8);
  EXPECT_EQ(touched.targets_of_rank.size(), static_cast<size_t>(std::min(size_of(), 3)));
}

TEST_P(Targets, of_the_flush_before_are_not_those_of_an_empty_one) {
  write(create({{"layout", "mock:stripe=64KiB,count=4"}, {"domains", "target"}, {"writers", "4"}}));
  EXPECT_EQ(touched_of(file_).bytes, bytes());
  EXPECT_WINDROW_OK(windrow_flush(file_));
  EXPECT_EQ(touched_of(file_).bytes, 0);
}

// Plans are kept, also by readers of a file that others have written, with other layouts.
TEST_P(Targets, of_one_layout_are_read_by_another) {
  const int variable = create({{"layout", "mock:stripe=64KiB,count=4"}, {"domains", "target"}, {"writers", "8"}});
  const int64_t shape[2] = {k_rows, k_columns * holders_};
  Decomposition columns;
  windrow_decomposition* made = nullptr;
  ASSERT_WINDROW_OK(windrow_block(MPI_COMM_WORLD, 2, shape, start_, count_, nullptr, nullptr, &made));
  columns.reset(made);
  for (int step = 0; step < 2; ++step) {
    std::iota(data_.begin(), data_.end(), 1e6 * rank_of() + step);
    EXPECT_WINDROW_OK(windrow_put(file_, variable, columns.get(), data_.data()));
    EXPECT_WINDROW_OK(windrow_flush(file_));
    if (step > 0) {
      EXPECT_TRUE(report_of(file_)["plans"][0]["cached"]);
    }
  }
  EXPECT_EQ(touched_of(file_).shared(), 0);
  EXPECT_WINDROW_OK(windrow_close(std::exchange(file_, nullptr)));
  const Options other{{"layout", "mock:stripe=4097,count=3,targets=2"},
                      {"strategy", "ylib"},
                      {"writers", "5"},
                      {"shared_memory", "false"}};
  ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path().c_str(), WINDROW_READ, other, &file_));
  expect_data(variable);
  EXPECT_EQ(touched_of(file_).shared(), 0);
}

INSTANTIATE_TEST_SUITE_P(Formats, Targets, testing::Values(".raw", ".h5"),
                         [](const auto& each) { return each.param.substr(1); });

}  // namespace
