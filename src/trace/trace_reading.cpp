// SPDX-License-Identifier: BSD-3-Clause
#include "trace/trace_reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/nesting.hpp"
#include "base/units.hpp"

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
    const ordered_json json = parse(text);
    if (json.contains("windrow trace"))
      read_opening(json);
    else if (json.contains("flush"))
      read_flush(json);
    else
      read_details(json);
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
    if (const ordered_json& version = json.at("windrow trace"); version != k_trace_version)
      throw VersionError(fmt::format("a trace of version {:.40}; this command reads version {}",
                                     version.dump(-1, ' ', true, ordered_json::error_handler_t::replace),
                                     k_trace_version));
    constexpr int64_t k_most = 1 << 28;
    if (const int64_t ranks = count_of(json, "ranks"); ranks < 1 || ranks > k_most)
      refuse(fmt::format("it cannot have {}", counted(ranks, "rank")));
    numbers_[json.at("opening").get<std::string>()] = last_flush_.size();
    last_flush_.push_back(0);
    take_({TraceLine::Kind::opening, last_flush_.size() - 1, std::nullopt, json});
  }

  void read_details(const ordered_json& json) {
    const size_t opening = opening_of(json);
    const int64_t number = count_of(json, "details");
    const auto [place, is_new] = details_.emplace(std::pair(opening, number), details_.size());
    if (!is_new)
      refuse(fmt::format("the details of flush {} come twice", number));
    take_({TraceLine::Kind::details, opening, place->second, json});
  }

  void read_flush(const ordered_json& json) {
    const size_t opening = opening_of(json);
    const int64_t number = count_of(json, "flush");
    if (number <= last_flush_[opening])
      refuse(fmt::format("flush {} comes after flush {}", number, last_flush_[opening]));
    last_flush_[opening] = number;
    for (const std::string& name : flush_number_names())
      (void)count_of(json, name);
    std::optional<size_t> details;
    if (!json.at("details").is_null()) {
      const auto found = details_.find({opening, count_of(json, "details")});
      if (found == details_.end())
        refuse(fmt::format("no earlier line has the details of flush {}", json["details"].dump()));
      details = found->second;
    }
    take_({TraceLine::Kind::flush, opening, details, json});
  }

  size_t opening_of(const ordered_json& json) const {
    const auto found = numbers_.find(json.at("opening").get<std::string>());
    if (found == numbers_.end())
      refuse("a flush of a file that no earlier line opened");
    return found->second;
  }

  const std::function<void(const TraceLine&)>& take_;
  std::map<std::string, size_t> numbers_;                 // of openings
  std::vector<int64_t> last_flush_;                       // of each opening
  std::map<std::pair<size_t, int64_t>, size_t> details_;  // numbers of details, by opening and flush
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

const std::array<std::string, k_flush_numbers>& flush_number_names() {
  static const auto names = [] {
    std::array<std::string, k_flush_numbers> made{"total_ns"};
    auto next = made.begin() + 1;
    for (const char* of : {"_ns", "_sum_ns"})
      for (int stage = 0; stage < k_stages; ++stage)
        *next++ = std::string(stage_name(static_cast<Stage>(stage))) + of;
    std::copy(k_flush_counters.begin(), k_flush_counters.end(), next);
    return made;
  }();
  return names;
}

int64_t count_of(const ordered_json& json, const std::string& name) {
  return checked_count(json.at(name), name);
}

}  // namespace windrow
