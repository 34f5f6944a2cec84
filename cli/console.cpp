// SPDX-License-Identifier: BSD-3-Clause
#include "cli/console.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <sstream>

namespace cli {

void require_on_rank_0(const World& world, const std::function<std::string()>& inspect, Exit otherwise) {
  if (const std::string problem = copying::problem_on_root(world.ranks(), inspect); !problem.empty())
    throw Failure(otherwise, problem);
}

void print_line(const World& world, const std::string& line) {
  if (world.prints())
    fmt::print("{}\n", line);
}

void print_error_line(const World& world, const std::string& line) {
  if (world.prints())
    fmt::print(stderr, "windrow: {}\n", one_line(line));
}

std::vector<std::string> lines_of(const char* text) {
  std::vector<std::string> lines;
  std::istringstream all(text == nullptr ? "" : text);
  for (std::string line; std::getline(all, line);)
    lines.push_back(line);
  return lines;
}

std::string bytes_text(int64_t bytes) {
  if (bytes < 1000)
    return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  const char* units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < std::size(units); ++unit)
    value /= 1000;
  return fmt::format("{:.{}f} {}", value, value < 99.95 ? 1 : 0, units[unit]);
}

std::string seconds_text(double seconds) {
  if (seconds < 60)
    return fmt::format("{:.2f} s", seconds);
  const int64_t whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 3600)
    return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string one_line(std::string text) {
  for (char& letter : text)
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f)
      letter = ' ';
  return text;
}

}  // namespace cli
