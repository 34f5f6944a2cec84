// SPDX-License-Identifier: BSD-3-Clause
// The stripes and targets that all ranks requested, from their reports.
#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <vector>

#include "checked.hpp"
#include "report.hpp"

namespace windrow_test {

inline std::vector<int64_t> gather(const std::vector<int64_t>& mine) {
  int count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<size_t>(size_of())), places(counts.size());
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  std::vector<int64_t> all(static_cast<size_t>(places.back() + counts.back()));
  MPI_Allgatherv(mine.data(), count, MPI_INT64_T, all.data(), counts.data(), places.data(), MPI_INT64_T,
                 MPI_COMM_WORLD);
  return all;
}

// Of the last flush.
struct Touched {
  std::map<int64_t, int> ranks_of_stripe;
  std::map<int64_t, std::set<int64_t>> targets_of_rank;
  std::map<int64_t, std::set<int64_t>> ranks_of_target;
  int64_t bytes = 0;

  int64_t shared() const {
    return std::count_if(ranks_of_stripe.begin(), ranks_of_stripe.end(),
                         [](const auto& each) { return each.second > 1; });
  }
};

inline Touched touched_of(windrow_file* file) {
  const nlohmann::json report = report_of(file);
  std::set<int64_t> mine;
  for (const nlohmann::json& run : report["stripes_of_this_rank"])
    for (int64_t i = 0; i < run[2]; ++i)
      mine.insert(run[0].get<int64_t>() + i * run[1].get<int64_t>());
  Touched touched;
  for (const int64_t stripe : gather({mine.begin(), mine.end()}))
    ++touched.ranks_of_stripe[stripe];
  std::vector<int64_t> rows;
  for (const nlohmann::json& target : report["targets_of_this_rank"])
    rows.insert(rows.end(), {rank_of(), target["target"], target["bytes"]});
  rows = gather(rows);
  for (size_t i = 0; i < rows.size(); i += 3) {
    touched.targets_of_rank[rows[i]].insert(rows[i + 1]);
    touched.ranks_of_target[rows[i + 1]].insert(rows[i]);
    touched.bytes += rows[i + 2];
  }
  size_t pairs = 0, most = 0;
  for (const auto& [rank, targets] : touched.targets_of_rank)
    pairs += targets.size(), most = std::max(most, targets.size());
  EXPECT_EQ(report["targets"]["of_all_ranks"], pairs);
  EXPECT_EQ(report["targets"]["most_of_a_rank"], most);
  return touched;
}

}  // namespace windrow_test
