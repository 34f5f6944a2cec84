// SPDX-License-Identifier: BSD-3-Clause
#include "trace/trace_reading.hpp"

#include <fmt/format.h>

#include <map>
#include <stdexcept>
#include <vector>

#include "base/nesting.hpp"
#include "base/units.hpp"
#include "trace/trace.hpp"

namespace windrow {
namespace {

using nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& what) {
  throw std::runtime_error(what);
}

struct VersionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct ParseError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

int64_t checked_count(const ordered_json& number, const std::string& name) {
  if (!number.is_number_integer())
    refuse(fmt::format("{} is not a whole number", name));
  const auto count =
      number.is_number_unsigned() && number.get<uint64_t>() > INT64_MAX ? INT64_MAX : number.get<int64_t>();
  if (count < 0 || count > INT64_MAX / 4)
    refuse(fmt::format("{} cannot be {}", name, number.dump()));
  return count;
}

class LineReader {
 public:
  explicit LineReader(const std::function<void(const TraceLine&)>& take) : take_(take) {}

  void read(const std::string& text) {
    ordered_json json = parse(text);
    if (json.contains("windrow trace"))
      read_opening(json);
    else if (json.contains("brief_flushes"))
      read_brief(json);
    else
      read_flush(json);
  }

 private:
  static ordered_json parse(const std::string& text) {
    if (is_nested_too_deep(text))
      refuse(fmt::format("lists are nested more than {} deep", k_most_nesting));
    try {
      return ordered_json::parse(text);
    } catch (const ordered_json::parse_error&
                 error) {  // its own words have what is wrong in them, and that may be any bytes
      throw ParseError(fmt::format("it is not JSON from byte {} on", error.byte));
    }
  }

  void read_opening(const ordered_json& json) {
    if (const ordered_json& version = json.at("windrow trace"); version != k_trace_version && version != 1)
      throw VersionError(fmt::format("a trace of version {:.40}; this command reads versions 1 to {}",
                                     version.dump(-1, ' ', true, ordered_json::error_handler_t::replace),
                                     k_trace_version));
    constexpr int64_t k_most = 1 << 28;
    if (const int64_t ranks = count_of(json, "ranks"); ranks < 1 || ranks > k_most)
      refuse(fmt::format("it cannot have {}", counted(ranks, "rank")));
    numbers_[json.at("opening").get<std::string>()] = last_flush_.size();
    last_flush_.push_back(0);
    take_({TraceLine::Kind::opening, last_flush_.size() - 1, json});
  }

  void read_flush(const ordered_json& json) {
    const size_t opening = opening_of(json);
    next_flush(opening, count_of(json, "flush"));
    take_({TraceLine::Kind::flush, opening, json});
  }

  // Those who take it get lists of all.
  void read_brief(ordered_json& json) {
    const size_t opening = opening_of(json);
    ordered_json& lists = json["brief_flushes"];
    const ordered_json& numbers = lists.at("flush");
    if (!numbers.is_array())
      refuse("flush is not a list");
    for (const ordered_json& each : numbers)
      next_flush(opening, checked_count(each, "flush"));
    const size_t flushes = numbers.size();
    for (const std::string& name : brief_names()) {
      ordered_json& list = lists.at(name);
      if (list.is_number())
        list = ordered_json(flushes, ordered_json(checked_count(list, name)));
      if (!list.is_array() || list.size() != flushes)
        refuse(fmt::format("{} of {}, not {}", name, counted(list.size(), "flush", "flushes"), flushes));
      for (const ordered_json& each : list)
        (void)checked_count(each, name);
    }
    take_({TraceLine::Kind::brief, opening, json});
  }

  size_t opening_of(const ordered_json& json) const {
    const auto found = numbers_.find(json.at("opening").get<std::string>());
    if (found == numbers_.end())
      refuse("a flush of a file that no earlier line opened");
    return found->second;
  }

  void next_flush(size_t opening, int64_t number) {
    if (number <= last_flush_[opening])
      refuse(fmt::format("flush {} comes after flush {}", number, last_flush_[opening]));
    last_flush_[opening] = number;
  }

  const std::function<void(const TraceLine&)>& take_;
  std::map<std::string, size_t> numbers_;  // of openings
  std::vector<int64_t> last_flush_;        // of each opening
};

}  // namespace

Result<std::string> read_trace_lines(std::istream& stream, const std::string& path,
                                     const std::function<void(const TraceLine&)>& take) {
  LineReader reader(take);
  int64_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (number == 1 && !line.starts_with(k_trace_begins))
      return Status{Code::bad_file,
                    fmt::format("\"{}\", line 1: not a trace, which would begin with {}", path, k_trace_begins)};
    const bool ends = !stream.eof();
    try {
      reader.read(line);
    } catch (const VersionError& other) {
      return Status{Code::bad_file, fmt::format("\"{}\", line {}: {}", path, number, other.what())};
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& problem) {
      const bool is_cut = !ends && dynamic_cast<const ParseError*>(&problem) != nullptr;
      return is_cut ? fmt::format("\"{}\", line {}: the line is truncated", path, number)
                    : fmt::format("\"{}\", line {}: not a line of a trace: {}", path, number, problem.what());
    }
  }
  if (number == 0)
    return Status{Code::bad_file, fmt::format("\"{}\" is empty: not a trace", path)};
  return std::string();
}

std::vector<std::string> brief_names() {
  std::vector<std::string> names{"flush", "ended_ns", "total_ns"};
  for (size_t stage = 0; stage < static_cast<size_t>(k_stages); ++stage)
    names.push_back(std::string(stage_name(static_cast<Stage>(stage))) + "_ns");
  names.insert(names.end(), k_brief_counters.begin(), k_brief_counters.end());
  return names;
}

int64_t count_of(const ordered_json& json, const std::string& name) {
  return checked_count(json.at(name), name);
}

}  // namespace windrow
