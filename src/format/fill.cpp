// SPDX-License-Identifier: BSD-3-Clause
#include "format/fill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/half.hpp"
#include "format/number_types.hpp"

namespace windrow {
namespace {

template <class Number>
bool parse_number(std::string_view text, Number& value) {
  if (text.starts_with('+'))
    text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_number(std::string_view text, Half& value) {
  double given = 0;
  if (!parse_number(text, given))
    return false;
  value = narrow(given);
  return std::isfinite(wide(value)) || !std::isfinite(given);
}

// Converts numbers to native bytes.
template <class Number>
bool append_number(std::string_view text, std::vector<std::byte>& out) {
  Number value{};
  if (!parse_number(text, value))
    return false;
  const size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
  return true;
}

template <class Number>
std::string number_text(const std::byte* bytes) {
  Number value{};
  std::memcpy(&value, bytes, sizeof value);
  if constexpr (std::is_same_v<Number, Half>)
    return fmt::format("{}", static_cast<float>(wide(value)));
  else if constexpr (sizeof value == 1)
    return fmt::format("{}", static_cast<int>(value));
  else
    return fmt::format("{}", value);
}

// "a,b", or "a" with b = 0.
template <class Number>
bool append_complex(std::string_view text, std::vector<std::byte>& out) {
  const size_t comma = text.find(',');
  return append_number<Number>(text.substr(0, comma), out) &&
         append_number<Number>(comma == std::string_view::npos ? "0" : text.substr(comma + 1), out);
}

bool append_bool(std::string_view text, std::vector<std::byte>& out) {
  const bool is_true = text == "true" || text == "1";
  if (!is_true && text != "false" && text != "0")
    return false;
  out.push_back(std::byte{is_true});
  return true;
}

bool append_text(std::string_view text, const Details& details, std::vector<std::byte>& out) {
  if (std::cmp_greater(text.size(), details.bytes))
    return false;
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  out.assign(bytes, bytes + text.size());
  out.resize(static_cast<size_t>(details.bytes),
             details.text_padding == TextPadding::space_padded ? std::byte{' '} : std::byte{0});
  return true;
}

bool append_hex(std::string_view text, const Details& details, std::vector<std::byte>& out) {
  if (!text.starts_with("0x") || std::cmp_not_equal(text.size(), 2 + 2 * details.bytes))
    return false;
  for (size_t i = 2; i < text.size(); i += 2) {
    uint8_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
    if (error != std::errc() || end != text.data() + i + 2)
      return false;
    out.push_back(std::byte{value});
  }
  return true;
}

bool append_any(Type type, const Details& details, std::string_view text, std::vector<std::byte>& out) {
  switch (type) {
    case Type::boolean:
      return append_bool(text, out);
    case Type::complex64:
      return append_complex<float>(text, out);
    case Type::complex128:
      return append_complex<double>(text, out);
    case Type::text:
      return details.bytes > 0 && append_text(text, details, out);
    case Type::opaque:
      return append_hex(text, details, out);
    default:
      return with_number(
          type, [&]<class Number>(Number) { return append_number<Number>(text, out); }, false);
  }
}

template <class Number>
std::string complex_text(const std::byte* bytes) {
  return number_text<Number>(bytes) + ',' + number_text<Number>(bytes + sizeof(Number));
}

// Without the padding.
std::string text_of_element(TextPadding padding, std::span<const std::byte> element) {
  std::string text(reinterpret_cast<const char*>(element.data()), element.size());
  const char last = padding == TextPadding::space_padded ? ' ' : '\0';
  while (!text.empty() && text.back() == last)
    text.pop_back();
  return text;
}

std::string hex_text(std::span<const std::byte> element) {
  std::string text = "0x";
  for (const std::byte each : element)
    text += fmt::format("{:02x}", static_cast<unsigned>(each));
  return text;
}

// Converts native to stored order, and back.
void order(std::vector<std::byte>& bytes, Type type, bool big_endian) {
  const int64_t size = component_size(type);
  if (size <= 1 || big_endian == (std::endian::native == std::endian::big))
    return;
  for (auto at = bytes.begin(); at != bytes.end(); at += size)
    std::reverse(at, at + size);
}

}  // namespace

Result<std::vector<std::byte>> parse_fill(Type type, const Details& details, bool big_endian, std::string_view text) {
  std::vector<std::byte> bytes;
  if (text.empty())
    return bytes;
  if (!append_any(type, details, text, bytes))
    return Status(Code::bad_argument, fmt::format("its fill value \"{}\" is not of type {}", text, type_name(type)));
  order(bytes, type, big_endian);
  if (std::all_of(bytes.begin(), bytes.end(), [](std::byte each) { return each == std::byte{0}; }))
    bytes.clear();
  return bytes;
}

std::string element_text(Type type, const Details& details, std::span<const std::byte> element) {
  const std::byte* bytes = element.data();
  switch (type) {
    case Type::boolean:
      return *bytes == std::byte{0} ? "false" : "true";
    case Type::complex64:
      return complex_text<float>(bytes);
    case Type::complex128:
      return complex_text<double>(bytes);
    case Type::text:
      return text_of_element(details.text_padding, element);
    default:
      break;
  }
  const std::string number = with_number(
      type, [&]<class Number>(Number) { return number_text<Number>(bytes); }, std::string());
  return number.empty() ? hex_text(element) : number;
}

std::string fill_text(Type type, const Details& details, bool big_endian, const std::vector<std::byte>& fill) {
  if (fill.empty())
    return "";
  std::vector<std::byte> native = fill;
  order(native, type, big_endian);
  return element_text(type, details, native);
}

}  // namespace windrow
