// SPDX-License-Identifier: BSD-3-Clause
// Lines of more ranks than any test has: what is cached of all, what of some.
#include "reporting/trace_lines.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "base/varint.hpp"

namespace windrow::test {
namespace {

using nlohmann::json;

TEST(SampledRanks, are_64_with_the_first_and_the_last_among_them) {
  for (const int ranks : {1, 2, 63, 64, 65, 66, 127, 128, 1000, 4097, 99'991}) {
    int sampled = 0;
    for (int rank = 0; rank < ranks; ++rank)
      sampled += is_sampled_rank(rank, ranks) ? 1 : 0;
    EXPECT_EQ(sampled, std::min(ranks, k_sampled_ranks)) << ranks;
    EXPECT_TRUE(is_sampled_rank(0, ranks) && is_sampled_rank(ranks - 1, ranks)) << ranks;
  }
}

// The message of a rank that is not sampled: times, counters, sizes and targets.
std::vector<std::byte> message_of(int rank) {
  std::vector<std::byte> message;
  for (int i = 0; i < 2 + k_stages; ++i)
    append_varint(message, static_cast<uint64_t>(rank * 10 + i));
  for (size_t i = 0; i < k_rank_counters.size(); ++i)
    append_varint(message, static_cast<uint64_t>(rank));
  for (const unsigned number : {1U, 1U, 20U, 3U, 0U, 1U, 1U, 8U, 1000U})
    append_varint(message, number);  // three writes of 2^20 bytes; 1000 bytes to target 7
  return message;
}

json line_of(int ranks, const std::vector<std::vector<std::byte>>& messages) {
  TracedOpening opening;
  opening.ranks = ranks;
  const FlushReport report;
  const Catalog catalog;
  const Status verdict;
  const std::string line = details_line(opening, 3, {report, catalog, verdict, {}}, [&](int rank) {
    return std::span<const std::byte>(messages[static_cast<size_t>(rank)]);
  });
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  return json::parse(line);
}

TEST(DetailsLine, of_very_many_ranks_has_some_of_them_and_the_least_the_median_and_the_most_of_all) {
  constexpr int k_ranks = 5001;
  std::vector<std::vector<std::byte>> messages;
  for (int rank = 0; rank < k_ranks; ++rank)
    messages.push_back(message_of(rank));
  const json line = line_of(k_ranks, messages);
  EXPECT_EQ(line["by_rank"]["bytes_written"].size(), k_sampled_ranks);
  EXPECT_EQ(line["by_rank"]["bytes_written"].back(), k_ranks - 1);
  EXPECT_EQ(line["by_rank"]["of_all_ranks"]["bytes_written"],
            json({{"least", 0}, {"median", k_ranks / 2}, {"most", k_ranks - 1}}));
  EXPECT_EQ(line["request_sizes"]["write"], json::parse("[[20, 15003]]"));
  EXPECT_EQ(line["targets"].size(), k_ranks);
  EXPECT_EQ(line["targets"][17], json({17, 7, 1000}));
}

TEST(DetailsLine, says_of_ranks_that_told_nothing_nothing) {
  const json line = line_of(3, {message_of(0), {}, message_of(2)});
  EXPECT_EQ(line["by_rank"]["ranks"], json::parse("[[0, 0], [2, 2]]"));
  EXPECT_EQ(line["by_rank"]["writers"], json({0, 2}));
}

TEST(DetailsLine, is_a_line_whatever_ranks_have_told) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> message = message_of(1);
    message.resize(random() % 80);
    for (std::byte& each : message)
      if (random() % 4 == 0)
        each = static_cast<std::byte>(random() % 3);
    (void)line_of(1, {message});
  }
}

// A report by `plans` plans, each of whose numbers is `number`.
FlushReport report_of(size_t plans, int64_t number) {
  FlushReport report;
  report.sums.fill(number);
  report.maxima.fill(number);
  PlanReport plan{.plan = {}, .forecast = {}, .cached = true, .id = number, .codec_reason = {}};
  plan.plan.pattern = {.bytes = number,
                       .pieces = number,
                       .entries = number,
                       .ranks_with_data = number,
                       .largest_rank_bytes = number,
                       .regions = std::vector<Extent>(100, Extent{0, number})};
  plan.plan.reasons = std::vector<std::string>(100, "a reason");
  report.plans.assign(plans, plan);
  return report;
}

std::string numbers_line(int64_t flush, const FlushReport& report, int64_t number, const Status& verdict) {
  TracedOpening opening;
  opening.identity = "18ecb0fcaa35c70e-1404";
  return flush_line(opening, {.flush = flush, .details = 1, .ended = number}, {report, {}, verdict, {}});
}

TEST(FlushLine, has_as_many_bytes_for_each_of_10000_flushes_alike) {
  const FlushReport report = report_of(1, 100'000'000);
  size_t bytes = 0;
  for (int64_t flush = 10'000; flush < 20'000; ++flush)
    bytes += numbers_line(flush, report, 100'000'000, {}).size();
  EXPECT_EQ(bytes, 10'000U * 975);
}

TEST(FlushLine, is_bounded_whatever_the_flush) {
  const Status failed(Code::no_space, std::string(100'000, '"'));
  const std::string longest = numbers_line(INT64_MAX, report_of(1000, INT64_MAX), INT64_MAX, failed);
  EXPECT_EQ(longest.size(), 4184U);
  const json line = json::parse(longest);
  EXPECT_EQ(line["plans"].size(), k_most_plans);
  EXPECT_EQ(line["plans_left_out"], 1000 - k_most_plans);
  EXPECT_EQ(line["error"].get<std::string>(), std::string(k_longest_error, '"'));
}

}  // namespace
}  // namespace windrow::test
