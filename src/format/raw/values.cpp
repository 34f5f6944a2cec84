// SPDX-License-Identifier: BSD-3-Clause
#include "format/raw/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "base/half.hpp"
#include "base/utf8.hpp"
#include "format/number_types.hpp"

namespace windrow {
namespace {

template <class Float>
using Bits =
    std::conditional_t<sizeof(Float) == 2, uint16_t, std::conditional_t<sizeof(Float) == 4, uint32_t, uint64_t>>;

template <class Number>
inline constexpr bool k_is_floating = std::is_floating_point_v<Number> || std::is_same_v<Number, Half>;

// Converts from a double; returns whether it is finite.
template <class Float>
bool take_finite(double value, Float& number) {
  if constexpr (std::is_same_v<Float, Half>) {
    number = narrow(value);
    return std::isfinite(wide(number));
  } else {
    number = static_cast<Float>(value);
    return std::isfinite(number);
  }
}

template <class Number>
Json number_json(Number value) {
  if constexpr (std::is_same_v<Number, Half>) {
    if (std::isfinite(wide(value)))
      return wide(value);
    return fmt::format("0x{:x}", value.bits);
  } else if constexpr (std::is_floating_point_v<Number>) {
    if (std::isfinite(value))
      return static_cast<double>(value);
    return fmt::format("0x{:x}", std::bit_cast<Bits<Number>>(value));
  } else {
    return value;
  }
}

template <class Number>
bool take_number(const Json& value, Number& number) {
  if constexpr (k_is_floating<Number>) {
    if (value.is_number())
      return take_finite(value.get<double>(), number);
    const std::string* text = value.get_ptr<const std::string*>();
    if (!text || !text->starts_with("0x"))
      return false;
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

Json hex_json(std::string_view bytes) {
  std::string hex;
  for (const char each : bytes)
    hex += fmt::format("{:02x}", static_cast<unsigned char>(each));
  return Json{{"hex", hex}};
}

// The component type of a complex number.
Type component_of(Type type) noexcept {
  return type == Type::complex64 ? Type::float32 : type == Type::complex128 ? Type::float64 : type;
}

// Numbers as a list.
Json numbers_json(Type type, std::span<const std::byte> data) {
  Json list = Json::array();
  const auto append_all = [&](auto number) {
    for (size_t at = 0; at + sizeof number <= data.size(); at += sizeof number) {
      std::memcpy(&number, data.data() + at, sizeof number);
      list.push_back(number_json(number));
    }
    return true;
  };
  (void)with_number(type, append_all, false);
  return list;
}

void append(std::vector<std::byte>& data, const void* bytes, size_t size) {
  const auto* begin = static_cast<const std::byte*>(bytes);
  data.insert(data.end(), begin, begin + size);
}

bool take_numbers(const Json& values, Type type, std::vector<std::byte>& data) {
  const auto take_all = [&](auto number) {
    for (const Json& value : values) {
      if (!take_number(value, number))
        return false;
      append(data, &number, sizeof number);
    }
    return true;
  };
  return with_number(type, take_all, false);
}

}  // namespace

Json text_json(const std::string& text) {
  return is_utf8(text) ? Json(text) : hex_json(text);
}

bool take_text(const Json& value, std::string& text) {
  if (const std::string* plain = value.get_ptr<const std::string*>()) {
    text = *plain;
    return true;
  }
  const std::string* hex = string_of(value, "hex");
  if (!hex || hex->size() % 2 != 0)
    return false;
  for (size_t i = 0; i < hex->size(); i += 2) {
    unsigned char byte = 0;
    const auto [rest, error] = std::from_chars(hex->data() + i, hex->data() + i + 2, byte, 16);
    if (error != std::errc() || rest != hex->data() + i + 2)
      return false;
    text += static_cast<char>(byte);
  }
  return true;
}

const Json* member(const Json& object, const char* key) {
  if (!object.is_object())
    return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::optional<int64_t> whole(const Json& value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX})
    return std::nullopt;
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
  for (int i = static_cast<int>(Type::int8); name && i <= static_cast<int>(k_last_type); ++i)
    if (*name == type_name(static_cast<Type>(i)))
      return static_cast<Type>(i);
  return Type::none;
}

Json values_json(const Attribute& attribute) {
  Json list = Json::array();
  for (const std::string& text : attribute.texts)
    list.push_back(text_json(text));
  const std::span<const std::byte> data = attribute.data;
  switch (attribute.type) {
    case Type::text:
      return list;
    case Type::boolean:
      for (const std::byte each : data)
        list.push_back(each != std::byte{0});
      return list;
    case Type::opaque: {
      const auto size = static_cast<size_t>(attribute.opaque_bytes);
      const std::string_view bytes(reinterpret_cast<const char*>(data.data()), data.size());
      for (size_t at = 0; at < bytes.size(); at += size)
        list.push_back(hex_json(bytes.substr(at, size)));
      return list;
    }
    case Type::complex64:
    case Type::complex128: {
      const auto size = static_cast<size_t>(type_size(attribute.type));
      for (size_t at = 0; at < data.size(); at += size)
        list.push_back(numbers_json(component_of(attribute.type), data.subspan(at, size)));
      return list;
    }
    default:
      return numbers_json(attribute.type, data);
  }
}

bool take_values(const Json& values, Attribute& attribute) {
  if (!values.is_array())
    return false;
  const auto each = [&](auto take) { return std::all_of(values.begin(), values.end(), take); };
  switch (attribute.type) {
    case Type::text:
      return each([&](const Json& value) { return take_text(value, attribute.texts.emplace_back()); });
    case Type::boolean:
      return each([&](const Json& value) {
        const unsigned char byte = value.is_boolean() && value.get<bool>() ? 1 : 0;
        append(attribute.data, &byte, 1);
        return value.is_boolean();
      });
    case Type::opaque:
      return each([&](const Json& value) {
        std::string bytes;
        if (!value.is_object() || !take_text(value, bytes) || std::cmp_not_equal(bytes.size(), attribute.opaque_bytes))
          return false;
        append(attribute.data, bytes.data(), bytes.size());
        return true;
      });
    case Type::complex64:
    case Type::complex128:
      return each([&](const Json& value) {
        return value.is_array() && value.size() == 2 &&
               take_numbers(value, component_of(attribute.type), attribute.data);
      });
    default:
      return take_numbers(values, attribute.type, attribute.data);
  }
}

}  // namespace windrow
