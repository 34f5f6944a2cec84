// SPDX-License-Identifier: BSD-3-Clause
#include "kerchunk/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/half.hpp"
#include "base/utf8.hpp"
#include "format/number_types.hpp"

namespace windrow {
namespace {

template <class T>
std::string number(std::span<const std::byte> element, bool quotes) {
  T value{};
  if (element.size() != sizeof value)
    return {};
  std::memcpy(&value, element.data(), sizeof value);
  if constexpr (std::is_same_v<T, Half>) {
    const auto as_float = static_cast<float>(wide(value));
    return number<float>(std::as_bytes(std::span(&as_float, 1)), quotes);
  } else if constexpr (std::is_floating_point_v<T>) {
    const char* word = std::isnan(value) ? "NaN" : std::isinf(value) ? (value > 0 ? "Infinity" : "-Infinity") : nullptr;
    if (word != nullptr)
      return quotes ? fmt::format("\"{}\"", word) : word;
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos)
      text += ".0";  // otherwise it would be read as an integer
    return text;
  } else {
    return fmt::format("{}", value);
  }
}

// Nested lists according to the shape.
std::string nested(std::span<const std::string> values, std::span<const int64_t> shape) {
  if (shape.empty())
    return values.empty() ? "null" : values.front();
  const size_t each = shape.front() == 0 ? 0 : values.size() / static_cast<size_t>(shape.front());
  std::string text = "[";
  for (int64_t i = 0; i < shape.front(); ++i) {
    if (i > 0)
      text += ',';
    text += nested(values.subspan(static_cast<size_t>(i) * each, each), shape.subspan(1));
  }
  return text + ']';
}

// Without quotes and in ASCII, because Zarr 2 reads its metadata, which are strings within the JSON text, as ASCII.
std::string in_json(std::string_view text) {
  std::string out;
  const std::string valid = readable(text);
  for (size_t i = 0; i < valid.size();) {
    const auto lead = static_cast<unsigned char>(valid[i++]);
    if (lead == '"' || lead == '\\')
      out += '\\';
    if (lead >= ' ' && lead < 0x80) {
      out += static_cast<char>(lead);
      continue;
    }
    const int more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    unsigned point = more == 0 ? lead : lead & (0x3fU >> more);
    for (int k = 0; k < more && i < valid.size(); ++k)
      point = point << 6 | (static_cast<unsigned char>(valid[i++]) & 0x3fU);
    if (point < 0x10000)
      out += fmt::format("\\u{:04x}", point);
    else
      out +=
          fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
  }
  return out;
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (size_t end = text.find('\0'); end != std::string_view::npos; end = text.find('\0')) {  // JSON can represent NUL
    out += in_json(text.substr(0, end)) + "\\u0000";
    text.remove_prefix(end + 1);
  }
  return out + in_json(text) + '"';
}

std::string json_number(Type type, std::span<const std::byte> element, bool quotes) {
  if (type == Type::boolean)
    return element.size() != 1 ? "" : element.front() != std::byte{0} ? "true" : "false";
  return with_number(
      type, [&]<class T>(T) { return number<T>(element, quotes); }, std::string());
}

std::string json_value(const Attribute& attribute) {
  if (!attribute.unsupported.empty() || attribute.null_space)
    return {};
  std::vector<std::string> values;
  if (attribute.type == Type::text) {
    for (const std::string_view text : attribute.texts)
      values.push_back(json_text(text.substr(0, text.find_last_not_of('\0') + 1)));  // like readers of files
  } else {
    const int64_t size = type_size(attribute.type);
    for (size_t at = 0; size > 0 && at + static_cast<size_t>(size) <= attribute.data.size();
         at += static_cast<size_t>(size)) {
      values.push_back(
          json_number(attribute.type, std::span(attribute.data).subspan(at, static_cast<size_t>(size)), false));
      if (values.back().empty())
        return {};
    }
    if (size == 0)
      return {};
  }
  if (values.size() == 1)
    return values.front();  // as in netCDF, where every attribute is a list
  return nested(values, attribute.shape);
}

std::string dtype_of(Type type, const Details& details, bool big_endian) {
  // [Type] the letter of NumPy's array interface; blank: none
  constexpr std::string_view k_letters = " iuiuiuiuff bcc  f";
  static_assert(k_letters.size() == static_cast<size_t>(k_last_type) + 1);
  const int64_t size = element_bytes(type, details);
  if (type == Type::text)
    return size > 0 ? fmt::format("|S{}", size) : "";
  const auto number = static_cast<size_t>(type);
  const char letter = number < k_letters.size() ? k_letters[number] : ' ';
  if (letter == ' ')
    return {};
  const char order = component_size(type) == 1 ? '|' : big_endian ? '>' : '<';
  return fmt::format("{}{}{}", order, letter, size);
}

std::vector<std::byte> in_native_order(std::span<const std::byte> element, Type type, bool big_endian) {
  std::vector<std::byte> bytes(element.begin(), element.end());
  const auto size = static_cast<size_t>(component_size(type));
  if (big_endian == (std::endian::native == std::endian::big) || size == 1)
    return bytes;
  for (auto at = bytes.begin(); bytes.end() - at >= static_cast<std::ptrdiff_t>(size);
       at += static_cast<std::ptrdiff_t>(size))
    std::reverse(at, at + static_cast<std::ptrdiff_t>(size));
  return bytes;
}

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view k_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t there = std::min<size_t>(3, bytes.size() - at);
    uint32_t three = 0;
    for (size_t i = 0; i < 3; ++i)
      three = three << 8 | (i < there ? std::to_integer<uint32_t>(bytes[at + i]) : 0);
    for (size_t i = 0; i < 4; ++i)
      text += i <= there ? k_digits[three >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

}  // namespace windrow
