// SPDX-License-Identifier: BSD-3-Clause
// Attributes of every type and storage, for tests of formats.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "format/format.hpp"

namespace windrow::test {

constexpr bool k_native_is_big = std::endian::native == std::endian::big;

template <class Number>
std::vector<std::byte> bytes_of(std::initializer_list<Number> numbers) {
  const auto bytes = std::as_bytes(std::span(numbers.begin(), numbers.size()));
  return {bytes.begin(), bytes.end()};
}

template <class Number>
Attribute numbers(const std::string& name, Type type, std::initializer_list<Number> values,
                  bool big_endian = k_native_is_big) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = type;
  attribute.shape = {static_cast<int64_t>(values.size())};
  attribute.data = bytes_of(values);
  attribute.big_endian = big_endian;
  return attribute;
}

inline Attribute text(const std::string& name, const std::string& value) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = Type::text;
  attribute.texts = {value};
  return attribute;
}

inline Attribute fixed_text(const std::string& name, std::vector<std::string> values, int64_t size,
                            TextPadding padding) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = Type::text;
  attribute.shape = {static_cast<int64_t>(values.size())};
  attribute.texts = std::move(values);
  attribute.text_variable_length = false;
  attribute.text_ascii = padding != TextPadding::null_padded;
  attribute.text_size = size;
  attribute.text_padding = padding;
  return attribute;
}

// Attributes of every type and storage, which a copy of a file must have too.
inline std::vector<Attribute> all_attributes() {
  constexpr double k_infinity = std::numeric_limits<double>::infinity();
  constexpr float k_not_a_number = std::numeric_limits<float>::quiet_NaN();
  std::vector<Attribute> list{
      numbers<int8_t>("int8", Type::int8, {-128, 127}),
      numbers<uint8_t>("uint8", Type::uint8, {0, 255}),
      numbers<int16_t>("int16", Type::int16, {INT16_MIN, INT16_MAX}, true),
      numbers<uint16_t>("uint16", Type::uint16, {0, UINT16_MAX}),
      numbers<int32_t>("int32", Type::int32, {INT32_MIN, INT32_MAX}),
      numbers<uint32_t>("uint32", Type::uint32, {0, UINT32_MAX}, true),
      numbers<int64_t>("int64", Type::int64, {INT64_MIN, INT64_MAX}),
      numbers<uint64_t>("uint64", Type::uint64, {0, UINT64_MAX}),
      numbers<float>("float32", Type::float32, {0.1F, -0.0F, k_not_a_number, std::numeric_limits<float>::denorm_min()},
                     true),
      numbers<double>("float64", Type::float64, {0.1, 1e300, -k_infinity, k_infinity}),
      text("variable text", "grüße, \"quoted\"\n"),
      text("empty text", ""),
      fixed_text("null terminated", {"ab", "", "abc"}, 4, TextPadding::null_terminated),
      fixed_text("null padded", {"ab", "", "äb"}, 3, TextPadding::null_padded),
      fixed_text("space padded", {"ab", "", "abc"}, 3, TextPadding::space_padded),
  };
  Attribute scalar = numbers<double>("scalar", Type::float64, {2.5});
  scalar.shape = {};
  Attribute plane = numbers<int32_t>("two by three", Type::int32, {1, 2, 3, 4, 5, 6});
  plane.shape = {2, 3};
  Attribute none = numbers<int32_t>("no elements", Type::int32, {});
  none.shape = {0};
  Attribute texts = text("texts", "one");
  texts.texts = {"one", "", "three"};
  texts.shape = {3};
  texts.text_ascii = true;
  list.insert(list.end(), {scalar, plane, none, texts});
  Attribute colours = numbers<int16_t>("colours", Type::int16, {-1, 300, 7}, true);
  colours.enumeration = "RED=-1\nBLUE=300";
  Attribute opaque = numbers<char>("opaque", Type::opaque, {'a', 'b', 'c', '\xff', 'e', 'f'}, false);
  opaque.shape = {2};
  opaque.opaque_bytes = 3;
  opaque.tag = "three bytes";
  Attribute null = numbers<float>("null", Type::float32, {});
  null.shape = {};
  null.null_space = true;
  Attribute complex = numbers<double>("complex128", Type::complex128, {0.1, -0.0, k_infinity, 1e300}, true);
  complex.shape = {2};
  Attribute narrow = numbers<float>("complex64", Type::complex64, {0.1F, k_not_a_number});
  narrow.shape = {};
  list.insert(list.end(), {numbers<char>("bool", Type::boolean, {0, 1, 1}), colours, opaque, null, complex, narrow});
  return list;
}

// Formats list objects by name or in the order of definition. The comparison ignores the order.
inline Catalog sorted(Catalog catalog) {
  const auto by_name = [](const Attribute& a, const Attribute& b) { return a.name < b.name; };
  const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
  for (auto& group : catalog.groups)
    std::sort(group.attributes.begin(), group.attributes.end(), by_name);
  for (auto& variable : catalog.variables)
    std::sort(variable.attributes.begin(), variable.attributes.end(), by_name);
  std::sort(catalog.groups.begin(), catalog.groups.end(), by_path);
  std::sort(catalog.variables.begin(), catalog.variables.end(), by_path);
  return catalog;
}

}  // namespace windrow::test
