// SPDX-License-Identifier: BSD-3-Clause
// The report: what the last flush did over all ranks, and its plans; as text and as JSON.
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

// The numbers of a trace in the order of their reduction: sums, then maxima. Times are sent in nanoseconds.
inline constexpr size_t k_trace_counters = 29 + static_cast<size_t>(k_stages), k_codec_numbers = 5;
inline constexpr size_t k_trace_sums = k_trace_counters + k_codec_kinds * k_codec_numbers + 3 * k_most_arms;
inline constexpr size_t k_trace_maxima = static_cast<size_t>(k_stages) + 6;
void store_trace(const Trace& trace, std::span<int64_t> sums, std::span<int64_t> maxima);

// In the same reduction: the longest time of a batch on any rank, and the input of the tuner of its codec.
void store_batch(double seconds, std::span<int64_t> maxima);
double read_batch(std::span<const int64_t> maxima);
void store_tuning(const Predicted& predicted, std::span<int64_t> sums);
void read_tuning(Predicted& predicted, std::span<const int64_t> sums);

struct PlanReport {
  Plan plan;
  PlanForecast forecast;
  bool cached = false;  // made in an earlier flush
  int64_t id = 0;       // in the plan cache of the file, the same on all ranks
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
              trace_problem = {};  // the path of the trace, and why it is not written (on rank 0); otherwise ""
  bool done = false;               // there was a flush
  bool under_way = false;          // a flush is in flight
  std::array<int64_t, k_trace_sums> sums{};
  std::array<int64_t, k_trace_maxima> maxima{};
  std::vector<PlanReport> plans;
  std::vector<SentTo> sent;  // of this rank, like the next
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
