// SPDX-License-Identifier: BSD-3-Clause
#include "subfiling/map_attributes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace windrow::map {

Attribute attribute_of(std::string_view name, Type type) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = type;
  return attribute;
}

Attribute numbers(std::string_view name, std::span<const int64_t> values, bool scalar) {
  Attribute attribute = attribute_of(name, Type::int64);
  if (!scalar)
    attribute.shape = {static_cast<int64_t>(values.size())};
  const auto bytes = std::as_bytes(values);
  attribute.data.assign(bytes.begin(), bytes.end());
  attribute.big_endian = std::endian::native == std::endian::big;
  return attribute;
}

Attribute number(std::string_view name, int64_t value) {
  return numbers(name, std::span(&value, 1), true);
}

Attribute word(std::string_view name, const std::string& text) {
  Attribute attribute = attribute_of(name, Type::text);
  attribute.texts = {text};
  attribute.text_variable_length = false;
  attribute.text_padding = TextPadding::null_padded;
  return attribute;
}

const Attribute* find_in(const std::vector<Attribute>& attributes, std::string_view name) {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& each) { return each.name == name; });
  return found == attributes.end() ? nullptr : &*found;
}

std::vector<int64_t> numbers_of(const std::vector<Attribute>& attributes, std::string_view name) {
  const Attribute* attribute = find_in(attributes, name);
  if (attribute == nullptr || attribute->type != Type::int64 || attribute->data.size() % sizeof(int64_t) != 0)
    return {};
  std::vector<int64_t> values(attribute->data.size() / sizeof(int64_t));
  if (!values.empty())
    std::memcpy(values.data(), attribute->data.data(), attribute->data.size());
  return values;
}

std::optional<int64_t> number_of(const std::vector<Attribute>& attributes, std::string_view name) {
  const auto values = numbers_of(attributes, name);
  return values.size() == 1 ? std::optional(values.front()) : std::nullopt;
}

std::string word_of(const std::vector<Attribute>& attributes, std::string_view name) {
  const Attribute* attribute = find_in(attributes, name);
  return attribute != nullptr && attribute->type == Type::text && attribute->texts.size() == 1
             ? attribute->texts.front()
             : std::string();
}

}  // namespace windrow::map
