// SPDX-License-Identifier: BSD-3-Clause
#include "cli/trace_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "cli/console.hpp"

namespace cli {

namespace {

constexpr size_t k_variables_width = 30;

// Truncates a UTF-8 text to this many characters.
std::string cut(std::string text, size_t most) {
  size_t characters = 0, end = 0, fits = 0;
  for (; end < text.size(); ++end) {
    if ((static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
      continue;
    if (++characters == most)
      fits = end;
    if (characters > most)
      return text.substr(0, fits) + "…";
  }
  return text;
}

size_t width_of(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

std::string opening_text(const TracedOpening& opening) {
  return fmt::format("{}: {}, {} on {}, opened {}", one_line(opening.file), one_line(opening.mode),
                     windrow::counted(opening.ranks, "rank"), windrow::counted(opening.hosts.size(), "host"),
                     one_line(opening.opened));
}

}  // namespace

std::string short_seconds(double seconds) {
  if (seconds <= 0)
    return "0";
  if (seconds < 0.9995e-3)
    return fmt::format("{:.3g} µs", seconds * 1e6);
  if (seconds < 0.9995)
    return fmt::format("{:.3g} ms", seconds * 1e3);
  return seconds < 999.5 ? fmt::format("{:.3g} s", seconds) : fmt::format("{:.0f} s", seconds);
}

std::string rate_text(double bytes, double seconds) {
  return seconds > 0 && bytes > 0 ? bytes_text(static_cast<int64_t>(std::min(bytes / seconds, 9e18))) + "/s" : "-";
}

// Each variable once, whether put or got.
std::string variables_text(const TracedFlush& flush, size_t most) {
  std::vector<std::string> paths;
  for (const TracedVariable& variable : flush.details->variables)
    if (std::find(paths.begin(), paths.end(), variable.path) == paths.end())
      paths.push_back(variable.path);
  if (paths.empty())
    return "-";
  const int64_t all = static_cast<int64_t>(paths.size()) + flush.details->variables_left_out;
  const auto rest = [&](int64_t shown) {
    return shown == all ? std::string() : fmt::format(" and {} more", all - shown);
  };
  std::string text = cut(one_line(paths.front()), most - std::min(most / 2, rest(1).size()));
  int64_t shown = 1;
  for (size_t i = 1; i < paths.size(); ++i) {
    const std::string longer = text + ", " + one_line(paths[i]);
    if (width_of(longer) + rest(shown + 1).size() > most)
      break;
    text = longer;
    ++shown;
  }
  return text + rest(shown);
}

std::string strategy_text(const TracedFlush& flush) {
  std::vector<std::string> texts;
  for (const std::string& text : flush.strategies)
    if (std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(text);
  if (texts.empty())
    return "-";
  return one_line(texts.front()) + (texts.size() > 1 ? fmt::format(" and {} more", texts.size() - 1) : "");
}

std::string predicted_text(const TracedFlush& flush) {
  double seconds = 0;
  for (const TracedPlan& plan : flush.details->plans) {
    const auto chosen = std::find_if(plan.alternatives.begin(), plan.alternatives.end(),
                                     [](const TracedAlternative& each) { return each.chosen; });
    if (chosen == plan.alternatives.end())
      return "-";
    seconds += chosen->seconds;
  }
  return flush.details->plans.empty() ? "-" : short_seconds(seconds);
}

std::vector<std::string> trace_table(const Trace& trace) {
  std::vector<std::string> lines;
  for (size_t opening = 0; opening < trace.openings.size(); ++opening) {
    if (opening > 0)
      lines.emplace_back();
    lines.push_back(opening_text(trace.openings[opening]));
    bool any = false;
    for (const TracedFlush& flush : trace.flushes) {
      if (flush.opening != opening)
        continue;
      if (!any) {
        std::string head =
            fmt::format("{:>5}  {:<{}}  {:>8}  {:>8}", "flush", "variables", k_variables_width, "bytes", "seconds");
        for (const std::string_view stage : k_stages)
          head += fmt::format("  {:>8}", stage == "descriptions" ? "descr." : stage);
        lines.push_back(head + fmt::format("  {:>8}  {:>8}  {:>10}  {:>8}  {}", "messages", "requests", "rate",
                                           "predicted", "strategy"));
      }
      any = true;
      std::string line = fmt::format("{:>5}  {}  {:>8}  {:>8}", flush.number,
                                     padded(variables_text(flush, k_variables_width), k_variables_width),
                                     bytes_text(flush.bytes), short_seconds(flush.seconds));
      for (const double seconds : flush.stage_seconds)
        line += fmt::format("  {:>8}", short_seconds(seconds));
      line += fmt::format(
          "  {:>8}  {:>8}  {:>10}  {:>8}  {}", flush.messages, flush.write_requests + flush.read_requests,
          rate_text(static_cast<double>(flush.bytes), flush.seconds), predicted_text(flush), strategy_text(flush));
      if (!flush.error.empty())
        line += "  failed: " + one_line(flush.error);
      lines.push_back(std::move(line));
    }
    if (!any)
      lines.emplace_back("  no flush moved data");
  }
  return lines;
}

}  // namespace cli
