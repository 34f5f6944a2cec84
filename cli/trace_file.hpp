// SPDX-License-Identifier: BSD-3-Clause
// Reads and checks a trace (docs/traces.md), as far as reports need it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/trace_reading.hpp"

namespace cli {

inline constexpr std::array<std::string_view, 7> k_stages{"describe", "plan",    "routes", "descriptions",
                                                          "exchange", "storage", "agree"};

// Local. Like windrow::read_trace_lines(), but throws Failure if the file cannot be read, is empty, or is not a trace
// of a supported version. Returns the damage.
std::string read_lines_of_trace(const std::string& path, const std::function<void(const windrow::TraceLine&)>& take);

struct TracedOpening {
  std::string identity, file, mode, opened, columns;
  int ranks = 0;
  double clock_accuracy_s = 0;
  std::vector<std::string> hosts;
};

// An alternative of a plan, with predicted seconds.
struct TracedAlternative {
  std::string strategy;
  bool chosen = false;
  double seconds = 0;                     // of the flush
  std::array<double, 3> stage_seconds{};  // plan, exchange, storage
};
inline constexpr std::array<std::string_view, 3> k_predicted_stages{"plan", "exchange", "storage"};

struct TracedPlan {
  std::string direction, strategy;
  std::array<std::string, 6> axes;  // owner, gather, domains, codec, access, files
  int64_t writers = 0;
  bool cached = false;
  std::vector<std::string> reasons;
  std::string machine;    // source of the predictions; "": none
  bool measured = false;  // and the predictions decided
  std::vector<TracedAlternative> alternatives;
};
inline constexpr std::array<std::string_view, 6> k_axes{"owner", "gather", "domains", "codec", "access", "files"};

struct TracedInterval {
  size_t stage = 0;  // index into k_stages
  int64_t begin_ns = 0, end_ns = 0, busy_ns = 0;
  bool storage = false;  // of windows moved to or from the storage
};

struct TracedLane {
  int rank = 0;
  int64_t left_out = 0;
  std::vector<TracedInterval> intervals;
};

struct TracedVariable {
  std::string path, direction, type;
  std::vector<int64_t> shape;
  std::string decomposition;  // its kind, if the trace has it
  int64_t ranks = 0;
};

// Details of the first flush with its plans; they also hold for later flushes with the same plans.
struct TracedDetails {
  int64_t flush = 0;
  std::string layout;
  std::vector<TracedPlan> plans;
  std::vector<TracedVariable> variables;
  int64_t variables_left_out = 0;
  std::vector<TracedLane> lanes;                // of that flush only
  std::vector<std::array<int64_t, 3>> targets;  // rank, target (-1: others), bytes
  std::vector<std::pair<int64_t, int64_t>> write_sizes,
      read_sizes;  // [i]: requests of 2^i to 2^(i+1) bytes
};

struct TracedFlush {
  size_t opening = 0;  // index into Trace::openings
  int64_t number = 0;
  std::string error;                             // "": none
  std::vector<std::string> strategies;           // of its plans: "two-phase: first, none, even, off, contiguous, one"
  std::shared_ptr<const TracedDetails> details;  // empty, of flush 0: none in the trace
  bool has_own_details() const noexcept { return details->flush == number; }
  double seconds = 0;
  std::array<double, k_stages.size()> stage_seconds{};  // of the slowest rank
  int64_t bytes = 0, bytes_written = 0, bytes_read = 0, write_requests = 0, read_requests = 0, messages = 0,
          bytes_sent = 0, description_messages = 0, writers = 0;
};

struct Trace {
  std::vector<TracedOpening> openings;
  std::vector<TracedFlush> flushes;
  std::string damage;  // "": none; otherwise the first truncated or invalid line: the trace ends before it
};

// Local. Throws Failure, with file and line, if the file is missing or empty, or not a trace of a supported version.
Trace read_trace(const std::string& path);

}  // namespace cli
