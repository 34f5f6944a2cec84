// SPDX-License-Identifier: BSD-3-Clause
#include "format/raw/values.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/utf8.hpp"

namespace windrow {
namespace {

constexpr std::array k_padding_names{"null_terminated", "null_padded", "space_padded"};

// Calls `work` with a value of the C++ type that stands for `type`.
template <class Work>
auto with_type(Type type, Work work) {
  switch (type) {
    case Type::int8: return work(int8_t{});
    case Type::uint8: return work(uint8_t{});
    case Type::int16: return work(int16_t{});
    case Type::uint16: return work(uint16_t{});
    case Type::int32: return work(int32_t{});
    case Type::uint32: return work(uint32_t{});
    case Type::int64: return work(int64_t{});
    case Type::uint64: return work(uint64_t{});
    case Type::float32: return work(float{});
    default: return work(double{});
  }
}

template <class Float>
using Bits = std::conditional_t<sizeof(Float) == 4, uint32_t, uint64_t>;

template <class Number>
Json number_json(Number value) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (std::isfinite(value)) return static_cast<double>(value);
    return fmt::format("0x{:x}", std::bit_cast<Bits<Number>>(value));
  } else {
    return value;
  }
}

template <class Number>
bool take_number(const Json& value, Number& number) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (value.is_number()) {
      number = static_cast<Number>(value.get<double>());
      return std::isfinite(number);
    }
    const std::string* text = value.get_ptr<const std::string*>();
    if (!text || !text->starts_with("0x")) return false;
    Bits<Number> bits = 0;
    const char* end = text->data() + text->size();
    const auto [rest, error] = std::from_chars(text->data() + 2, end, bits, 16);
    number = std::bit_cast<Number>(bits);
    return error == std::errc() && rest == end;
  } else if (value.is_number_unsigned()) {
    number = static_cast<Number>(value.get<uint64_t>());
    return std::in_range<Number>(value.get<uint64_t>());
  } else if (value.is_number_integer()) {
    number = static_cast<Number>(value.get<int64_t>());
    return std::in_range<Number>(value.get<int64_t>());
  }
  return false;
}

Json text_json(const std::string& text) {
  if (is_utf8(text)) return text;
  std::string hex;
  for (const char each : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(each));
  return Json{{"hex", hex}};
}

bool take_text(const Json& value, std::string& text) {
  if (const std::string* plain = value.get_ptr<const std::string*>()) {
    text = *plain;
    return true;
  }
  const std::string* hex = string_of(value, "hex");
  if (!hex || hex->size() % 2 != 0) return false;
  for (size_t i = 0; i < hex->size(); i += 2) {
    unsigned char byte = 0;
    const auto [rest, error] = std::from_chars(hex->data() + i, hex->data() + i + 2, byte, 16);
    if (error != std::errc() || rest != hex->data() + i + 2) return false;
    text += static_cast<char>(byte);
  }
  return true;
}

}  // namespace

const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::optional<int64_t> whole(const Json& value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX}) return std::nullopt;
  return value.is_number_integer() ? std::optional(value.get<int64_t>()) : std::nullopt;
}

std::optional<int64_t> whole(const Json& object, const char* key) {
  const Json* value = member(object, key);
  return value ? whole(*value) : std::nullopt;
}

const std::string* string_of(const Json& object, const char* key) {
  const Json* value = member(object, key);
  return value ? value->get_ptr<const std::string*>() : nullptr;
}

Type type_called(const std::string* name) noexcept {
  for (int i = static_cast<int>(Type::int8); name && i <= static_cast<int>(Type::text); ++i)
    if (*name == type_name(static_cast<Type>(i))) return static_cast<Type>(i);
  return Type::none;
}

const char* padding_name(TextPadding padding) noexcept { return k_padding_names[static_cast<size_t>(padding)]; }

std::optional<TextPadding> padding_called(const std::string* name) noexcept {
  for (size_t i = 0; name && i < k_padding_names.size(); ++i)
    if (*name == k_padding_names[i]) return static_cast<TextPadding>(i);
  return std::nullopt;
}

Json values_json(const Attribute& attribute) {
  Json list = Json::array();
  for (const std::string& text : attribute.texts) list.push_back(text_json(text));
  if (attribute.type == Type::text) return list;
  with_type(attribute.type, [&](auto number) {
    for (size_t at = 0; at + sizeof number <= attribute.data.size(); at += sizeof number) {
      std::memcpy(&number, attribute.data.data() + at, sizeof number);
      list.push_back(number_json(number));
    }
  });
  return list;
}

bool take_values(const Json& values, Attribute& attribute) {
  if (!values.is_array()) return false;
  if (attribute.type == Type::text) {
    for (const Json& value : values)
      if (!take_text(value, attribute.texts.emplace_back())) return false;
    return true;
  }
  return with_type(attribute.type, [&](auto number) {
    for (const Json& value : values) {
      if (!take_number(value, number)) return false;
      const auto* bytes = reinterpret_cast<const std::byte*>(&number);
      attribute.data.insert(attribute.data.end(), bytes, bytes + sizeof number);
    }
    return true;
  });
}

}  // namespace windrow
