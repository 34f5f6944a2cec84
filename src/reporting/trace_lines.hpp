// SPDX-License-Identifier: BSD-3-Clause
// The lines of a trace: each rank sends a message about a flush, and rank 0 makes a line of them. A message has at most
// k_share bytes. With more than k_most_ranks ranks, only k_sampled_ranks of them send all details, and the others send
// at most k_small_share bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "extent/pieces.hpp"
#include "format/catalog.hpp"
#include "layout/layout.hpp"
#include "reporting/report.hpp"

namespace windrow {

inline constexpr int k_most_ranks = 4096, k_sampled_ranks = 64;
inline constexpr int64_t k_share = 16 << 10, k_small_share = 1 << 10;
inline constexpr size_t k_most_queued = 512, k_most_records = 64, k_most_sent = 32;
inline constexpr size_t k_most_plans = 4, k_longest_error = 1000;  // in the line of a flush

// With more than k_sampled_ranks ranks: the first, the last, and others at equal distances.
bool is_sampled_rank(int rank, int ranks) noexcept;

// The counters in the message of a rank, in their order. They have the names that the report uses for all ranks.
inline constexpr std::array<std::string_view, 15> k_rank_counters{"bytes_written",
                                                                  "bytes_read",
                                                                  "write_requests",
                                                                  "read_requests",
                                                                  "messages",
                                                                  "bytes_sent",
                                                                  "description_messages",
                                                                  "description_bytes",
                                                                  "bytes_copied",
                                                                  "bytes_shared",
                                                                  "bytes_mapped",
                                                                  "bytes_direct",
                                                                  "rounds",
                                                                  "peak_memory",
                                                                  "writers"};
std::array<int64_t, k_rank_counters.size()> rank_counters(const Trace& trace) noexcept;

// The form in which a message lists what a rank holds.
enum class HeldForm : uint64_t {
  boxes = 0,
  runs = 1,
  lengths = 2
};

struct TracedOpening {
  std::string identity;  // unique for each opening
  std::string file, mode, created, version, format;
  int ranks = 1;
  double clock_accuracy = 0;
  std::string columns;  // what a number of a target means: "targets", "stripes", "files" or "file"
  StorageLayout layout;
  std::map<std::string, std::string, std::less<>> settings;  // that the program or the environment has set
  std::vector<std::string> hosts;
  std::vector<int> host_of;  // [ranks]
};

class SharedDecomposition;

// A put or get of a flush.
struct TracedRequest {
  int variable = 0;
  bool put = true;
  int64_t record = -1;  // -1: of the whole variable
  int64_t ordinal = 0;
  std::optional<Type> type;  // in memory, if it differs from the variable's
  const SharedDecomposition& decomposition;
};

// What a call on a file of plain bytes moved.
struct TracedList {
  bool writes = false;
  const Pieces* moved = nullptr;  // by this rank: where in the file; nullptr: the file has variables
};

struct TracedFlush {
  const FlushReport& report;
  const Catalog& catalog;
  const Status& verdict;
  std::span<const TracedRequest> queue;  // if there are details
  TracedList list = {};
};

struct FlushPlace {
  int64_t flush = 0, details = 0;  // numbers of flushes; 0: there are no details
  int64_t ended = 0;               // nanoseconds since the file was opened, on rank 0
};

using MessageOf = std::function<std::span<const std::byte>(int rank)>;

// On rank 0. Each line ends with "\n". May throw std::bad_alloc.
std::string opening_line(const TracedOpening& opening);
std::string details_line(const TracedOpening& opening, int64_t number, const TracedFlush& flush,
                         const MessageOf& message);
// Bounded: one number per name, k_most_plans plans, and k_longest_error bytes of an error.
std::string flush_line(const TracedOpening& opening, const FlushPlace& place, const TracedFlush& flush);

}  // namespace windrow
