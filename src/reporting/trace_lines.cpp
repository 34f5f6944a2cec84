// SPDX-License-Identifier: BSD-3-Clause
#include "reporting/trace_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "base/varint.hpp"
#include "decomposition/decomposition.hpp"
#include "extent/encode.hpp"
#include "reporting/report_json.hpp"
#include "trace/recording.hpp"

namespace windrow {
namespace {

using nlohmann::ordered_json;

constexpr size_t k_most_domains = 1024;

// Reads the message of a rank, which the same library has made. Numbers after the end of the message are zeros.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  int64_t number() noexcept { return static_cast<int64_t>(read_varint(bytes_, position_).value_or(0)); }
  // The number of entries that follow: at most as many as there are bytes.
  int64_t count() noexcept {
    return std::min(std::max<int64_t>(0, number()),
                    static_cast<int64_t>(bytes_.size() - std::min(position_, bytes_.size())));
  }
  bool section() noexcept { return number() == 1; }
  bool empty() const noexcept { return bytes_.empty(); }
  Result<Pieces> list() { return decode(bytes_, position_); }
  std::vector<int64_t> numbers(int64_t count) {
    std::vector<int64_t> found;
    for (int64_t i = 0; i < count && position_ < bytes_.size(); ++i)
      found.push_back(number());
    return found;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t position_ = 0;
};

const char* kind_name(DecompositionKind kind) noexcept {
  switch (kind) {
    case DecompositionKind::block:
      return "block";
    case DecompositionKind::blocks:
      return "blocks";
    case DecompositionKind::rows:
      return "rows";
    case DecompositionKind::points:
      return "points";
    case DecompositionKind::same:
      return "same";
  }
  return "";
}

// [[first, last], ...] of ascending ranks.
ordered_json ranges(const std::vector<int>& ranks) {
  ordered_json list = ordered_json::array();
  for (const int rank : ranks) {
    if (!list.empty() && list.back()[1] == rank - 1)
      list.back()[1] = rank;
    else
      list.push_back({rank, rank});
  }
  return list;
}

ordered_json powers(const std::map<int64_t, int64_t>& counts) {
  ordered_json list = ordered_json::array();
  for (const auto& [power, count] : counts)
    list.push_back({power, count});
  return list;
}

void add_counts(Reader& reader, std::map<int64_t, int64_t>& counts) {
  for (int64_t left = reader.count(); left > 0; --left) {
    const int64_t power = reader.number();
    counts[power] += reader.number();
  }
}

// One nest as [first element, number of elements, [count, stride], ...].
ordered_json nest_json(const Nest& nest) {
  ordered_json json{nest.run.file, nest.run.length};
  if (nest.run.count > 1)
    json.push_back({nest.run.count, nest.run.file_stride});
  for (int level = 0; level < nest.depth; ++level)
    json.push_back({nest.loops[Nest::at(level)].count, nest.loops[Nest::at(level)].file_stride});
  return json;
}

// Combines the messages of all ranks.
class FlushGatherer {
 public:
  void take(int rank, std::span<const std::byte> message) {
    Reader reader(message);
    if (reader.empty())
      return;
    ranks_.push_back(rank);
    for (auto& column : times_)
      column.push_back(reader.number());
    for (auto& column : counters_)
      column.push_back(reader.number());
    if (reader.section()) {
      add_counts(reader, writes_);
      add_counts(reader, reads_);
    }
    if (reader.section())
      for (int64_t left = reader.count(); left > 0; --left) {
        const int64_t target = reader.number() - 1;
        targets_.push_back({rank, target, reader.number()});
      }
    if (is_sampled_rank(rank, all_))
      take_sampled(rank, reader);
    if (all_ > k_most_ranks && !is_sampled_rank(rank, all_))
      return;
    if (reader.section())
      take_list(rank, reader);
    if (reader.section())
      take_queue(rank, reader);
    while (reader.section())
      take_decomposition(rank, reader);
  }
  explicit FlushGatherer(int ranks) : all_(ranks) {}
  void store(ordered_json& json, const Catalog& catalog) const;

 private:
  void take_sampled(int rank, Reader& reader);
  void take_list(int rank, Reader& reader);
  void take_queue(int rank, Reader& reader);
  void take_decomposition(int rank, Reader& reader);
  ordered_json columns() const;
  ordered_json queue_json(const Catalog& catalog) const;

  static constexpr size_t k_times = 2 + static_cast<size_t>(k_stages);
  int all_;
  std::vector<int> ranks_;                           // with a message that is not empty
  std::array<std::vector<int64_t>, k_times> times_;  // nanoseconds
  std::array<std::vector<int64_t>, k_rank_counters.size()> counters_;
  std::map<int64_t, int64_t> writes_, reads_;
  std::vector<std::array<int64_t, 3>> targets_;  // rank, target, bytes
  ordered_json timeline_ = ordered_json::array(), sent_ = ordered_json::array();
  std::map<std::array<int64_t, 6>, std::vector<int>>
      queue_;  // variable, put, record + 1, ordinal, decomposition, type + 1
  int64_t left_out_ = 0;
  ordered_json list_;  // null: the file has variables
  std::map<int64_t, ordered_json> decompositions_;
};

// What a rank holds of a shape with so many dimensions.
ordered_json take_held(int rank, Reader& reader, int64_t dimensions) {
  ordered_json held{{"rank", rank}, {"elements", reader.number()}, {"pieces", reader.number()}};
  switch (static_cast<HeldForm>(reader.number())) {
    case HeldForm::boxes:
      held["start"] = reader.numbers(dimensions);
      held["count"] = reader.numbers(dimensions);
      break;
    case HeldForm::runs: {
      held["runs"] = ordered_json::array();
      const auto list = reader.list();
      if (!list.ok())
        break;
      Nest nest;
      for (RecordReader records{PieceView(list.value())}; records.take(nest);)
        held["runs"].push_back(nest_json(nest));
      break;
    }
    case HeldForm::lengths: {
      std::map<int64_t, int64_t> lengths;
      add_counts(reader, lengths);
      held["lengths"] = powers(lengths);
      break;
    }
  }
  return held;
}

void FlushGatherer::take_sampled(int rank, Reader& reader) {
  if (reader.section()) {
    ordered_json intervals = ordered_json::array();
    int64_t left_out = 0;
    for (const bool storage : {false, true}) {
      const int64_t count = reader.count();
      left_out += reader.number();
      for (int64_t i = 0; i < count; ++i) {
        const auto stage = static_cast<Stage>(reader.number());
        const int64_t begin = reader.number(), length = reader.number(), busy = reader.number();
        intervals.push_back({std::string(stage_name(stage)), begin, begin + length, busy, storage ? 1 : 0});
      }
    }
    timeline_.push_back({{"rank", rank}, {"intervals", std::move(intervals)}, {"left_out", left_out}});
  }
  if (!reader.section())
    return;
  const int64_t count = reader.count();
  const int64_t more = reader.number();
  for (int64_t i = 0; i < count; ++i) {
    const std::vector<int64_t> sent = reader.numbers(4);
    if (sent.size() == 4)
      sent_.push_back({rank, sent[0], sent[1], sent[2], sent[3]});
  }
  if (more > 0)
    sent_.push_back({rank, nullptr, more, 0, 0});
}

void FlushGatherer::take_list(int rank, Reader& reader) {
  const bool writes = reader.number() == 1;
  const int64_t end = reader.number();
  if (list_.is_null())
    list_ = {{"direction", writes ? "write" : "read"}, {"end", int64_t{0}}, {"ranks", ordered_json::array()}};
  list_["end"] = std::max(end, list_["end"].get<int64_t>());
  list_["ranks"].push_back(take_held(rank, reader, 0));
}

void FlushGatherer::take_queue(int rank, Reader& reader) {
  const int64_t count = reader.count();
  left_out_ = std::max(left_out_, reader.number());
  for (int64_t i = 0; i < count; ++i) {
    std::array<int64_t, 6> key{};
    for (int64_t& number : key)
      number = reader.number();
    std::vector<int>& ranks = queue_[key];
    if (ranks.empty() || ranks.back() != rank)
      ranks.push_back(rank);
  }
}

void FlushGatherer::take_decomposition(int rank, Reader& reader) {
  const int64_t identity = reader.number();
  const auto kind = static_cast<DecompositionKind>(reader.number());
  const int64_t marks = reader.number();
  const std::vector<int64_t> shape = reader.numbers(reader.count());
  const auto dimensions = static_cast<int64_t>(shape.size());
  ordered_json& json = decompositions_[identity];
  if (json.is_null())
    json = {{"id", identity},
            {"kind", kind_name(kind)},
            {"shape", shape},
            {"flags", (marks & 1) != 0},
            {"replicas", (marks & 2) != 0},
            {"ranks", ordered_json::array()}};
  json["ranks"].push_back(take_held(rank, reader, dimensions));
}

ordered_json summary_of(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return {{"least", values.front()}, {"median", values[values.size() / 2]}, {"most", values.back()}};
}

// A list of the ranks' values for each number. With more than k_most_ranks ranks, lists of the sampled ranks, and
// summaries of all.
ordered_json FlushGatherer::columns() const {
  ordered_json json, summary;
  const bool some = all_ > k_most_ranks;
  std::vector<size_t> shown;
  for (size_t i = 0; i < ranks_.size(); ++i)
    if (!some || is_sampled_rank(ranks_[i], all_))
      shown.push_back(i);
  std::vector<int> ranks;
  for (const size_t i : shown)
    ranks.push_back(ranks_[i]);
  json["ranks"] = ranges(ranks);
  const auto add = [&](std::string_view name, const std::vector<int64_t>& column) {
    ordered_json list = ordered_json::array();
    for (const size_t i : shown)
      list.push_back(column[i]);
    json[std::string(name)] = std::move(list);
    if (some && !column.empty())
      summary[std::string(name)] = summary_of(column);
  };
  add("began_ns", times_[0]);
  add("ended_ns", times_[1]);
  for (size_t stage = 0; stage + 2 < k_times; ++stage)
    add(std::string(stage_name(static_cast<Stage>(stage))) + "_ns", times_[stage + 2]);
  for (size_t i = 0; i < k_rank_counters.size(); ++i)
    add(k_rank_counters[i], counters_[i]);
  if (some)
    json["of_all_ranks"] = std::move(summary);
  return json;
}

ordered_json FlushGatherer::queue_json(const Catalog& catalog) const {
  ordered_json list = ordered_json::array();
  for (const auto& [key, ranks] : queue_) {
    const auto& [number, put, record, ordinal, decomposition, type] = key;
    if (number < 0 || static_cast<size_t>(number) >= catalog.variables.size())
      continue;
    const Variable& variable = catalog.variables[static_cast<size_t>(number)];
    ordered_json json{{"variable", variable.path},
                      {"direction", put != 0 ? "write" : "read"},
                      {"type", type_name(variable.type)},
                      {"element_bytes", element_bytes(variable.type, variable.details)},
                      {"shape", variable.shape}};
    if (variable.is_chunked())
      json["chunk"] = variable.chunking.shape;
    if (variable.placement.is_known())
      json["offset"] = variable.placement.offset;
    if (type > 0)
      json["memory_type"] = type_name(static_cast<Type>(type - 1));
    if (record > 0)
      json["record"] = record - 1;
    if (ordinal > 0)
      json["earlier_puts"] = ordinal;
    json["decomposition"] = decomposition;
    json["ranks"] = ranges(ranks);
    list.push_back(std::move(json));
  }
  return list;
}

void FlushGatherer::store(ordered_json& json, const Catalog& catalog) const {
  json["by_rank"] = columns();
  json["request_sizes"] = {{"write", powers(writes_)}, {"read", powers(reads_)}};
  json["targets"] = targets_;
  json["timeline"] = timeline_;
  json["sent"] = sent_;
  json["queue"] = queue_json(catalog);
  if (left_out_ > 0)
    json["queue_left_out"] = left_out_;
  if (!list_.is_null())
    json["list"] = list_;
  json["decompositions"] = ordered_json::array();
  for (const auto& [identity, decomposition] : decompositions_)
    json["decompositions"].push_back(decomposition);
}

ordered_json layout_json(const StorageLayout& layout) {
  ordered_json json{{"kind", std::string(name_of(layout.kind))}, {"components", ordered_json::array()}};
  for (const LayoutComponent& each : layout.components)
    json["components"].push_back(
        {{"begin", each.bytes.begin},
         {"end", each.bytes.end == k_no_end ? ordered_json(nullptr) : ordered_json(each.bytes.end)},
         {"stripe_bytes", each.stripe_bytes},
         {"stripe_count", each.stripe_count},
         {"object_bytes", each.object_bytes},
         {"targets", each.targets}});
  return json;
}

// Names may have any bytes, so invalid UTF-8 is replaced.
std::string text_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}
std::string line_of(const ordered_json& json) {
  return text_of(json) + "\n";
}

// As JSON.
std::string error_text(const Status& verdict) {
  if (verdict.ok())
    return "\"\"";
  return text_of(verdict.message().empty() ? code_name(verdict.code()) : verdict.message().substr(0, k_longest_error));
}

}  // namespace

bool is_sampled_rank(int rank, int ranks) noexcept {
  if (ranks <= k_sampled_ranks)
    return true;
  const int64_t most = k_sampled_ranks - 1, last = ranks - 1;
  const int64_t step = (rank * most + last - 1) / last;  // the first sample at or after this rank
  return step * last / most == rank;
}

std::array<int64_t, k_rank_counters.size()> rank_counters(const Trace& trace) noexcept {
  return {trace.bytes_written,
          trace.bytes_read,
          trace.write_requests,
          trace.read_requests,
          trace.messages,
          trace.message_bytes,
          trace.description_messages,
          trace.description_bytes,
          trace.bytes_copied,
          trace.bytes_shared,
          trace.bytes_mapped,
          trace.direct_bytes,
          trace.rounds,
          trace.buffer_bytes,
          trace.is_writer};
}

std::string opening_line(const TracedOpening& opening) {
  ordered_json json;
  json["windrow trace"] = k_trace_version;  // first: k_trace_begins
  json["opening"] = opening.identity;
  json["file"] = opening.file;
  json["mode"] = opening.mode;
  json["format"] = opening.format;
  json["windrow"] = opening.version;
  json["opened"] = opening.created;
  json["ranks"] = opening.ranks;
  json["clock_accuracy_s"] = opening.clock_accuracy;
  json["columns"] = opening.columns;
  json["settings"] = opening.settings;
  json["layout"] = layout_json(opening.layout);
  json["hosts"] = opening.hosts;
  // [first rank, last rank, number of the host]
  json["ranks_on_hosts"] = ordered_json::array();
  for (size_t rank = 0; rank < opening.host_of.size(); ++rank) {
    ordered_json& list = json["ranks_on_hosts"];
    if (!list.empty() && list.back()[2] == opening.host_of[rank])
      list.back()[1] = rank;
    else
      list.push_back({rank, rank, opening.host_of[rank]});
  }
  return line_of(json);
}

std::string details_line(const TracedOpening& opening, int64_t number, const TracedFlush& flush,
                         const MessageOf& message) {
  ordered_json json{{"opening", opening.identity}, {"details", number}};
  ordered_json report = report_object(flush.report);
  report.erase("trace");
  for (ordered_json& plan : report["plans"])
    if (plan["domain_bytes"].size() > k_most_domains)
      plan["domain_bytes"] = nullptr;
  json["report"] = std::move(report);
  FlushGatherer gathered(opening.ranks);
  for (int rank = 0; rank < opening.ranks; ++rank)
    gathered.take(rank, message(rank));
  gathered.store(json, flush.catalog);
  return line_of(json);
}

// Formatted without a JSON tree, because that would take longer than some flushes.
std::string flush_line(const TracedOpening& opening, const FlushPlace& place, const TracedFlush& flush) {
  std::string line = fmt::format(
      R"({{"opening":"{}","flush":{},"details":{},"error":{},"ended_ns":{})", opening.identity, place.flush,
      place.details > 0 ? fmt::format("{}", place.details) : "null", error_text(flush.verdict), place.ended);
  const FlushNumbers numbers = flush_numbers(flush.report);
  for (size_t i = 0; i < numbers.size(); ++i)
    fmt::format_to(std::back_inserter(line), R"(,"{}":{})", flush_number_names()[i], numbers[i]);
  line += R"(,"plans":[)";
  const auto& plans = flush.report.plans;
  for (size_t i = 0; i < std::min(plans.size(), k_most_plans); ++i) {
    const Pattern& pattern = plans[i].plan.pattern;
    fmt::format_to(std::back_inserter(line),
                   R"({}{{"id":{},"direction":"{}","strategy":"{}: {}","writers":{},)"
                   R"("pattern":{{"bytes":{},"pieces":{},"entries":{},)"
                   R"("ranks_with_data":{},"largest_rank_bytes":{}}}}})",
                   i > 0 ? "," : "", plans[i].id, pattern.reading ? "read" : "write", plans[i].plan.strategy.preset,
                   fmt::join(axes_of(plans[i].plan), ", "), plans[i].plan.writers.size(), pattern.bytes, pattern.pieces,
                   pattern.entries, pattern.ranks_with_data, pattern.largest_rank_bytes);
  }
  return line + fmt::format("],\"plans_left_out\":{}}}\n", plans.size() - std::min(plans.size(), k_most_plans));
}

}  // namespace windrow
