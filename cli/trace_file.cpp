// SPDX-License-Identifier: BSD-3-Clause
#include "cli/trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;
using windrow::TraceLine;

std::vector<std::pair<int64_t, int64_t>> sizes_of(const json& list) {
  std::vector<std::pair<int64_t, int64_t>> sizes;
  for (const json& each : list) {
    const auto power = each.at(0).get<int64_t>();
    if (power < 0 || power > 62)
      throw std::runtime_error("a request with an impossible size");
    sizes.emplace_back(power, each.at(1).get<int64_t>());
  }
  return sizes;
}

size_t stage_called(const std::string& name) {
  const auto found = std::find(k_stages.begin(), k_stages.end(), name);
  if (found == k_stages.end())
    throw std::runtime_error(fmt::format("there is no stage {}", name));
  return static_cast<size_t>(found - k_stages.begin());
}

double seconds_of(const json& object, const char* name) {
  const auto seconds = object.at(name).get<double>();
  return std::isfinite(seconds) ? std::clamp(seconds, 0.0, 1e15) : 0;
}

void take_predicted(const json& object, TracedPlan& plan) {
  if (!object.contains("predicted"))
    return;
  const json& predicted = object["predicted"];
  plan.machine = predicted.at("machine");
  plan.measured = predicted.at("measured");
  for (const json& each : predicted.at("alternatives")) {
    const json& seconds = each.at("seconds");
    TracedAlternative alternative{
        .strategy = each.at("strategy"), .chosen = each.at("chosen"), .seconds = seconds_of(seconds, "flush")};
    for (size_t i = 0; i < k_predicted_stages.size(); ++i)
      alternative.stage_seconds[i] = seconds_of(seconds, std::string(k_predicted_stages[i]).c_str());
    plan.alternatives.push_back(std::move(alternative));
  }
}

TracedPlan plan_of(const json& object) {
  TracedPlan plan;
  plan.direction = object.at("direction");
  plan.strategy = object.at("strategy");
  for (size_t i = 0; i < k_axes.size(); ++i)
    plan.axes[i] = object.at(std::string(k_axes[i]));
  plan.writers = static_cast<int64_t>(object.at("writers").size());
  plan.cached = object.at("cached");
  plan.reasons = object.at("reasons").get<std::vector<std::string>>();
  take_predicted(object, plan);
  return plan;
}

TracedLane lane_of(const json& object) {
  TracedLane lane{.rank = object.at("rank"), .left_out = object.at("left_out"), .intervals = {}};
  for (const json& each : object.at("intervals"))
    lane.intervals.push_back({.stage = stage_called(each.at(0)),
                              .begin_ns = each.at(1),
                              .end_ns = each.at(2),
                              .busy_ns = each.at(3),
                              .storage = each.at(4).get<int>() != 0});
  return lane;
}

constexpr std::array<std::pair<const char*, int64_t TracedFlush::*>, 9> k_counters{
    {{"bytes", &TracedFlush::bytes},
     {"bytes_written", &TracedFlush::bytes_written},
     {"bytes_read", &TracedFlush::bytes_read},
     {"write_requests", &TracedFlush::write_requests},
     {"read_requests", &TracedFlush::read_requests},
     {"messages", &TracedFlush::messages},
     {"bytes_sent", &TracedFlush::bytes_sent},
     {"description_messages", &TracedFlush::description_messages},
     {"writers", &TracedFlush::writers}}};

class TraceReader {
 public:
  Trace run(const std::string& path);

 private:
  void take_opening(const json& object);
  void take_details(const json& object);
  void take_flush(const TraceLine& line);

  Trace trace_;
  std::vector<std::shared_ptr<const TracedDetails>> details_;
  const std::shared_ptr<const TracedDetails> none_ = std::make_shared<const TracedDetails>();
};

Trace TraceReader::run(const std::string& path) {
  trace_.damage = read_lines_of_trace(path, [this](const TraceLine& line) {
    if (line.kind == TraceLine::Kind::opening)
      take_opening(line.json);
    else if (line.kind == TraceLine::Kind::details)
      take_details(line.json);
    else
      take_flush(line);
  });
  return std::move(trace_);
}

void TraceReader::take_opening(const json& object) {
  TracedOpening opening{.identity = object.at("opening"),
                        .file = object.at("file"),
                        .mode = object.at("mode"),
                        .opened = object.at("opened"),
                        .columns = object.at("columns"),
                        .ranks = object.at("ranks"),
                        .clock_accuracy_s = object.at("clock_accuracy_s"),
                        .hosts = object.at("hosts").get<std::vector<std::string>>()};
  trace_.openings.push_back(std::move(opening));
}

void take_queue(const json& object, TracedDetails& details) {
  std::map<int64_t, std::string> kinds;  // of decompositions
  for (const json& each : object.at("decompositions"))
    kinds[each.at("id").get<int64_t>()] = each.at("kind");
  for (const json& each : object.at("queue")) {
    TracedVariable variable{.path = each.at("variable"),
                            .direction = each.at("direction"),
                            .type = each.at("type"),
                            .shape = each.at("shape").get<std::vector<int64_t>>(),
                            .decomposition = kinds[each.at("decomposition").get<int64_t>()],
                            .ranks = 0};
    for (const json& range : each.at("ranks"))
      variable.ranks += range.at(1).get<int64_t>() - range.at(0).get<int64_t>() + 1;
    details.variables.push_back(std::move(variable));
  }
  if (object.contains("list")) {
    const json& list = object["list"];
    TracedVariable bytes{.path = "plain bytes",
                         .direction = list.at("direction"),
                         .type = "bytes",
                         .shape = {list.at("end").get<int64_t>()},
                         .decomposition = "list",
                         .ranks = 0};
    for (const json& rank : list.at("ranks"))
      bytes.ranks += rank.at("elements").get<int64_t>() > 0 ? 1 : 0;
    details.variables.push_back(std::move(bytes));
  }
  if (object.contains("queue_left_out"))
    details.variables_left_out = object["queue_left_out"];
}

void TraceReader::take_details(const json& object) {
  TracedDetails details;
  details.flush = object.at("details");
  details.layout = object.at("report").at("layout");
  for (const json& plan : object.at("report").at("plans"))
    details.plans.push_back(plan_of(plan));
  take_queue(object, details);
  for (const json& each : object.at("timeline"))
    details.lanes.push_back(lane_of(each));
  details.targets = object.at("targets").get<std::vector<std::array<int64_t, 3>>>();
  details.write_sizes = sizes_of(object.at("request_sizes").at("write"));
  details.read_sizes = sizes_of(object.at("request_sizes").at("read"));
  details_.push_back(std::make_shared<const TracedDetails>(std::move(details)));
}

void TraceReader::take_flush(const TraceLine& line) {
  const json& object = line.json;
  const auto seconds = [&](std::string_view of) {
    return static_cast<double>(object.at(fmt::format("{}_ns", of)).get<int64_t>()) * 1e-9;
  };
  TracedFlush flush;
  flush.opening = line.opening;
  flush.number = object.at("flush");
  flush.error = object.at("error");
  flush.details = line.details ? details_[*line.details] : none_;
  flush.seconds = seconds("total");
  for (const json& plan : object.at("plans"))
    flush.strategies.push_back(plan.at("strategy"));
  for (size_t i = 0; i < k_stages.size(); ++i)
    flush.stage_seconds[i] = seconds(k_stages[i]);
  for (const auto& [name, number] : k_counters)
    flush.*number = object.at(name);
  trace_.flushes.push_back(std::move(flush));
}

}  // namespace

std::string read_lines_of_trace(const std::string& path, const std::function<void(const TraceLine&)>& take) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw Failure(k_exit_mistake, fmt::format("\"{}\" is a folder, not a trace", path));
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    throw Failure(k_exit_mistake, fmt::format("\"{}\": {}", path, std::strerror(errno)));
  auto damage = windrow::read_trace_lines(stream, path, take);
  if (!damage.ok())
    throw Failure(k_exit_mistake, damage.status().message());
  return std::move(damage).value();
}

Trace read_trace(const std::string& path) {
  return TraceReader().run(path);
}

}  // namespace cli
