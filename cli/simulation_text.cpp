// SPDX-License-Identifier: BSD-3-Clause
#include "cli/simulation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/units.hpp"
#include "cli/console.hpp"
#include "cli/trace_pictures.hpp"
#include "cli/trace_text.hpp"

namespace cli {

namespace {

using windrow::Plan;
using windrow::Simulation;

std::vector<std::pair<std::string, double>> stages_of(const Simulation& simulation) {
  const windrow::StageSeconds& seconds = simulation.seconds;
  return {{"split", seconds.split},       {"open", seconds.open},
          {"describe", seconds.describe}, {"plan", seconds.plan},
          {"exchange", seconds.exchange}, {simulation.plan.reading ? "read" : "write", seconds.storage},
          {"close", seconds.close}};
}

std::string strategy_line(const Plan& plan) {
  const windrow::Strategy& of = plan.strategy;
  return fmt::format(
      "{}: owner {}, gather {}, domains {}, codec {}, access {}, files {}", of.preset, windrow::name_of(of.owner),
      plan.team > 0 ? fmt::format("team({})", plan.team) : std::string(windrow::name_of(of.gather)),
      windrow::name_of(of.domains), windrow::codec_text(of), windrow::name_of(of.access), windrow::name_of(of.files));
}

// Names and values of both the terminal and the page.
std::vector<std::pair<std::string, std::string>> facts_of(const Simulation& simulation) {
  const double total = simulation.seconds.total();
  return {
      {"machine", fmt::format("{}, {}", one_line(simulation.machine), windrow::counted(simulation.hosts, "host"))},
      {"pattern", simulation.workload},
      {"strategy", strategy_line(simulation.plan)},
      {"layout", fmt::format("{}, {}", windrow::counted(simulation.files, "file"), simulation.layout)},
      {"total", fmt::format("{}, {}", short_seconds(total), rate_text(static_cast<double>(simulation.bytes), total))},
      {"exchange limited by", simulation.exchange_waits_for},
      {"storage limited by", simulation.storage_waits_for},
      {"messages", fmt::format("{} with {}, and {}", simulation.messages, bytes_text(simulation.message_bytes),
                               windrow::counted(simulation.descriptions, "description"))},
      {"codec", simulation.codec.empty() ? "none" : simulation.codec},
      {"requests", fmt::format("{} to write, {} to read, by {}", simulation.write_requests, simulation.read_requests,
                               windrow::counted(simulation.clients, "rank"))},
      {"buffers per rank", fmt::format("{} at most, {} on average", bytes_text(simulation.most_memory),
                                       bytes_text(simulation.mean_memory))}};
}

std::vector<size_t> touched_targets(const Simulation& simulation) {
  std::vector<size_t> touched;
  const size_t targets = simulation.rows.empty() ? 0 : simulation.rows.front().bytes.size();
  for (size_t target = 0; target < targets; ++target)
    if (std::any_of(simulation.rows.begin(), simulation.rows.end(),
                    [&](const windrow::TargetRow& row) { return row.bytes[target] > 0; }))
      touched.push_back(target);
  return touched;
}

std::string range_text(size_t first, size_t last) {
  return first == last ? std::to_string(first) : fmt::format("{}–{}", first, last);
}

// Joins targets in a column if there are very many.
Matrix matrix_of(const Simulation& simulation) {
  constexpr size_t k_most_columns = 128;
  Matrix matrix{.rows = {}, .columns = {}, .column = "target", .cells = {}};
  const std::vector<size_t> targets = touched_targets(simulation);
  const size_t in_a_column = (targets.size() + k_most_columns - 1) / k_most_columns;
  for (size_t first = 0; first < targets.size(); first += in_a_column)
    matrix.columns.push_back(range_text(targets[first], targets[std::min(targets.size(), first + in_a_column) - 1]));
  for (const windrow::TargetRow& row : simulation.rows) {
    if (row.first_rank < 0)
      continue;
    const auto number = static_cast<int64_t>(matrix.rows.size());
    constexpr int k_shortly = 10'000;  // larger numbers leave no space for the last rank
    const std::string ranks = range_text(static_cast<size_t>(row.first_rank), static_cast<size_t>(row.last_rank));
    matrix.rows.push_back(row.first_rank == row.last_rank ? "rank " + ranks
                          : row.last_rank < k_shortly     ? ranks
                                                          : fmt::format("{} …", row.first_rank));
    for (size_t i = 0; i < targets.size(); ++i)
      if (row.bytes[targets[i]] > 0)
        matrix.cells[{number, static_cast<int64_t>(i / in_a_column)}] += static_cast<int64_t>(row.bytes[targets[i]]);
  }
  return matrix;
}

}  // namespace

std::vector<std::string> simulation_lines(const Simulation& simulation) {
  std::vector<std::string> lines{"simulated; nothing was measured"};
  for (const auto& [name, value] : facts_of(simulation))
    lines.push_back(fmt::format("  {:<20} {}", name, value));
  for (const auto& [name, seconds] : stages_of(simulation))
    lines.push_back(fmt::format("  {:<20} {}", "time to " + name, short_seconds(seconds)));
  lines.push_back(fmt::format("  {:<20} {}", "exchange and storage",
                              short_seconds(simulation.seconds.transfer) + " in all, since they overlap"));
  return lines;
}

std::string simulation_json(const Simulation& simulation) {
  nlohmann::ordered_json json{{"simulation", true},
                              {"machine", simulation.machine},
                              {"pattern", simulation.workload},
                              {"ranks", simulation.plan.ranks},
                              {"hosts", simulation.hosts},
                              {"files", simulation.files},
                              {"bytes", simulation.bytes}};
  json["seconds"]["total"] = simulation.seconds.total();
  for (const auto& [name, seconds] : stages_of(simulation))
    json["seconds"][name] = seconds;
  json["seconds"]["transfer"] = simulation.seconds.transfer;
  json["exchange_waits_for"] = simulation.exchange_waits_for;
  json["storage_waits_for"] = simulation.storage_waits_for;
  json["messages"] = simulation.messages;
  json["bytes_sent"] = simulation.message_bytes;
  json["codec"] = simulation.codec;
  json["descriptions"] = simulation.descriptions;
  json["write_requests"] = simulation.write_requests;
  json["read_requests"] = simulation.read_requests;
  json["writers"] = simulation.clients;
  json["data_opens"] = simulation.data_opens;
  json["memory"] = {{"most", simulation.most_memory}, {"mean", simulation.mean_memory}};
  json["window_bytes"] = simulation.plan.window_bytes;
  json["strategy"] = strategy_line(simulation.plan);
  json["reasons"] = simulation.plan.reasons;
  json["targets"] = nlohmann::ordered_json::array();
  for (const windrow::TargetRow& row : simulation.rows)
    if (row.first_rank >= 0)
      json["targets"].push_back({{"first_rank", row.first_rank}, {"last_rank", row.last_rank}, {"bytes", row.bytes}});
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string simulation_page(const Simulation& simulation) {
  std::string out =
      "<h1>windrow simulate</h1>\n<p class=\"soft\">A simulation: the library's planner on a modelled machine. Nothing "
      "was measured.</p>\n<div class=\"wide\"><table><tbody>\n";
  for (const auto& [name, value] : facts_of(simulation))
    out += fmt::format("<tr><td class=\"name soft\">{}</td><td class=\"name\">{}</td></tr>\n", escaped(name),
                       escaped(value));
  out += "</tbody></table></div>\n<h3>Seconds by stage</h3>\n" + bars_picture(stages_of(simulation));
  out += fmt::format("<p class=\"soft\">Exchange and storage take {} in all, since they overlap.</p>\n",
                     short_seconds(simulation.seconds.transfer));
  out += fmt::format("<h3>Bytes by {} and target</h3>\n", simulation.plan.reading ? "reader" : "writer") +
         picture_of(matrix_of(simulation));
  out += "<h3>Why this plan</h3>\n<ul>";
  for (const std::string& reason : simulation.plan.reasons)
    out += fmt::format("<li>{}</li>\n", escaped(reason));
  out += simulation.plan.reasons.empty()
             ? "<li class=\"soft\">each axis was set or has only one possible choice</li></ul>\n"
             : "</ul>\n";
  return page_of(simulation.machine + " — windrow simulate", out);
}

}  // namespace cli
