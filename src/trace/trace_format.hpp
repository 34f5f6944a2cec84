// SPDX-License-Identifier: BSD-3-Clause
// Constants of the trace format that its writer and its readers share; docs/traces.md has the rest.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "trace/trace.hpp"

namespace windrow {

inline constexpr int k_trace_version = 3;
inline constexpr std::string_view k_trace_begins = "{\"windrow trace\":";

// Counters in the line of a flush, named as in the report's JSON; `targets` is that of all ranks.
inline constexpr std::array<std::string_view, 11> k_flush_counters{
    "bytes",    "bytes_written", "bytes_read",           "write_requests", "read_requests", "rounds",
    "messages", "bytes_sent",    "description_messages", "writers",        "targets"};

// All numbers in the line of a flush, in order: nanoseconds in total and of each stage, both of the slowest rank; the
// sum over all ranks for each stage; the counters.
inline constexpr size_t k_flush_numbers = 1 + 2 * static_cast<size_t>(k_stages) + k_flush_counters.size();
using FlushNumbers = std::array<int64_t, k_flush_numbers>;
const std::array<std::string, k_flush_numbers>& flush_number_names();

}  // namespace windrow
