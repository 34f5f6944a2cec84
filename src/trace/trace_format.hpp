// SPDX-License-Identifier: BSD-3-Clause
// What those who write traces and those who read them have to agree on; the rest is docs/traces.md.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace windrow {

inline constexpr int k_trace_version = 2;  // 1 had no brief flushes
inline constexpr std::string_view k_trace_begins = "{\"windrow trace\":";

// Of a flush that is told by numbers: named as in the report's JSON; `targets` is what it has of all ranks.
inline constexpr std::array<std::string_view, 11> k_brief_counters{
    "bytes",    "bytes_written", "bytes_read",           "write_requests", "read_requests", "rounds",
    "messages", "bytes_sent",    "description_messages", "writers",        "targets"};
std::vector<std::string> brief_names();  // of the lists of a line of such flushes: number, times, counters

}  // namespace windrow
