// SPDX-License-Identifier: BSD-3-Clause
#include "cli/trace_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/units.hpp"
#include "base/utf8.hpp"
#include "cli/console.hpp"
#include "cli/trace_text.hpp"

namespace cli {

namespace {

constexpr double k_width = 960, k_left = 76, k_right = 14;  // of all pictures, and the margins
constexpr double k_plot = k_width - k_left - k_right;

std::string open_picture(double height, std::string_view title) {
  return fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n", k_width, height,
                     escaped(title));
}

std::string rectangle(double x, double y, double width, double height, std::string_view attributes,
                      std::string_view tooltip) {
  return fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" {}><title>{}</title></rect>\n",
                     x, y, width, height, attributes, escaped(tooltip));
}

std::string text_at(double x, double y, std::string_view text, std::string_view anchor = "start") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(text));
}

std::string line_at(double x1, double y1, double x2, double y2) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", x1, y1, x2, y2);
}

// The largest of 1, 2 and 5 times a power of ten that makes at least four steps.
double step_of(double length) {
  if (length <= 0)
    return 1;
  const double power = std::pow(10, std::floor(std::log10(length / 4)));
  const double times = length / 4 / power;
  return (times >= 5 ? 5 : times >= 2 ? 2 : 1) * power;
}

int64_t largest(const std::vector<std::pair<int64_t, int64_t>>& sizes) {
  int64_t most = 0;
  for (const auto& [power, count] : sizes)
    most = std::max(most, count);
  return most;
}

std::string power_text(int64_t power) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return fmt::format("{} {}", int64_t{1} << (power % 10), units[power / 10]);
}

}  // namespace

std::string escaped(std::string_view text) {
  // File names may not be UTF-8.
  auto valid =
      nlohmann::json::parse(nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
          .get<std::string>();
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace_if(valid.begin(), valid.end(), is_control, ' ');
  std::string out = windrow::with_entities(valid, "&#39;");
  // U+FFFE and U+FFFF are valid in UTF-8 but not in XML.
  for (const std::string_view none : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
    for (size_t at = out.find(none); at != std::string::npos; at = out.find(none, at))
      out.replace(at, none.size(), "?");
  return out;
}

std::string flushes_picture(const std::vector<const TracedFlush*>& flushes) {
  constexpr double k_height = 150, k_top = 12, k_base = 126, k_widest = 48;
  constexpr size_t k_most = 400;
  const size_t step = flushes.size() / k_most + 1;
  double most = 0;
  for (const TracedFlush* flush : flushes)
    most = std::max(most, std::accumulate(flush->stage_seconds.begin(), flush->stage_seconds.end(), 0.0));
  if (most <= 0)
    most = 1e-9;
  std::string out = open_picture(k_height, "Seconds of each flush by stage");
  for (double at = 0; at <= most * 1.0001; at += step_of(most)) {
    const double y = k_base - at / most * (k_base - k_top);
    out += line_at(k_left, y, k_width - k_right, y) + text_at(k_left - 6, y + 4, short_seconds(at), "end");
  }
  const double distance =
      std::min(k_widest, k_plot / std::ceil(static_cast<double>(flushes.size()) / static_cast<double>(step)));
  const double gap = distance > 4 ? 2 : 0;
  for (size_t i = 0; i < flushes.size(); i += step) {
    const TracedFlush& flush = *flushes[i];
    const double x = k_left + static_cast<double>(i / step) * distance;
    double y = k_base;
    for (size_t stage = 0; stage < k_stages.size(); ++stage) {
      const double height = flush.stage_seconds[stage] / most * (k_base - k_top);
      if (height <= 0)
        continue;
      y -= height;
      out += rectangle(x + gap / 2, y, distance - gap, height, fmt::format("class=\"s{}\"", stage),
                       fmt::format("flush {}: {} {}, of {}; {}", flush.number, k_stages[stage],
                                   short_seconds(flush.stage_seconds[stage]), short_seconds(flush.seconds),
                                   bytes_text(flush.bytes)));
    }
  }
  const double end = k_left + std::ceil(static_cast<double>(flushes.size()) / static_cast<double>(step)) * distance;
  out += text_at(k_left, k_base + 16, fmt::format("flush {}", flushes.front()->number));
  if (end - k_left > 120)
    out += text_at(end, k_base + 16, fmt::format("flush {}", flushes.back()->number), "end");
  return out + "</svg>\n";
}

std::string timeline_picture(const TracedDetails& flush) {
  int64_t begin = INT64_MAX, end = 0;
  for (const TracedLane& lane : flush.lanes)
    for (const TracedInterval& each : lane.intervals)
      begin = std::min(begin, each.begin_ns), end = std::max(end, each.end_ns);
  if (begin >= end)
    return "";
  const double lane_height = flush.lanes.size() > 24 ? 10 : 20,
               base = 6 + lane_height * static_cast<double>(flush.lanes.size());
  const double length = static_cast<double>(end - begin);
  const auto x_of = [&](int64_t time) { return k_left + static_cast<double>(time - begin) / length * k_plot; };
  std::string out = open_picture(base + 22, "Timeline of each rank");
  for (double at = 0; at <= length * 1.0001; at += step_of(length)) {
    const double x = k_left + at / length * k_plot;
    out +=
        line_at(x, 4, x, base) + text_at(x, base + 15, short_seconds(at * 1e-9), x > k_width - 50 ? "end" : "middle");
  }
  double y = 4;
  const size_t every = flush.lanes.size() > 24 ? 4 : 1;
  for (size_t row = 0; row < flush.lanes.size(); ++row, y += lane_height) {
    const TracedLane& lane = flush.lanes[row];
    if (row % every == 0)
      out += text_at(k_left - 6, y + lane_height / 2 + 4, fmt::format("rank {}", lane.rank), "end");
    std::vector<TracedInterval> intervals = lane.intervals;
    // Nested intervals are drawn on top.
    std::stable_sort(intervals.begin(), intervals.end(), [](const TracedInterval& a, const TracedInterval& b) {
      return std::pair(a.storage ? 1 : 0, b.end_ns - b.begin_ns) < std::pair(b.storage ? 1 : 0, a.end_ns - a.begin_ns);
    });
    for (const TracedInterval& each : intervals) {
      const double height = (lane_height - 2) * (each.storage ? 0.5 : 1),
                   width = std::max(0.5, x_of(each.end_ns) - x_of(each.begin_ns));
      out += rectangle(x_of(each.begin_ns), y + 1 + (lane_height - 2 - height), width, height,
                       fmt::format("class=\"s{}\"", each.stage),
                       fmt::format("rank {}: {} from {} to {}, busy for {}", lane.rank, k_stages[each.stage],
                                   short_seconds(static_cast<double>(each.begin_ns - begin) * 1e-9),
                                   short_seconds(static_cast<double>(each.end_ns - begin) * 1e-9),
                                   short_seconds(static_cast<double>(each.busy_ns) * 1e-9)));
    }
  }
  return out + "</svg>\n";
}

namespace {

// As many as have room.
std::string names_of_columns(const Matrix& matrix, double width, double y) {
  size_t longest = 0;
  for (const std::string& name : matrix.columns)
    longest = std::max(longest, name.size());
  const double of_name = std::max(28.0, 7 * static_cast<double>(longest));
  const size_t every_column = width < of_name ? static_cast<size_t>(std::ceil(of_name / width)) : 1;
  std::string out;
  for (size_t i = 0; i < matrix.columns.size(); i += every_column) {
    const bool is_number = matrix.columns[i].find_first_not_of("0123456789") == std::string::npos;
    const std::string before = width > 70 && is_number ? matrix.column + " " : "";
    out += text_at(k_left + (static_cast<double>(i) + 0.5) * width, y, before + matrix.columns[i], "middle");
  }
  return out;
}

}  // namespace

std::string picture_of(const Matrix& matrix) {
  if (matrix.rows.empty() || matrix.columns.empty())
    return "";
  int64_t most = 1;
  for (const auto& [cell, bytes] : matrix.cells)
    most = std::max(most, bytes);
  const auto rows = static_cast<int64_t>(matrix.rows.size());
  const double width = std::min(120.0, k_plot / static_cast<double>(matrix.columns.size())),
               height = rows > 16 ? 10 : 20, top = 22;
  std::string out = open_picture(top + height * static_cast<double>(rows) + 6, "Bytes by rank and target");
  out += names_of_columns(matrix, width, top - 8);
  for (int64_t row = 0; row < rows; row += height < 20 ? 4 : 1)
    out += text_at(k_left - 6, top + height * (static_cast<double>(row) + 0.5) + 4,
                   matrix.rows[static_cast<size_t>(row)], "end");
  for (const auto& [cell, bytes] : matrix.cells) {
    const double x = k_left + width * static_cast<double>(cell.second),
                 y = top + height * static_cast<double>(cell.first);
    const double gap = width > 12 ? 1 : 0.25;
    out += rectangle(x + gap, y + 1, std::max(1.0, width - 2 * gap), height - 2,
                     fmt::format("class=\"heat\" fill-opacity=\"{:.3f}\"",
                                 0.12 + 0.88 * static_cast<double>(bytes) / static_cast<double>(most)),
                     fmt::format("{}, {} {}: {}", matrix.rows[static_cast<size_t>(cell.first)], matrix.column,
                                 matrix.columns[static_cast<size_t>(cell.second)], bytes_text(bytes)));
    if (width >= 64 && height >= 20) {
      const bool dark = bytes * 2 > most;
      out += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                         dark ? "on" : "off", x + width / 2, y + height / 2 + 4, bytes_text(bytes));
    }
  }
  return out + "</svg>\n";
}

std::string bars_picture(const std::vector<std::pair<std::string, double>>& bars) {
  constexpr double k_height = 22, k_top = 4;
  double most = 0;
  for (const auto& [name, seconds] : bars)
    most = std::max(most, seconds);
  if (most <= 0)
    return "";
  const double base = k_top + k_height * static_cast<double>(bars.size());
  std::string out = open_picture(base + 22, "Seconds by stage");
  for (double at = 0; at <= most * 1.0001; at += step_of(most)) {
    const double x = k_left + at / most * k_plot;
    out += line_at(x, k_top, x, base) + text_at(x, base + 15, short_seconds(at), x > k_width - 50 ? "end" : "middle");
  }
  for (size_t i = 0; i < bars.size(); ++i) {
    const auto& [name, seconds] = bars[i];
    const double y = k_top + k_height * static_cast<double>(i);
    out += text_at(k_left - 6, y + 15, name, "end");
    if (seconds > 0)
      out += rectangle(k_left, y + 3, std::max(0.5, seconds / most * k_plot), k_height - 6,
                       fmt::format("class=\"s{}\"", i % k_stages.size()), name + ": " + short_seconds(seconds));
  }
  return out + "</svg>\n";
}

std::string matrix_picture(const TracedDetails& flush, const TracedOpening& opening) {
  constexpr int64_t k_most_rows = 64;
  std::vector<int64_t> ranks, targets;
  for (const auto& [rank, target, bytes] : flush.targets) {
    ranks.push_back(rank);
    targets.push_back(target < 0 ? INT64_MAX : target);  // unknown targets come last
  }
  for (std::vector<int64_t>* list : {&ranks, &targets}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  if (ranks.empty())
    return "";
  const auto number_in = [](const std::vector<int64_t>& list, int64_t value) {
    return static_cast<int64_t>(std::lower_bound(list.begin(), list.end(), value) - list.begin());
  };
  const size_t in_a_row = (ranks.size() + k_most_rows - 1) / k_most_rows;
  Matrix matrix{.rows = {},
                .columns = {},
                .column = opening.columns == "targets"   ? "target"
                          : opening.columns == "stripes" ? "stripe"
                                                         : "file",
                .cells = {}};
  for (size_t first = 0; first < ranks.size(); first += in_a_row) {
    const size_t last = std::min(ranks.size(), first + in_a_row) - 1;
    matrix.rows.push_back(first == last ? fmt::format("rank {}", ranks[first])
                                        : fmt::format("{}–{}", ranks[first], ranks[last]));
  }
  for (const int64_t target : targets)
    matrix.columns.push_back(target == INT64_MAX         ? "others"
                             : opening.columns == "file" ? "the file"
                                                         : std::to_string(target));
  for (const auto& [rank, target, bytes] : flush.targets)
    matrix.cells[{number_in(ranks, rank) / static_cast<int64_t>(in_a_row),
                  number_in(targets, target < 0 ? INT64_MAX : target)}] += bytes;
  return picture_of(matrix);
}

// Bars of much slower alternatives are truncated, as their number shows.
std::string alternatives_picture(const TracedPlan& plan) {
  constexpr double k_top = 4, k_row = 22, k_bar = 14, k_text = 330, k_number = 90;
  constexpr std::array<size_t, k_predicted_stages.size()> k_colours{1, 4, 5};  // the colours of the same stages
  if (plan.alternatives.empty())
    return "";
  double chosen = 0, most = 0;
  for (const TracedAlternative& each : plan.alternatives)
    chosen = each.chosen ? each.seconds : chosen, most = std::max(most, each.seconds);
  const double width = k_width - k_text - k_number,
               longest = std::max(1e-9, chosen > 0 ? std::min(most, 4 * chosen) : most);
  std::string out =
      open_picture(k_top + k_row * static_cast<double>(plan.alternatives.size()), "Alternatives by predicted seconds");
  double y = k_top;
  for (const TracedAlternative& each : plan.alternatives) {
    out += text_at(k_text - 8, y + 11, (each.chosen ? "▶ " : "") + each.strategy, "end");
    double sum = 0, x = k_text;
    for (const double seconds : each.stage_seconds)
      sum += seconds;
    const double length = std::min(1.0, each.seconds / longest) * width;
    for (size_t i = 0; i < k_predicted_stages.size() && sum > 0; ++i) {
      const double part = each.stage_seconds[i] / sum * length;
      out += rectangle(
          x, y, part, k_bar, fmt::format("class=\"s{}\"", k_colours[i]),
          fmt::format("{}: {} {}", each.strategy, k_predicted_stages[i], short_seconds(each.stage_seconds[i])));
      x += part;
    }
    out += text_at(k_text + length + 6, y + 11, (each.seconds > longest ? "… " : "") + short_seconds(each.seconds));
    y += k_row;
  }
  return out + "</svg>\n";
}

namespace {

// The smallest and the largest power of two of the sizes.
std::pair<int64_t, int64_t> powers_of(const TracedDetails& flush) {
  int64_t first = 62, last = 0;
  for (const auto* sizes : {&flush.write_sizes, &flush.read_sizes})
    for (const auto& [power, count] : *sizes) {
      first = std::min(first, power);
      last = std::max(last, power);
    }
  return {first, last};
}

}  // namespace

std::string sizes_picture(const TracedDetails& flush) {
  constexpr double k_top = 18, k_base = 120, k_height = 142;
  if (flush.write_sizes.empty() && flush.read_sizes.empty())
    return "";
  const auto [first, last] = powers_of(flush);
  const auto most =
      static_cast<double>(std::max<int64_t>(1, std::max(largest(flush.write_sizes), largest(flush.read_sizes))));
  const double distance = std::min(90.0, k_plot / static_cast<double>(last - first + 1));
  std::string out = open_picture(k_height, "Requests by size");
  const double step = std::max(1.0, step_of(most));
  for (double at = 0; at <= most * 1.0001; at += step) {
    const double y = k_base - at / most * (k_base - k_top);
    out += line_at(k_left, y, k_width - k_right, y) + text_at(k_left - 6, y + 4, fmt::format("{:.0f}", at), "end");
  }
  for (int64_t power = first; power <= last; ++power)
    out += text_at(k_left + (static_cast<double>(power - first) + 0.5) * distance, k_base + 16,
                   "≥ " + power_text(power), "middle");
  const bool both = !flush.write_sizes.empty() && !flush.read_sizes.empty();
  for (const bool writes : {true, false})
    for (const auto& [power, count] : writes ? flush.write_sizes : flush.read_sizes) {
      const double bar = (distance - 12) / (both ? 2 : 1),
                   height = static_cast<double>(count) / most * (k_base - k_top);
      const double x = k_left + static_cast<double>(power - first) * distance + 6 + (both && !writes ? bar : 0);
      out +=
          rectangle(x, k_base - height, bar - 1, height, writes ? "class=\"w\"" : "class=\"r\"",
                    fmt::format("{} of {} to twice as much",
                                windrow::counted(count, writes ? "write request" : "read request"), power_text(power)));
      out += text_at(x + bar / 2, k_base - height - 3, fmt::format("{}", count), "middle");
    }
  return out + "</svg>\n";
}

}  // namespace cli
