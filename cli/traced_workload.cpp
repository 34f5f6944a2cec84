// SPDX-License-Identifier: BSD-3-Clause
#include "cli/traced_workload.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "cli/console.hpp"
#include "cli/trace_file.hpp"
#include "decomposition/decomposition.hpp"
#include "extent/algebra.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;
using windrow::checked_add;
using windrow::checked_multiply;
using windrow::Nest;
using windrow::Pieces;
using windrow::TraceLine;

Failure mistake(const std::string& path, const std::string& what) {
  return {k_exit_mistake, fmt::format("\"{}\": {}", path, what)};
}

[[noreturn]] void refuse(const std::string& what) {
  throw std::runtime_error(what);
}

// `[first, length, [times, distance], ...]`: each pair repeats all before it.
Nest nest_of(const json& list, int64_t elements) {
  const auto first = list.at(0).get<int64_t>(), length = list.at(1).get<int64_t>();
  if (first < 0 || length < 1 || list.size() > 2 + windrow::k_max_loops)
    refuse("an impossible run of elements");
  Nest nest(windrow::Run{first, 0, length, 0, 0, 1});
  int64_t span = length, bytes = length;
  for (size_t i = 2; i < list.size(); ++i) {
    const auto times = list[i].at(0).get<int64_t>(), distance = list[i].at(1).get<int64_t>();
    if (times < 1)
      refuse("impossible runs of elements");
    const auto reach = checked_multiply(times - 1, distance);
    const auto end = reach ? checked_add(*reach, span) : std::nullopt;
    if (distance < span || !end || *end > elements)
      refuse("impossible runs of elements");
    nest.repeat(times, distance, bytes);
    span = *end;
    bytes *= times;
  }
  if (first > elements - span)
    refuse("elements beyond their variable");
  return nest;
}

Pieces pieces_of_rank(const json& rank, const std::vector<int64_t>& shape, int64_t elements) {
  if (rank.at("elements").get<int64_t>() == 0)
    return {};
  if (rank.contains("start")) {
    const auto start = rank.at("start").get<std::vector<int64_t>>(),
               count = rank.at("count").get<std::vector<int64_t>>();
    const auto block =
        windrow::make_block(shape, {.starts = start, .counts = count, .memory_shapes = {}, .memory_starts = {}});
    if (!block.ok())
      refuse(block.status().message());
    return windrow::element_pieces(block.value());
  }
  if (!rank.contains("runs"))
    refuse(fmt::format("rank {} holds more runs than a trace records", rank.at("rank").get<int64_t>()));
  std::vector<Nest> nests;
  for (const json& run : rank.at("runs"))
    nests.push_back(nest_of(run, elements));
  return windrow::pieces_from_nests(nests.size(), [&](size_t i) { return nests[i]; });
}

// 0: there are none.
int64_t product(const std::vector<int64_t>& shape) {
  for (const int64_t length : shape)
    if (length < 0)
      refuse(fmt::format("a shape of {}", windrow::counted(length, "element")));
  const auto elements = windrow::checked_product(shape);
  if (!elements)
    refuse("a shape with too many elements");
  return *elements;
}

// Variables of one decomposition, one direction and one size.
struct Group {
  int64_t decomposition = 0, element_bytes = 0, variables = 0, bytes = 0,
          values = 1;  // values of a variable per element of the decomposition
  bool reading = false;
};

Group largest_group(const json& queue, const std::map<int64_t, json>& decompositions) {
  std::map<std::tuple<int64_t, int64_t, bool>, Group> groups;
  Group largest;
  for (const json& each : queue) {
    const auto id = each.at("decomposition").get<int64_t>();
    const auto shape = each.at("shape").get<std::vector<int64_t>>();
    const auto found = decompositions.find(id);
    if (shape.empty() || found == decompositions.end())
      continue;
    const int64_t elements = product(found->second.at("shape").get<std::vector<int64_t>>());
    if (elements == 0)
      continue;
    const auto trailing = windrow::checked_multiply(product(shape) / elements, each.at("element_bytes").get<int64_t>());
    if (!trailing || *trailing < 1)
      continue;  // a record of it, or nothing
    const bool reading = each.at("direction") == "read";
    Group& group = groups[{id, *trailing, reading}];
    const auto bytes = checked_multiply(elements, *trailing);
    group = {id, *trailing, group.variables + 1, group.bytes + bytes.value_or(0), product(shape) / elements, reading};
    if (group.bytes > largest.bytes)
      largest = group;
  }
  return largest;
}

// Assigns replicated elements to the lowest rank, because a trace does not record owners.
void leave_to_one(std::vector<Pieces>& lists) {
  int64_t held = 0;
  for (const Pieces& list : lists)
    held += windrow::total_bytes(list);
  const std::vector<windrow::PieceView> views(lists.begin(), lists.end());
  if (windrow::total_bytes(windrow::coverage(views)) == held)
    return;
  Pieces taken;
  for (Pieces& list : lists) {
    list = windrow::subtract(list, taken);
    taken = windrow::coverage(std::array{windrow::PieceView(taken), windrow::PieceView(list)});
  }
}

int64_t rank_of(const json& rank, int ranks) {
  const int64_t number = windrow::count_of(rank, "rank");
  if (number >= ranks)
    refuse(fmt::format("there is no rank {}", number));
  return number;
}

// The largest group that a flush moved, or its lists of plain bytes, which are like a variable of bytes.
struct Moved {
  int ranks = 0;
  Group group;
  json decomposition;
  bool plain_bytes = false;
};

Moved moved_bytes(int ranks, const json& list) {
  const int64_t end = windrow::count_of(list, "end");
  const bool reading = list.at("direction") == "read";
  return {.ranks = ranks,
          .group = {.element_bytes = 1, .variables = 1, .bytes = end, .reading = reading},
          .decomposition = {{"shape", json::array({end})}, {"ranks", list.at("ranks")}},
          .plain_bytes = true};
}

windrow::Workload workload_of(const Moved& moved) {
  const auto& [of_ranks, group, decomposition, plain_bytes] = moved;
  windrow::Workload workload{.division = windrow::Division::lists,
                             .reading = group.reading,
                             .ranks = of_ranks,
                             .shape = decomposition.at("shape").get<std::vector<int64_t>>(),
                             .element_bytes = group.element_bytes,
                             .variables = group.variables};
  const json& ranks = decomposition.at("ranks");
  if (ranks.size() != static_cast<size_t>(workload.ranks))
    refuse(fmt::format("it records the data of {} of {} only", ranks.size(), windrow::counted(workload.ranks, "rank")));
  const int64_t elements = product(workload.shape);
  workload.lists.resize(ranks.size());
  for (const json& rank : ranks)
    workload.lists.at(static_cast<size_t>(rank_of(rank, workload.ranks))) =
        pieces_of_rank(rank, workload.shape, elements);
  if (!workload.reading)
    leave_to_one(workload.lists);
  if (decomposition.value("kind", "") == "points")
    workload.points = elements, workload.load = group.values;
  workload.plain_bytes = plain_bytes;
  return workload;
}

// Finds the flush to simulate: the requested one among those that moved data, or the last.
class FlushFinder {
 public:
  explicit FlushFinder(int64_t asked) : asked_(asked) {}

  void take(const TraceLine& line) {
    if (line.kind == TraceLine::Kind::opening)
      ranks_.push_back(line.json.at("ranks").get<int>());
    if (line.kind == TraceLine::Kind::details)
      take_details(line);
    if (line.kind != TraceLine::Kind::flush || (++flushes_ != asked_ && asked_ > 0))
      return;
    is_known_ = line.details.has_value();
    if (is_known_ && details_[*line.details].group.bytes > 0)
      found_ = *line.details, number_ = flushes_;
  }

  // `damage`: of the trace, or "".
  windrow::Workload workload(const std::string& path, const std::string& damage) const {
    if (asked_ > 0 && !is_known_)
      throw mistake(path, fmt::format("has no details of flush {}", asked_));
    if (!damage.empty() && (!found_ || asked_ > flushes_))
      throw Failure(k_exit_mistake, damage);
    if (!found_)
      throw mistake(
          path, asked_ > 0 ? fmt::format("has no flush {} that moved data", asked_) : "has no flush that moved data");
    if (!damage.empty())
      fmt::print(stderr, "windrow: {}; what precedes it is simulated\n", damage);
    try {
      return workload_of(details_[*found_]);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      throw mistake(path, fmt::format("flush {} cannot be simulated: {}", number_, error.what()));
    }
  }

 private:
  void take_details(const TraceLine& line) {
    if (const auto list = line.json.find("list"); list != line.json.end()) {
      details_.push_back(moved_bytes(ranks_[line.opening], *list));
      return;
    }
    std::map<int64_t, json> decompositions;
    for (const json& each : line.json.at("decompositions"))
      decompositions[each.at("id").get<int64_t>()] = each;
    const Group group = largest_group(line.json.at("queue"), decompositions);
    details_.push_back({ranks_[line.opening], group, std::move(decompositions[group.decomposition])});
  }

  int64_t asked_ = 0;  // counted over the whole trace; 0: the last
  int64_t flushes_ = 0, number_ = 0;
  bool is_known_ = true;    // the trace has details of the requested flush
  std::vector<int> ranks_;  // of each opening
  std::vector<Moved> details_;
  std::optional<size_t> found_;
};

}  // namespace

windrow::Workload traced_workload(const std::string& path, int64_t flush) {
  FlushFinder finder(flush);
  const std::string damage = read_lines_of_trace(path, [&](const TraceLine& line) { finder.take(line); });
  return finder.workload(path, damage);
}

}  // namespace cli
