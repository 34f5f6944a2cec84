// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/units.hpp"
#include "cli/console.hpp"
#include "cli/trace_pictures.hpp"
#include "cli/trace_text.hpp"

namespace cli {

namespace {

constexpr size_t k_drawn = 12;  // flushes of one opening
constexpr size_t k_listed = 1000;
constexpr size_t k_variables = 40;    // of a flush
constexpr size_t k_drawn_pages = 20;  // openings that have pictures of single flushes

// Colours of stages: the palette of Okabe and Ito ("Color universal design", 2008), which is safe for colour-blind
// readers, darker or lighter, plus a violet.
const char* const k_style = R"(
:root { color-scheme: light dark; --back: #ffffff; --text: #1d2127; --soft: #5c6570; --line: #dde1e6;
  --card: #f5f7f9; --bad: #b3261e;
  --s0: #8b95a1; --s1: #aa4499; --s2: #7a5cc2; --s3: #d9a400; --s4: #0072b2; --s5: #d55e00; --s6: #009e73;
    --heat: #0072b2; --on: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14171b; --text: #e6e9ed; --soft: #9aa4b0; --line: #333a43; --card: #1d2228; --bad: #ff8a80;
    --s0: #8b95a1; --s1: #cc79a7; --s2: #b39ddb; --s3: #f0c541; --s4: #56b4e9; --s5: #f08a3c; --s6: #2cc295;
      --heat: #56b4e9; --on: #0c0e11; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px; max-width: 1240px; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 19px; margin: 36px 0 4px; }
h3 { font-size: 15px; margin: 22px 0 4px; }
h1, h2, h3, p, td, li, summary { overflow-wrap: anywhere; }
p { margin: 4px 0; } .soft { color: var(--soft); } .bad { color: var(--bad); }
.wide { overflow: auto; max-height: 460px; } table { border-collapse: collapse; font-size: 12px; width: 100%; }
th, td { text-align: right; padding: 4px 7px; border-bottom: 1px solid var(--line); vertical-align: top;
  white-space: nowrap; }
th { color: var(--soft); font-weight: 600; position: sticky; top: 0; background: var(--head, var(--back)); }
td.name, th.name { text-align: left; white-space: normal; }
td.short { text-align: left; max-width: 190px; overflow: hidden; text-overflow: ellipsis; }
td.short span.bad { white-space: normal; }
details { --head: var(--card); border: 1px solid var(--line); border-radius: 8px; margin: 12px 0; padding: 8px 16px;
  background: var(--card); }
summary { cursor: pointer; font-weight: 600; } svg { display: block; width: 100%; height: auto; margin: 4px 0; }
svg text { fill: var(--soft); font: 11px system-ui, sans-serif; } svg line { stroke: var(--line); }
svg text.on { fill: var(--on); } svg text.off { fill: var(--text); }
.s0 { fill: var(--s0); } .s1 { fill: var(--s1); } .s2 { fill: var(--s2); } .s3 { fill: var(--s3); }
.s4 { fill: var(--s4); } .s5 { fill: var(--s5); } .s6 { fill: var(--s6); }
.w { fill: var(--s5); } .r { fill: var(--s4); } .heat { fill: var(--heat); }
.key { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: 13px; color: var(--soft); margin: 4px 0; }
.key svg { width: 12px; height: 12px; margin: 4px 6px 0 0; display: inline-block; }
.key span { display: flex; } ul { margin: 4px 0; padding-left: 22px; }
)";

std::string key_of(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string out = "<div class=\"key\">";
  for (const auto& [style, name] : entries)
    out += fmt::format(
        "<span><svg viewBox=\"0 0 12 12\"><rect class=\"{}\" width=\"12\" height=\"12\" rx=\"2\"/></svg>{}</span>",
        style, name);
  return out + "</div>\n";
}

std::string key_of_stages() {
  std::vector<std::pair<std::string, std::string>> entries;
  for (size_t i = 0; i < k_stages.size(); ++i)
    entries.emplace_back(fmt::format("s{}", i), std::string(k_stages[i]));
  return key_of(entries);
}

std::string table_of(const std::vector<const TracedFlush*>& flushes) {
  std::string out =
      "<div class=\"wide\"><table><thead><tr><th>flush</th><th "
      "class=\"name\">variables</th><th>bytes</th><th>time</th>";
  for (const std::string_view stage : k_stages)
    out += fmt::format("<th>{}</th>", stage);
  out += "<th>messages</th><th>requests</th><th>rate</th></tr></thead><tbody>\n";
  for (size_t i = 0; i < std::min(flushes.size(), k_listed); ++i) {
    const TracedFlush& flush = *flushes[i];
    out += fmt::format(
        "<tr><td>{}</td><td class=\"short\" title=\"{}\">{}{}</td><td>{}</td><td>{}</td>", flush.number,
        escaped(variables_text(flush, 2000)), escaped(variables_text(flush, 60)),
        flush.error.empty() ? "" : fmt::format("<br/><span class=\"bad\">failed: {}</span>", escaped(flush.error)),
        bytes_text(flush.bytes), short_seconds(flush.seconds));
    for (const double seconds : flush.stage_seconds)
      out += fmt::format("<td>{}</td>", short_seconds(seconds));
    out += fmt::format("<td>{}</td><td>{}</td><td>{}</td></tr>\n", flush.messages,
                       flush.write_requests + flush.read_requests,
                       rate_text(static_cast<double>(flush.bytes), flush.seconds));
  }
  out += "</tbody></table></div>\n";
  if (flushes.size() > k_listed)
    out += fmt::format("<p class=\"soft\">{} more are in the trace.</p>\n", flushes.size() - k_listed);
  return out;
}

std::string plans_of(const TracedFlush& flush) {
  std::string out = "<h3>Plan and reasons</h3>\n";
  for (const TracedPlan& plan : flush.details->plans) {
    out += fmt::format(
        "<p>{} by <b>{}</b>{}{}</p>\n<div class=\"wide\"><table><thead><tr>", escaped(plan.direction),
        escaped(plan.strategy),
        plan.writers > 0 ? fmt::format(", {} planned to access the file", windrow::counted(plan.writers, "rank")) : "",
        plan.cached || !flush.has_own_details() ? ", cached from an earlier flush" : "");
    for (const std::string_view axis : k_axes)
      out += fmt::format("<th class=\"name\">{}</th>", axis);
    out += "</tr></thead><tbody><tr>";
    for (const std::string& choice : plan.axes)
      out += fmt::format("<td class=\"name\">{}</td>", escaped(choice));
    out += "</tr></tbody></table></div>\n<ul>";
    for (const std::string& reason : plan.reasons)
      out += fmt::format("<li>{}</li>\n", escaped(reason));
    out += plan.reasons.empty() ? "<li class=\"soft\">each axis was set or has only one possible choice</li></ul>\n"
                                : "</ul>\n";
    if (plan.alternatives.empty())
      continue;
    out +=
        fmt::format("<h3>Alternatives</h3>\n<p class=\"soft\">Seconds predicted for {}; {}. The flush took {}.</p>\n",
                    escaped(plan.machine),
                    plan.measured ? "the fastest was chosen, unless the fixed rule&#39;s choice was nearly as fast"
                                  : "this machine was not measured, so they did not influence the choice",
                    short_seconds(flush.seconds));
    out += key_of({{"s1", "plan"}, {"s4", "exchange"}, {"s5", "storage"}}) + alternatives_picture(plan);
  }
  return flush.details->plans.empty() ? "" : out;
}

std::string variables_of(const TracedDetails& flush) {
  if (flush.variables.empty())
    return "";
  std::string out =
      "<h3>Queued requests</h3>\n<div class=\"wide\"><table><thead><tr><th class=\"name\">variable</th><th "
      "class=\"name\">direction</th><th class=\"name\">type</th><th class=\"name\">shape</th><th "
      "class=\"name\">decomposition</th><th>ranks</th></tr></thead><tbody>\n";
  for (size_t i = 0; i < std::min(flush.variables.size(), k_variables); ++i) {
    const TracedVariable& variable = flush.variables[i];
    std::string shape;
    for (const int64_t length : variable.shape)
      shape += fmt::format("{}{}", shape.empty() ? "" : " × ", length);
    out += fmt::format(
        "<tr><td class=\"name\">{}</td><td class=\"name\">{}</td><td class=\"name\">{}</td><td "
        "class=\"name\">{}</td><td class=\"name\">{}</td><td>{}</td></tr>\n",
        escaped(variable.path), escaped(variable.direction), escaped(variable.type), shape.empty() ? "scalar" : shape,
        escaped(variable.decomposition), variable.ranks);
  }
  out += "</tbody></table></div>\n";
  const int64_t more = static_cast<int64_t>(flush.variables.size() - std::min(flush.variables.size(), k_variables)) +
                       flush.variables_left_out;
  return out + (more > 0 ? fmt::format("<p class=\"soft\">and {} more</p>\n", more) : "");
}

std::string flush_part(const TracedFlush& flush, const TracedOpening& opening, bool open) {
  const TracedDetails& details = *flush.details;
  std::string out =
      fmt::format("<details{}><summary>Flush {}: {}, {} in {}</summary>\n", open ? " open=\"open\"" : "", flush.number,
                  escaped(variables_text(flush, 60)), bytes_text(flush.bytes), short_seconds(flush.seconds));
  if (!flush.error.empty())
    out += fmt::format("<p class=\"bad\">failed: {}</p>\n", escaped(flush.error));
  out += fmt::format(
      "<p class=\"soft\">{} written in {}, {} read in {}; {} with {} of data, {} of descriptions; {} of {} accessed "
      "the file; {}</p>\n",
      bytes_text(flush.bytes_written), windrow::counted(flush.write_requests, "request"), bytes_text(flush.bytes_read),
      windrow::counted(flush.read_requests, "request"), windrow::counted(flush.messages, "message"),
      bytes_text(flush.bytes_sent), flush.description_messages, flush.writers, windrow::counted(opening.ranks, "rank"),
      escaped(details.layout));
  if (!flush.has_own_details())
    out += details.flush > 0
               ? fmt::format(
                     "<p class=\"soft\">Its plan, its queue, bytes by target and requests by size are those of "
                     "flush {}, which had the same plan.</p>\n",
                     details.flush)
               : "<p class=\"soft\">The trace has no details of it.</p>\n";
  else if (const std::string picture = timeline_picture(details); !picture.empty()) {
    out += "<h3>Ranks by time</h3>\n" + key_of_stages() + picture;
    int64_t left_out = 0;
    for (const TracedLane& lane : details.lanes)
      left_out += lane.left_out;
    out += fmt::format(
        "<p class=\"soft\">Half height: buffers being written or read, while the rank may do other work.{}{}{}</p>\n",
        details.lanes.size() < static_cast<size_t>(opening.ranks)
            ? fmt::format(" {} of {}.", details.lanes.size(), windrow::counted(opening.ranks, "rank"))
            : "",
        opening.clock_accuracy_s > 0
            ? fmt::format(" The clocks of the hosts agree within {}.", short_seconds(opening.clock_accuracy_s))
            : "",
        left_out > 0 ? fmt::format(" {} did not fit into the trace.", windrow::counted(left_out, "short interval"))
                     : "");
  }
  if (const std::string picture = matrix_picture(details, opening); !picture.empty())
    out += "<h3>Bytes by rank and target</h3>\n" + picture;
  if (const std::string picture = sizes_picture(details); !picture.empty())
    out += "<h3>Requests by size</h3>\n" + key_of({{"w", "write"}, {"r", "read"}}) + picture;
  return out + plans_of(flush) + variables_of(details) + "</details>\n";
}

// The first, the last, the failed and the slowest flushes, in order.
std::vector<const TracedFlush*> flushes_to_draw(const std::vector<const TracedFlush*>& flushes) {
  std::vector<const TracedFlush*> order = flushes;
  std::stable_sort(order.begin(), order.end(), [&](const TracedFlush* a, const TracedFlush* b) {
    const auto place = [&](const TracedFlush* flush) {
      const bool first = flush == flushes.front() || flush == flushes.back();
      return std::tuple(first ? 0 : flush->error.empty() ? 2 : 1, -flush->seconds);
    };
    return place(a) < place(b);
  });
  if (order.size() > k_drawn)
    order.resize(k_drawn);
  std::sort(order.begin(), order.end(),
            [](const TracedFlush* a, const TracedFlush* b) { return a->number < b->number; });
  return order;
}

std::string opening_part(const TracedOpening& opening, const std::vector<const TracedFlush*>& flushes, bool draws) {
  std::string out = fmt::format("<section>\n<h2>{}</h2>\n<p class=\"soft\">{}, {} on {}, opened {}</p>\n",
                                escaped(opening.file), escaped(opening.mode), windrow::counted(opening.ranks, "rank"),
                                windrow::counted(opening.hosts.size(), "host"), escaped(opening.opened));
  if (flushes.empty())
    return out + "<p>No flush moved data.</p>\n</section>\n";
  out +=
      "<h3>Time by stage, of the slowest rank</h3>\n" + key_of_stages() + flushes_picture(flushes) + table_of(flushes);
  if (draws) {
    const auto drawn = flushes_to_draw(flushes);
    if (drawn.size() < flushes.size())
      out += fmt::format(
          "<p class=\"soft\">Drawn below: {} of {}: the first, the last, those that failed and the slowest.</p>\n",
          drawn.size(), windrow::counted(flushes.size(), "flush", "flushes"));
    for (const TracedFlush* flush : drawn)
      out += flush_part(*flush, opening, flush == drawn.front());
  }
  return out + "</section>\n";
}

}  // namespace

std::string page_of(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\"/>\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      escaped(title), k_style, body);
}

std::string trace_page(const Trace& trace, const std::string& source) {
  double seconds = 0, bytes = 0;
  for (const TracedFlush& flush : trace.flushes)
    seconds += flush.seconds, bytes += static_cast<double>(flush.bytes);
  std::string out = fmt::format("<h1>windrow report</h1>\n<p class=\"soft\">{}: {} of {}, {} in {}{}</p>\n",
                                escaped(source), windrow::counted(trace.flushes.size(), "flush", "flushes"),
                                windrow::counted(trace.openings.size(), "opened file"),
                                bytes_text(static_cast<int64_t>(std::min(bytes, 9e18))), short_seconds(seconds),
                                seconds > 0 ? ", " + rate_text(bytes, seconds) : "");
  if (!trace.damage.empty())
    out += fmt::format("<p class=\"bad\">The trace is damaged; only what precedes the damage is shown: {}</p>\n",
                       escaped(trace.damage));
  for (size_t i = 0; i < trace.openings.size(); ++i) {
    std::vector<const TracedFlush*> flushes;
    for (const TracedFlush& flush : trace.flushes)
      if (flush.opening == i)
        flushes.push_back(&flush);
    out += opening_part(trace.openings[i], flushes, i < k_drawn_pages);
  }
  if (trace.openings.size() > k_drawn_pages)
    out += fmt::format("<p class=\"soft\">Single flushes are drawn for the first {} opened files only.</p>\n",
                       k_drawn_pages);
  return page_of(source + " — windrow report", out);
}

}  // namespace cli
