// SPDX-License-Identifier: BSD-3-Clause
#include "reporting/weighing_json.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "trace/trace_reading.hpp"

namespace windrow {
namespace {

using nlohmann::ordered_json;

constexpr size_t k_most_alternatives = 12, k_most_regions = 64;

constexpr const char *k_swapped = "swapped", *k_never_written = "never_written", *k_shrinks = "shrinks_to_of_64",
                     *k_least_unit = "least_unit", *k_short_window = "short_window", *k_direct_asked = "direct_asked",
                     *k_may_sieve_writes = "may_sieve_writes";

// Visits each number and flag of a pattern with its name, to write and to read.
template <class AnyPattern, class Visit>
void for_each_count(AnyPattern& pattern, Visit&& visit) {
  visit("bytes", pattern.bytes);
  visit("pieces", pattern.pieces);
  visit("entries", pattern.entries);
  visit("long_bytes", pattern.long_bytes);
  visit("long_pieces", pattern.long_pieces);
  visit("ranks_with_data", pattern.ranks_with_data);
  visit("largest_rank_bytes", pattern.largest_rank_bytes);
  visit("points", pattern.points);
  visit("load", pattern.load);
  visit("holes", pattern.holes);
}
template <class AnyPattern, class Visit>
void for_each_mark(AnyPattern& pattern, Visit&& visit) {
  visit("reading", pattern.reading);
  visit("shared_reads", pattern.shared_reads);
  visit("in_memory", pattern.in_memory);
  visit("uniform", pattern.uniform);
  visit("owned_flags", pattern.owned_flags);
  visit("replicas", pattern.replicas);
  visit("overlapping", pattern.overlapping);
}
template <class AnyLimits, class Visit>
void for_each_bound(AnyLimits& limits, Visit&& visit) {
  visit("buffer", limits.buffer_bytes);
  visit("unit", limits.unit);
  visit("direct_bytes", limits.direct_bytes);
  visit("direct_read_bytes", limits.direct_read_bytes);
  visit("direct_row_bytes", limits.direct_row_bytes);
  visit("sieve_hole", limits.hole_bytes);
  visit("buffers", limits.buffers);
}

Status malformed(const std::string& what) {
  return {Code::bad_file, what};
}

Extent extent_of(const ordered_json& json) {
  const auto begin = json.at(0).get<int64_t>(), end = json.at(1).is_null() ? k_no_end : json.at(1).get<int64_t>();
  if (begin < 0 || end < begin)
    throw std::runtime_error(fmt::format("there are no bytes {}", json.dump()));
  return {begin, end};
}

ordered_json seconds_json(const Prediction& seconds) {
  return {{"total", seconds.total}, {"flush", seconds.flush()},     {"open", seconds.open},
          {"plan", seconds.plan},   {"exchange", seconds.exchange}, {"storage", seconds.storage}};
}

}  // namespace

ordered_json alternatives_json(const PlanInput& input, const Weighing& weighing) {
  ordered_json json{{"machine", weighing.machine},
                    {"measured", weighing.measured},
                    {"storage", input.limits.machine->storage.kind},
                    {"alternatives", ordered_json::array()}};
  size_t others = 0;
  for (const Alternative& each : weighing.alternatives) {
    if (!each.chosen && ++others >= k_most_alternatives)
      continue;
    const Strategy& strategy = each.candidate.strategy;
    json["alternatives"].push_back({{"strategy", short_text(each.candidate, input.pattern.reading)},
                                    {"gather", name_of(strategy.gather)},
                                    {"domains", name_of(strategy.domains)},
                                    {"access", name_of(strategy.access)},
                                    {"writers", each.candidate.writers},
                                    {"direct", each.candidate.direct_bytes},
                                    {"seconds", seconds_json(each.seconds)},
                                    {"chosen", each.chosen}});
  }
  return json;
}

ordered_json pattern_json(const PlanInput& input) {
  ordered_json json;
  for_each_count(input.pattern, [&](const char* name, int64_t count) { json[name] = count; });
  for_each_mark(input.pattern, [&](const char* name, bool mark) { json[name] = mark; });
  json[k_swapped] = input.pattern.swapped;
  json[k_never_written] = input.pattern.never_written;
  json[k_shrinks] = input.pattern.shrinks_to_of_64;
  const std::vector<Extent>& regions = input.pattern.regions;
  int64_t bytes = 0;
  for (const Extent& region : regions)
    bytes += region.size();
  json["region_bytes"] = bytes;
  json["regions"] = ordered_json::array();
  // Very many regions are replaced by one of as many bytes, because predictions depend on the bytes only.
  if (regions.size() > k_most_regions)
    json["regions"].push_back({regions.front().begin, regions.front().begin + bytes});
  else
    for (const Extent& region : regions)
      json["regions"].push_back({region.begin, region.end});
  for_each_bound(input.limits, [&](const char* name, int64_t bound) { json["limits"][name] = bound; });
  json["limits"][k_least_unit] = input.limits.least_unit;
  json["limits"][k_short_window] = input.limits.short_window;
  json["limits"][k_direct_asked] = input.limits.direct_asked;
  if (!input.limits.may_sieve_writes)  // rare
    json["limits"][k_may_sieve_writes] = false;
  return json;
}

Result<RecordedPattern> read_pattern(const ordered_json& json) {
  RecordedPattern recorded;
  try {
    for_each_count(recorded.pattern, [&](const char* name, int64_t& count) { count = count_of(json, name); });
    for_each_mark(recorded.pattern, [&](const char* name, bool& mark) { mark = json.at(name).get<bool>(); });
    recorded.pattern.swapped = json.value(k_swapped, false);
    recorded.pattern.never_written = json.value(k_never_written, false);
    if (json.contains(k_shrinks))
      recorded.pattern.shrinks_to_of_64 = std::min<int64_t>(64, count_of(json, k_shrinks));
    for_each_bound(recorded.limits,
                   [&](const char* name, int64_t& bound) { bound = count_of(json.at("limits"), name); });
    if (json.at("limits").contains(k_least_unit))
      recorded.limits.least_unit = count_of(json.at("limits"), k_least_unit);
    if (json.at("limits").contains(k_short_window))
      recorded.limits.short_window = count_of(json.at("limits"), k_short_window);
    recorded.limits.direct_asked = json.at("limits").value(k_direct_asked, false);
    recorded.limits.may_sieve_writes = json.at("limits").value(k_may_sieve_writes, true);
    int64_t end = 0;
    for (const ordered_json& each : json.at("regions")) {
      const Extent region = extent_of(each);
      if (region.begin < end || region.end == k_no_end)
        return malformed("regions overlap or have no end");
      recorded.pattern.regions.push_back(region);
      end = region.end;
    }
    if (recorded.limits.buffer_bytes < 1 || recorded.limits.unit < 1)
      return malformed("limits cannot be 0");
    return recorded;
  } catch (const nlohmann::json::exception& error) {
    return malformed(fmt::format("its pattern: {}", error.what()));
  } catch (const std::runtime_error& error) {
    return malformed(fmt::format("its pattern: {}", error.what()));
  }
}

Result<StorageLayout> read_layout_json(const ordered_json& json) {
  StorageLayout layout;
  try {
    const std::string kind = json.at("kind").get<std::string>();
    int known = 0;
    while (known < k_layout_kinds && name_of(static_cast<LayoutKind>(known)) != kind)
      ++known;
    if (known == k_layout_kinds)
      return malformed(fmt::format("unknown layout \"{}\"", kind));
    layout.kind = static_cast<LayoutKind>(known);
    for (const ordered_json& each : json.at("components")) {
      if (each.at("begin").get<int64_t>() < 0)
        return malformed("its layout begins before the file");
      layout.components.push_back({.bytes = extent_of({each.at("begin"), each.at("end")}),
                                   .stripe_bytes = each.at("stripe_bytes").get<int64_t>(),
                                   .stripe_count = each.at("stripe_count").get<int64_t>(),
                                   .object_bytes = each.value("object_bytes", int64_t{0}),  // older traces have none
                                   .targets = each.at("targets").get<std::vector<int64_t>>()});
    }
  } catch (const nlohmann::json::exception& error) {
    return malformed(fmt::format("its layout: {}", error.what()));
  } catch (const std::runtime_error& error) {
    return malformed(fmt::format("its layout: {}", error.what()));
  }
  if (layout.components.empty())
    return layout;
  if (Status sound = check_layout(layout); !sound.ok())
    return sound;
  return layout;
}

}  // namespace windrow
