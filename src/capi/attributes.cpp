// SPDX-License-Identifier: BSD-3-Clause
// Attributes.
#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "capi/elements.hpp"

using windrow::asks_for_big_endian;
using windrow::asks_for_null_space;
using windrow::Attribute;
using windrow::check_shape;
using windrow::details_of;
using windrow::fill_shape;
using windrow::hand_out;
using windrow::is_type;
using windrow::Type;

namespace {

// The arguments of windrow_put_attribute_with().
struct AttributeArguments {
  const char* name;
  int type;
  int ndims;
  const int64_t* shape;
  const void* data;
  const windrow_options* options;
};

// What an attribute is, without its values.
Status describe_attribute(const windrow_file* file, const AttributeArguments& from, Attribute& attribute) {
  if (from.name == nullptr)
    return null_argument("the name of the attribute");
  if (Status status = check_shape(from.ndims, from.shape); !status.ok())
    return status;
  attribute.name = from.name;
  const auto bad = [&](const std::string& why) {
    return Status{Code::bad_argument, "attribute \"" + attribute.name + "\"" + why};
  };
  if (!is_type(from.type))
    return bad(": " + std::to_string(from.type) + " is not a type");
  attribute.type = static_cast<Type>(from.type);
  attribute.shape.assign(from.shape, from.shape + from.ndims);
  for (int64_t extent : attribute.shape)
    if (extent < 0)
      return bad(": a dimension is negative");
  if (from.options == nullptr)
    return {};  // native order, and text of variable length
  windrow::Details details = details_of(from.options);
  attribute.null_space = asks_for_null_space(from.options);
  attribute.enumeration = std::move(details.enumeration);
  attribute.tag = std::move(details.tag);
  if (attribute.type == Type::text) {
    attribute.text_variable_length = details.bytes == 0;
    attribute.text_size = details.bytes;
    attribute.text_ascii = details.text_ascii;
    attribute.text_padding =
        attribute.text_variable_length ? windrow::TextPadding::null_terminated : details.text_padding;
  } else {
    attribute.opaque_bytes = details.bytes;
    attribute.big_endian = attribute.type != Type::opaque && asks_for_big_endian(file, from.options);
  }
  return {};
}

Status take_texts(const char* const* texts, int64_t count, Attribute& attribute) {
  for (int64_t i = 0; i < count; ++i) {
    if (texts[i] == nullptr)
      return null_argument("a string of an attribute");
    attribute.texts.emplace_back(texts[i]);
  }
  return {};
}

Status fill_attribute(const windrow_file* file, const AttributeArguments& from, Attribute& attribute) {
  if (Status status = describe_attribute(file, from, attribute); !status.ok())
    return status;
  if (attribute.null_space)
    return {};
  const auto elements = windrow::checked_product(attribute.shape);
  const int64_t size = std::max({int64_t{1}, attribute.opaque_bytes, windrow_type_size(from.type)});
  const auto bytes = elements ? windrow::checked_multiply(*elements, size) : std::nullopt;
  if (!bytes || *bytes > INT32_MAX)
    return {Code::bad_argument, "attribute \"" + attribute.name + "\" is too large"};
  if (*elements > 0 && from.data == nullptr)
    return null_argument("the data of an attribute");
  if (attribute.type == Type::text || attribute.type == Type::reference)
    return take_texts(static_cast<const char* const*>(from.data), *elements, attribute);
  attribute.data.resize(static_cast<size_t>(*bytes));
  if (*bytes > 0)
    std::memcpy(attribute.data.data(), from.data, attribute.data.size());
  if (attribute.type == Type::boolean)
    for (std::byte& each : attribute.data)
      each = each == std::byte{0} ? each : std::byte{1};
  return {};
}

const std::vector<Attribute>* attributes_of(const windrow_file* file, const char* object) {
  if (file == nullptr || file->file == nullptr || object == nullptr)
    return nullptr;
  return file->file->attributes_of(object);
}

Result<const Attribute*> find_attribute(const std::vector<Attribute>& attributes, const char* object,
                                        const char* name) {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& a) { return a.name == name; });
  if (found == attributes.end())
    return Status{Code::not_found, "\"" + std::string(object) + "\" has no attribute \"" + name + "\""};
  if (!found->unsupported.empty())
    return Status{Code::unsupported, "attribute \"" + found->name + "\": " + found->unsupported};
  return &*found;
}

}  // namespace

extern "C" {

int windrow_put_attribute(windrow_file* file, const char* object, const char* name, int type, int ndims,
                          const int64_t* shape, const void* data) {
  return windrow_put_attribute_with(file, object, name, type, ndims, shape, data, nullptr);
}

int windrow_put_attribute_with(windrow_file* file, const char* object, const char* name, int type, int ndims,
                               const int64_t* shape, const void* data, const windrow_options* options) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    Attribute attribute;
    std::string owner;
    Status local = guard([&]() -> Status {
      if (object == nullptr)
        return null_argument("the object of the attribute");
      owner = object;
      return fill_attribute(file, {name, type, ndims, shape, data, options}, attribute);
    });
    return file->file->put_attribute(owner, std::move(attribute), std::move(local));
  });
}

int windrow_put_attribute_text(windrow_file* file, const char* object, const char* name, const char* text) {
  return windrow_put_attribute(file, object, name, WINDROW_TEXT, 0, nullptr, &text);
}

int windrow_copy_attribute(windrow_file* file, const char* object, const windrow_file* from, const char* from_object,
                           const char* name) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    Attribute attribute;
    std::string owner;
    Status local = guard([&]() -> Status {
      if (object == nullptr || name == nullptr)
        return null_argument("the object or name of the attribute");
      const auto* attributes = attributes_of(from, from_object);
      if (attributes == nullptr)
        return {Code::not_found, "no such group or variable to copy an attribute from"};
      auto found = find_attribute(*attributes, from_object, name);
      if (!found.ok())
        return found.status();
      attribute = *found.value();
      owner = object;
      return {};
    });
    return file->file->put_attribute(owner, std::move(attribute), std::move(local));
  });
}

int windrow_attribute_count(const windrow_file* file, const char* object) {
  int count = -1;
  (void)guard([&] {
    if (const auto* attributes = attributes_of(file, object))
      count = static_cast<int>(attributes->size());
    return Status{};
  });
  return count;
}

int windrow_inquire_attribute(const windrow_file* file, const char* object, int attribute,
                              windrow_attribute_info* info) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    const auto* attributes = attributes_of(file, object);
    if (attributes == nullptr)
      return {Code::not_found, "no such group or variable"};
    if (attribute < 0 || attribute >= static_cast<int>(attributes->size()))
      return {Code::bad_argument, "there is no attribute number " + std::to_string(attribute)};
    const Attribute& described = (*attributes)[static_cast<size_t>(attribute)];
    windrow_attribute_info filled{};
    filled.size = sizeof filled;
    filled.name = keep(file, described.name);
    filled.type = static_cast<int>(described.type);
    if (described.shape.size() <= WINDROW_MAX_DIMENSIONS)
      fill_shape(filled, described.shape);
    filled.elements = described.null_space ? 0 : windrow::checked_product(described.shape).value_or(0);
    filled.unsupported = keep(file, described.unsupported);
    const bool is_text = described.type == Type::text;
    filled.element_bytes = !is_text ? std::max(described.opaque_bytes, windrow::type_size(described.type))
                           : described.text_variable_length ? 0
                                                            : described.text_size;
    filled.is_null = described.null_space ? 1 : 0;
    filled.text_characters = !is_text ? "" : described.text_ascii ? "ascii" : "utf8";
    filled.text_padding = is_text ? windrow::padding_name(described.text_padding) : "";
    filled.opaque_tag = keep(file, described.tag);
    filled.enumeration = keep(file, described.enumeration);
    return hand_out(filled, info);
  });
}

int windrow_get_attribute(const windrow_file* file, const char* object, const char* name, int type, void* data) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    const auto* attributes = attributes_of(file, object);
    if (attributes == nullptr)
      return {Code::not_found, "no such group or variable"};
    if (name == nullptr)
      return null_argument("the name of the attribute");
    auto lookup = find_attribute(*attributes, object, name);
    if (!lookup.ok())
      return lookup.status();
    const Attribute* found = lookup.value();
    if (static_cast<int>(found->type) != type)
      return {Code::bad_argument, "attribute \"" + found->name + "\" is " + windrow::type_name(found->type) + ", not " +
                                      windrow_type_name(type)};
    if (data == nullptr && !(found->texts.empty() && found->data.empty()))
      return null_argument("the data of an attribute");
    if (found->type == Type::text || found->type == Type::reference) {
      auto* texts = static_cast<const char**>(data);
      for (size_t i = 0; i < found->texts.size(); ++i)
        texts[i] = keep(file, found->texts[i]);
    } else if (!found->data.empty()) {
      std::memcpy(data, found->data.data(), found->data.size());
    }
    return {};
  });
}

}  // extern "C"
