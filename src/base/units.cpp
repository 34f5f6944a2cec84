// SPDX-License-Identifier: BSD-3-Clause
#include "base/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/checked.hpp"

namespace windrow {

namespace {

constexpr std::string_view k_prefixes = "KMGTPE";

char upper(char c) noexcept {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
}

// Bytes of a unit: "", "B", "K", "KiB", "KB" ... nullopt: not a unit.
std::optional<int64_t> unit_bytes(std::string_view unit) noexcept {
  if (unit.empty() || unit == "B" || unit == "b")
    return 1;
  const size_t power = k_prefixes.find(upper(unit[0]));
  if (power == std::string_view::npos)
    return std::nullopt;
  const bool decimal = unit.size() == 2 && upper(unit[1]) == 'B';
  const bool binary = unit.size() == 1 || (unit.size() == 3 && upper(unit[1]) == 'I' && upper(unit[2]) == 'B');
  if (!decimal && !binary)
    return std::nullopt;
  int64_t bytes = 1;
  for (size_t i = 0; i <= power; ++i)
    bytes *= decimal ? 1000 : 1024;
  return bytes;
}

}  // namespace

std::optional<int64_t> parse_integer(std::string_view text) noexcept {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-')
    text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::optional<int64_t> parse_bytes(std::string_view text) noexcept {
  size_t digits = 0;
  while (digits < text.size() && (std::isdigit(static_cast<unsigned char>(text[digits])) || text[digits] == '.'))
    ++digits;
  const std::string_view number = text.substr(0, digits);
  std::string_view unit = text.substr(digits);
  if (!number.empty() && unit.starts_with(' '))
    unit.remove_prefix(1);
  const std::optional<int64_t> scale = unit_bytes(unit);
  if (!scale)
    return std::nullopt;
  if (const auto whole = parse_integer(number))
    return checked_multiply(*whole, *scale);
  double value = 0;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), value, std::chars_format::fixed);
  if (error != std::errc() || end != number.data() + number.size())
    return std::nullopt;
  const double bytes = std::floor(value * static_cast<double>(*scale));
  if (!(bytes < 9.2e18))
    return std::nullopt;
  return static_cast<int64_t>(bytes);
}

std::string format_bytes(int64_t bytes) {
  static constexpr std::array<const char*, 6> k_binary{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  static constexpr std::array<const char*, 6> k_decimal{"kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000)
    return counted(bytes, "byte");
  int64_t exact = bytes;
  size_t power = 0;
  for (; power < k_binary.size() && exact % 1024 == 0; exact /= 1024)
    ++power;
  if (power > 0 && exact < 10000)
    return fmt::format("{} {}", exact, k_binary[power - 1]);
  double value = static_cast<double>(bytes) / 1000;
  size_t unit = 0;
  for (; value >= 999.95 && unit + 1 < k_decimal.size(); value /= 1000)
    ++unit;
  return fmt::format("{:.1f} {}", value, k_decimal[unit]);
}

std::string counted_text(std::string number, bool one, std::string_view noun, std::string_view plural) {
  number.append(" ").append(one || plural.empty() ? noun : plural);
  if (!one && plural.empty())
    number += 's';
  return number;
}

std::string format_seconds(double seconds) {
  if (seconds < 0.9995e-3)
    return fmt::format("{:.1f} µs", seconds * 1e6);
  if (seconds < 0.9995)
    return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

}  // namespace windrow
