// SPDX-License-Identifier: BSD-3-Clause
// What the last flush did over all ranks, and what its plans were; as text and as JSON.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/tuner.hpp"
#include "layout/tally.hpp"
#include "plan/forecast.hpp"
#include "plan/plan.hpp"
#include "trace/trace_format.hpp"

namespace windrow {

// The numbers of a trace in the order that ranks combine them: sums, then maxima. Times are in nanoseconds on the way.
inline constexpr size_t k_trace_counters = 29 + static_cast<size_t>(k_stages), k_codec_numbers = 5;
inline constexpr size_t k_trace_sums = k_trace_counters + k_codec_kinds * k_codec_numbers + 3 * k_most_arms;
inline constexpr size_t k_trace_maxima = static_cast<size_t>(k_stages) + 6;
void store_trace(const Trace& trace, std::span<int64_t> sums, std::span<int64_t> maxima);

// Beside them: what one batch took, of all ranks the longest, and what it tells the tuner of its codec.
void store_batch(double seconds, std::span<int64_t> maxima);
double read_batch(std::span<const int64_t> maxima);
void store_tuning(const Predicted& predicted, std::span<int64_t> sums);
void read_tuning(Predicted& predicted, std::span<const int64_t> sums);

struct PlanReport {
  Plan plan;
  PlanForecast forecast;
  bool kept = false;  // made in an earlier flush
  int64_t id = 0;     // in the plan cache of the file, the same on all ranks
  std::string codec_reason = {};
};

// What this rank sent to another in the last flush.
struct SentTo {
  int rank = 0;
  int64_t messages = 0;
  int64_t bytes = 0;  // before compression
  int64_t bytes_sent = 0;
};

struct FlushReport {
  int ranks = 1;
  std::string layout = {};  // of the file
  std::string trace = {},
              trace_problem = {};  // where flushes are recorded, and why they are not, which rank 0 knows; "" else
  bool done = false;               // there was a flush
  bool under_way = false;          // one was begun, and has not ended
  std::array<int64_t, k_trace_sums> sums{};
  std::array<int64_t, k_trace_maxima> maxima{};
  std::vector<PlanReport> plans;
  std::vector<SentTo> sent;  // this rank's own, as the next
  StripeTally touched = {};
};

FlushNumbers flush_numbers(const FlushReport& report) noexcept;  // the same on all ranks

// The choices on the six axes as texts: owner, gather, domains, codec, access, files.
inline constexpr std::array<const char*, 6> k_axes{"owner", "gather", "domains", "codec", "access", "files"};
std::array<std::string, k_axes.size()> axes_of(const Plan& plan);

std::string report_text(const FlushReport& report);
std::string report_json(const FlushReport& report);
std::string explain_text(const FlushReport& report);
std::string explain_json(const FlushReport& report);

}  // namespace windrow
