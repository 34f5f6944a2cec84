// SPDX-License-Identifier: BSD-3-Clause
// Reading a trace, a line after the other, checked as far as all who read traces rely on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/status.hpp"
#include "trace/trace_format.hpp"

namespace windrow {

struct TraceLine {
  enum class Kind {
    opening,
    flush,
    brief
  };
  Kind kind = Kind::opening;
  size_t opening = 0;  // of which this is a line: 0, 1, ... in the order of the trace; a trace that several programs
                       // wrote mixes them
  const nlohmann::ordered_json& json;
};

// Local. Of a stream that is open, and called `path` in messages. Each line is taken in order, until one is damaged: it
// is no JSON, lies deeper than lines do, is of an opening that no line before has told of, says what cannot be, or
// `take` threw a std::exception about it (std::bad_alloc goes on). Returns what is wrong with that line, naming file
// and number; "": nothing. Checked are of openings the version, `opening`, `ranks`; of flushes that their numbers rise;
// of brief ones that each list is there and has a count of every flush. bad_file: it is empty, no trace, or of another
// version.
Result<std::string> read_trace_lines(std::istream& stream, const std::string& path,
                                     const std::function<void(const TraceLine&)>& take);

// A whole number from 0 to a quarter of what 64 bits hold, so that some can be summed; throws std::runtime_error for
// another.
int64_t count_of(const nlohmann::ordered_json& json, const std::string& name);

}  // namespace windrow
