// SPDX-License-Identifier: BSD-3-Clause
#include "format/enumeration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "format/check.hpp"

namespace windrow {
namespace {

bool is_signed(Type type) noexcept {
  return type == Type::int8 || type == Type::int16 || type == Type::int32 || type == Type::int64;
}

template <class Number>
bool parse_all(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end;
}

bool parse_value(Type type, std::string_view text, uint64_t& value) {
  const int64_t bits = 8 * type_size(type);
  if (is_signed(type)) {
    int64_t number = 0;
    if (!parse_all(text, number))
      return false;
    value = static_cast<uint64_t>(number);
    const int64_t most = static_cast<int64_t>(~uint64_t{0} >> (65 - bits));
    return number <= most && number >= -most - 1;
  }
  return parse_all(text, value) && value <= ~uint64_t{0} >> (64 - bits);
}

}  // namespace

Result<std::vector<EnumerationMember>> parse_enumeration(Type type, std::string_view text) {
  constexpr size_t k_most_bytes = 60 * 1024;  // HDF5's description of a type has at most 64 KiB
  const auto bad = [](std::string why) { return Status(Code::bad_argument, "its enumeration " + std::move(why)); };
  if (!is_integer(type))
    return bad(fmt::format("names values of type {}, which are not integers", type_name(type)));
  std::vector<EnumerationMember> members;
  std::unordered_set<std::string_view> names;
  std::unordered_set<uint64_t> values;
  size_t bytes = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t equals = line.rfind('=');
    if (equals == std::string_view::npos || equals == 0)
      return bad(fmt::format("has the line \"{}\", which is not NAME=value", line));
    const std::string_view name = line.substr(0, equals);
    uint64_t value = 0;
    if (!parse_value(type, line.substr(equals + 1), value))
      return bad(fmt::format("has \"{}\", which is not a value of type {}", line, type_name(type)));
    if (name.find('\0') != std::string_view::npos || !names.insert(name).second || !values.insert(value).second)
      return bad(fmt::format("has \"{}\": a repeated name or value, or a NUL", line));
    bytes += name.size() + 9 + static_cast<size_t>(type_size(type));  // HDF5 pads names to multiples of eight
    if (bytes > k_most_bytes)
      return bad("is larger than the 60 KiB that HDF5 allows");
    members.push_back({std::string(name), value});
  }
  return members;
}

std::string value_text(Type type, uint64_t value) {
  return is_signed(type) ? fmt::format("{}", static_cast<int64_t>(value)) : fmt::format("{}", value);
}

std::string member_text(Type type, const EnumerationMember& member) {
  return member.name + '=' + value_text(type, member.value);
}

}  // namespace windrow
