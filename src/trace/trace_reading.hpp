// SPDX-License-Identifier: BSD-3-Clause
// Reads a trace line by line, with the checks that all readers of traces rely on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/status.hpp"
#include "trace/trace_format.hpp"

namespace windrow {

struct TraceLine {
  enum class Kind {
    opening,
    details,
    flush
  };
  Kind kind = Kind::opening;
  size_t opening = 0;  // of which this is a line: 0, 1, ... in the order of the trace; a trace that several programs
                       // wrote mixes them
  std::optional<size_t> details;  // number of these details (0, 1, ... in the order of the trace), or of the flush's;
                                  // none: the trace has no details of it
  const nlohmann::ordered_json& json;
};

// Local. Reads an open stream, called `path` in messages. Takes the lines in order until one is damaged: it is not
// JSON, is nested too deep, refers to an opening or details of no earlier line, has an impossible value, or `take`
// threw a std::exception (std::bad_alloc is passed on). Returns what is wrong with that line, with file and number; "":
// nothing. Checks `windrow trace`, `opening` and `ranks` of openings; of flushes, that their numbers increase and that
// flush_number_names() are counts. bad_file: the stream is empty, no trace, or of another version.
Result<std::string> read_trace_lines(std::istream& stream, const std::string& path,
                                     const std::function<void(const TraceLine&)>& take);

// A whole number from 0 to a quarter of what 64 bits hold, so that some can be summed; throws std::runtime_error for
// another.
int64_t count_of(const nlohmann::ordered_json& json, const std::string& name);

}  // namespace windrow
