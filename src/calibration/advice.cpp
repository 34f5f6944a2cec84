// SPDX-License-Identifier: BSD-3-Clause
#include "calibration/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "base/units.hpp"
#include "dataio/file_line.hpp"
#include "model/defaults.hpp"
#include "planning/machine.hpp"
#include "reporting/weighing_json.hpp"
#include "storage/system_error.hpp"
#include "trace/trace_reading.hpp"

namespace windrow {
namespace {

using nlohmann::ordered_json;

struct Opening {
  std::string file, mode;
  Topology topology;
  std::shared_ptr<const StorageLayout> layout;
  std::string like;  // equal for openings that have the same plans
};

// Flushes with the same pattern and the same choice.
struct Kind {
  size_t opening = 0;  // the first one with such a flush
  std::set<std::string> files;
  RecordedPattern recorded;
  std::string storage, taken;
  std::vector<int64_t> flushes;
  std::vector<double> seconds;             // of the whole flush
  double predicted = 0;                    // for the choice, when it was made
  bool alone = true;                       // no flush also had another plan
  std::shared_ptr<const PlanInput> input;  // nullptr: there is no alternative
  Weighing weighing;
};

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

double sound_seconds(const ordered_json& json) {
  const auto seconds = json.get<double>();
  return std::isfinite(seconds) ? std::clamp(seconds, 0.0, 1e15) : 0;
}

Topology topology_of(const ordered_json& json) {
  Topology topology{.ranks = json.at("ranks").get<int>(), .host_roots = {}};
  std::map<int64_t, int> lowest;
  for (const ordered_json& each : json.at("ranks_on_hosts")) {
    const int first = each.at(0).get<int>();
    if (first < 0 || first >= topology.ranks)
      fail("a host has a rank that does not exist");
    lowest.emplace(each.at(2).get<int64_t>(), first);
  }
  for (const auto& [host, rank] : lowest)
    topology.host_roots.push_back(rank);
  std::sort(topology.host_roots.begin(), topology.host_roots.end());
  if (topology.host_roots.empty())
    fail("it has no hosts");
  return topology;
}

// Without the targets of the file and the offsets in it, which differ between the files of a time series.
std::string stripes_text(const StorageLayout& layout) {
  std::string text = fmt::format("{}", static_cast<int>(layout.kind));
  for (const LayoutComponent& each : layout.components)
    text += fmt::format(" {}x{}", each.stripe_bytes, each.stripe_count);
  return text;
}

std::string pattern_text(ordered_json pattern) {
  ordered_json& regions = pattern["regions"];
  if (regions.is_array() && !regions.empty()) {
    const auto begin =
        static_cast<uint64_t>(regions.at(0).at(0).get<int64_t>());  // in a damaged trace it may be anything
    for (ordered_json& region : regions)
      for (ordered_json& end : region)
        end = static_cast<uint64_t>(end.get<int64_t>()) - begin;
  }
  return pattern.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

class Advisor {
 public:
  explicit Advisor(std::shared_ptr<const Machine> machine) : machine_(std::move(machine)) {}

  Status read(const std::string& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
      return {Code::bad_argument, fmt::format("advise: \"{}\" is a folder, not a trace", path)};
    std::ifstream stream(path, std::ios::binary);
    if (!stream)
      return system_status("open of trace", path, errno);
    auto damage = read_trace_lines(stream, path, [this](const TraceLine& line) { take(line); });
    if (damage.ok())
      damage_ = std::move(damage).value();
    return damage.status();
  }

  // Chooses again for each kind, as if no option were set.
  Status choose() {
    std::erase_if(kinds_, [](const Kind& kind) { return kind.flushes.empty(); });  // of flushes that failed
    for (Kind& kind : kinds_) {
      PlanLimits limits = kind.recorded.limits;
      limits.machine = machine_ ? machine_ : std::make_shared<const Machine>(default_machine(kind.storage));
      limits.machine_measured = true;
      // An address in a set of files is not an offset in the base file, whose layout the trace has.
      const std::vector<Extent>& regions = kind.recorded.pattern.regions;
      const bool of_set = !regions.empty() && regions.front().begin >= FileLine::k_begin;
      if (const auto& layout = openings_[kind.opening].layout; layout && layout->is_striped() && !of_set)
        limits.layout = layout;
      auto plan = make_plan(Strategy{}, kind.recorded.pattern, openings_[kind.opening].topology, limits);
      if (!plan.ok())
        return plan.status();
      kind.input = plan.value().input;
      if (kind.input)
        kind.weighing = weigh(*kind.input);
    }
    return {};
  }

  std::string text() const;
  std::string json() const;

 private:
  void take(const TraceLine& line) {
    if (line.kind == TraceLine::Kind::opening)
      take_opening(line.json);
    else if (line.kind == TraceLine::Kind::details)
      take_details(line.json, line.opening);
    else
      take_flush(line);
  }
  void take_opening(const ordered_json& line);
  void take_details(const ordered_json& line, size_t opening);
  void take_flush(const TraceLine& line);
  size_t kind_of(const ordered_json& plan, size_t opening);

  std::shared_ptr<const Machine> machine_;  // nullptr: typical numbers
  std::vector<Opening> openings_;
  std::vector<Kind> kinds_;
  std::map<std::string, size_t> known_;  // of kinds
  struct Details {
    std::vector<size_t> kinds;  // of the plans that have one
    size_t plans = 0;
  };
  std::vector<Details> details_;
  int64_t without_pattern_ = 0, without_details_ = 0;
  std::string damage_;
};

void Advisor::take_opening(const ordered_json& line) {
  auto layout = read_layout_json(line.at("layout"));
  if (!layout.ok())
    fail(layout.status().message());
  Opening opening{.file = line.at("file"),
                  .mode = line.at("mode"),
                  .topology = topology_of(line),
                  .layout = std::make_shared<const StorageLayout>(std::move(layout).value()),
                  .like = {}};
  opening.like = fmt::format("{} {} {}", opening.mode, line.at("ranks_on_hosts").dump(), stripes_text(*opening.layout));
  openings_.push_back(std::move(opening));
}

void Advisor::take_details(const ordered_json& line, size_t opening) {
  const ordered_json& plans = line.at("report").at("plans");
  Details& details = details_.emplace_back();
  details.plans = plans.size();
  for (const ordered_json& plan : plans)
    if (plan.contains("pattern") && plan.contains("predicted"))
      details.kinds.push_back(kind_of(plan, opening));
}

void Advisor::take_flush(const TraceLine& line) {
  if (!line.json.at("error").get<std::string>().empty())
    return;  // its seconds have no meaning
  if (!line.details) {
    ++without_details_;
    return;
  }
  const Details& details = details_[*line.details];
  without_pattern_ += static_cast<int64_t>(details.plans - details.kinds.size());
  for (const size_t number : details.kinds) {
    Kind& kind = kinds_[number];
    kind.files.insert(openings_[line.opening].file);
    kind.flushes.push_back(line.json["flush"].get<int64_t>());
    kind.seconds.push_back(static_cast<double>(line.json["total_ns"].get<int64_t>()) * 1e-9);
    kind.alone = kind.alone && details.plans == 1;
  }
}

size_t Advisor::kind_of(const ordered_json& plan, size_t opening) {
  Kind kind;
  kind.opening = opening;
  kind.storage = plan["predicted"].at("storage");
  for (const ordered_json& each : plan["predicted"].at("alternatives"))
    if (each.at("chosen").get<bool>())
      kind.taken = each.at("strategy"), kind.predicted = sound_seconds(each.at("seconds").at("flush"));
  const std::string key = fmt::format("{} {} {}", openings_[opening].like, kind.taken, pattern_text(plan["pattern"]));
  const auto [found, is_new] = known_.emplace(key, kinds_.size());
  if (is_new) {
    auto recorded = read_pattern(plan["pattern"]);
    if (!recorded.ok())
      fail(recorded.status().message());
    kind.recorded = std::move(recorded).value();
    kinds_.push_back(std::move(kind));
  }
  return found->second;
}

const Alternative* chosen_of(const Kind& kind) {
  const auto& all = kind.weighing.alternatives;
  const auto found = std::find_if(all.begin(), all.end(), [](const Alternative& each) { return each.chosen; });
  return found == all.end() ? nullptr : &*found;
}

// Predicted seconds on this machine of what was used; nullopt: it is not among the automatic alternatives.
std::optional<double> taken_seconds(const Kind& kind) {
  for (const Alternative& each : kind.weighing.alternatives)
    if (short_text(each.candidate, kind.recorded.pattern.reading) == kind.taken)
      return each.seconds.flush();
  return std::nullopt;
}

std::string options_text(const Candidate& candidate, bool reading) {
  const Strategy& strategy = candidate.strategy;
  std::string text = fmt::format("domains={} access={}", name_of(strategy.domains), name_of(strategy.access));
  if (candidate.writers > 0)
    text += fmt::format(" writers={}", candidate.writers);
  if (strategy.gather == Gather::team)
    text += fmt::format(" gather=team({})", reading ? strategy.team_read : strategy.team_write);
  if (strategy.gather == Gather::host)
    text += " gather=host";
  return text;
}

std::string flushes_text(const Kind& kind) {
  const std::vector<int64_t>& flushes = kind.flushes;
  if (flushes.size() == 1)
    return fmt::format("flush {}", flushes.front());
  if (kind.files.size() > 1)
    return fmt::format("{} flushes of {} files", flushes.size(), kind.files.size());
  return fmt::format("{}, {} to {}", counted(flushes.size(), "flush", "flushes"), flushes.front(), flushes.back());
}

std::string advice_text(const Kind& kind, const Alternative& chosen) {
  constexpr size_t k_most = 3;
  const bool reading = kind.recorded.pattern.reading;
  std::string text;
  if (const auto seconds = taken_seconds(kind))
    text += fmt::format("             predicted {} on {}\n", format_seconds(*seconds), kind.weighing.machine);
  const std::string advised = short_text(chosen.candidate, reading);
  if (advised == kind.taken)
    text += fmt::format(
        "    advised  unchanged: predicted {} including opening the file; no alternative is clearly faster\n",
        format_seconds(chosen.seconds.total));
  else
    text += fmt::format("    advised  {}: predicted {} ({})\n", advised, format_seconds(chosen.seconds.flush()),
                        options_text(chosen.candidate, reading));
  size_t listed = 0;
  for (const Alternative& each : kind.weighing.alternatives)
    if (!each.chosen && short_text(each.candidate, reading) != kind.taken && listed++ < k_most)
      text += fmt::format("    instead  {}: predicted {}, or {} including opening the file\n",
                          short_text(each.candidate, reading), format_seconds(each.seconds.flush()),
                          format_seconds(each.seconds.total));
  return text;
}

std::string kind_text(const Kind& kind) {
  const Pattern& pattern = kind.recorded.pattern;
  const int64_t piece_bytes = pattern.pieces > 0 ? pattern.bytes / pattern.pieces : 0;
  std::string text =
      fmt::format("  {}: {} {} in {} of {} on average\n", flushes_text(kind), format_bytes(pattern.bytes),
                  pattern.reading ? "read" : "written", counted(pattern.pieces, "piece"), format_bytes(piece_bytes));
  text += fmt::format("    used     {}: measured {}{}, predicted {} at that time\n", kind.taken,
                      format_seconds(median(kind.seconds)), kind.alone ? "" : " with the other plans of the flush",
                      format_seconds(kind.predicted));
  const Alternative* chosen = chosen_of(kind);
  if (chosen == nullptr)
    return text + "    advised  unchanged: there is no alternative\n";
  return text + advice_text(kind, *chosen);
}

std::string Advisor::text() const {
  std::string text;
  size_t opening = openings_.size();
  for (const Kind& kind : kinds_) {
    const Opening& of = openings_[kind.opening];
    if (opening != kind.opening)
      text += fmt::format("{}: {}, {} on {}\n", of.file, of.mode, counted(of.topology.ranks, "rank"),
                          counted(of.topology.host_roots.size(), "host"));
    opening = kind.opening;
    text += kind_text(kind);
  }
  if (without_details_ > 0)
    text += fmt::format("without details in the trace: {}\n", counted(without_details_, "flush", "flushes"));
  if (without_pattern_ > 0)
    text += fmt::format("no advice for {}: chunked variables or a broadcast\n", counted(without_pattern_, "plan"));
  if (!machine_)
    text += "no machine file: predictions use typical numbers of such a storage\n";
  if (!damage_.empty())
    text += fmt::format("the trace is damaged; only what precedes the damage is used: {}\n", damage_);
  return text;
}

std::string Advisor::json() const {
  ordered_json json{{"machine", machine_ ? ordered_json(machine_->name) : ordered_json(nullptr)},
                    {"damage", damage_},
                    {"plans_without_pattern", without_pattern_},
                    {"flushes_without_details", without_details_},
                    {"kinds", ordered_json::array()}};
  for (const Kind& kind : kinds_) {
    const Opening& of = openings_[kind.opening];
    ordered_json entry{{"file", of.file},
                       {"mode", of.mode},
                       {"ranks", of.topology.ranks},
                       {"hosts", of.topology.host_roots.size()},
                       {"direction", kind.recorded.pattern.reading ? "read" : "write"},
                       {"files", kind.files.size()},
                       {"flushes", kind.flushes},
                       {"bytes", kind.recorded.pattern.bytes},
                       {"pieces", kind.recorded.pattern.pieces},
                       {"taken", kind.taken},
                       {"measured_s", median(kind.seconds)},
                       {"measured_alone", kind.alone},
                       {"predicted_then_s", kind.predicted}};
    entry["advised"] = nullptr;
    if (const Alternative* chosen = chosen_of(kind)) {
      const auto seconds = taken_seconds(kind);
      entry["predicted_s"] = seconds ? ordered_json(*seconds) : ordered_json(nullptr);
      entry["advised"] = {{"strategy", short_text(chosen->candidate, kind.recorded.pattern.reading)},
                          {"options", options_text(chosen->candidate, kind.recorded.pattern.reading)},
                          {"predicted_s", chosen->seconds.flush()}};
      entry["alternatives"] = alternatives_json(*kind.input, kind.weighing)["alternatives"];
    }
    json["kinds"].push_back(std::move(entry));
  }
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<std::string> advise(const std::string& trace, const std::string& machine, bool json) {
  std::shared_ptr<const Machine> known;
  if (!machine.empty()) {
    auto text = read_machine_file(machine);
    if (!text.ok())
      return text.status();
    auto parsed = parse_machine(text.value(), machine);
    if (!parsed.ok())
      return parsed.status();
    known = std::make_shared<const Machine>(std::move(parsed).value());
  }
  Advisor advisor(std::move(known));
  if (Status status = advisor.read(trace); !status.ok())
    return status;
  if (Status status = advisor.choose(); !status.ok())
    return status;
  return json ? advisor.json() : advisor.text();
}

}  // namespace windrow
