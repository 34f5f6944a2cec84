// SPDX-License-Identifier: BSD-3-Clause
// Writing of the sidecar.
#include <fmt/format.h>

#include "base/units.hpp"
#include "format/enumeration.hpp"
#include "format/fill.hpp"
#include "format/raw/sidecar.hpp"
#include "format/raw/values.hpp"

namespace windrow {
namespace {

// The text properties of an attribute are not in its details.
void put_details(Json& item, Type type, const Details& details) {
  if (type == Type::opaque) {
    item["element_bytes"] = details.bytes;
    item["tag"] = text_json(details.tag);
  }
  if (details.enumeration.empty())
    return;
  Json& names = item["enumeration"] = Json::object();
  const auto members = parse_enumeration(type, details.enumeration);  // it was checked before
  for (const EnumerationMember& member : members.value())
    names[member.name] = type == Type::uint64 ? Json(member.value) : Json(static_cast<int64_t>(member.value));
}

Json parts_json(const std::vector<Part>& parts) {
  Json list = Json::array();
  for (const Part& part : parts)
    list.push_back(Json{{"file", part.file}, {"start", part.box.start}, {"count", part.box.count}});
  return list;
}

Json variable_json(const Variable& variable, const TextLists& texts) {
  Json item{{"path", variable.path},
            {"type", type_name(variable.type)},
            {"byte_order", variable.placement.big_endian ? "big" : "little"},
            {"shape", variable.shape},
            {"offset", variable.placement.offset}};
  if (variable.type == Type::text) {
    item["element_bytes"] = variable.details.bytes;
    item["character_set"] = variable.details.text_ascii ? "ascii" : "utf8";
    item["padding"] = padding_name(variable.details.text_padding);
  }
  put_details(item, variable.type, variable.details);
  if (!variable.fill.empty())
    item["fill_value"] = fill_text(variable.type, variable.details, variable.placement.big_endian, variable.fill);
  if (variable.null_space)
    item["null_space"] = true;
  if (!variable.dimensions.empty())
    item["dimensions"] = variable.dimensions;
  if (const auto written = texts.find(variable.path); written != texts.end()) {
    Json& list = item["texts"] = Json::array();
    for (const std::string& text : written->second)
      list.push_back(text_json(text));
  }
  return item;
}

Json attributes_json(const std::vector<Attribute>& attributes) {
  Json list = Json::array();
  for (const Attribute& attribute : attributes) {
    Json item{{"name", attribute.name}, {"type", type_name(attribute.type)}, {"shape", attribute.shape}};
    if (attribute.type == Type::text) {
      item["variable_length"] = attribute.text_variable_length;
      item["character_set"] = attribute.text_ascii ? "ascii" : "utf8";
      item["size"] = attribute.text_size;
      item["padding"] = padding_name(attribute.text_padding);
    } else {
      item["byte_order"] = attribute.big_endian ? "big" : "little";
    }
    put_details(item, attribute.type,
                {.bytes = attribute.opaque_bytes, .tag = attribute.tag, .enumeration = attribute.enumeration});
    if (attribute.null_space)
      item["null_space"] = true;
    item["values"] = values_json(attribute);
    list.push_back(std::move(item));
  }
  return list;
}

}  // namespace

Result<std::string> sidecar_text(const Catalog& catalog, const TextLists& texts, const PartLists& parts,
                                 int64_t bytes) {
  Json groups = Json::array();
  for (const Group& group : catalog.groups)
    groups.push_back(Json{{"path", group.path}, {"attributes", attributes_json(group.attributes)}});
  Json variables = Json::array();
  for (const Variable& variable : catalog.variables) {
    Json item = variable_json(variable, texts);
    if (const auto split = parts.find(variable.path); split != parts.end())
      item["parts"] = parts_json(split->second);
    item["attributes"] = attributes_json(variable.attributes);
    variables.push_back(std::move(item));
  }
  Json links = Json::array();
  for (const SoftLink& link : catalog.links)
    links.push_back(Json{{"path", link.path}, {"target", link.target}});
  Json all{{"windrow", "raw"},
           {"version", k_sidecar_version},
           {"bytes", bytes},
           {"groups", groups},
           {"variables", variables}};
  if (!links.empty())
    all["links"] = std::move(links);
  Json dimensions = Json::array();
  for (const Dimension& dimension : catalog.dimensions)
    dimensions.push_back(Json{{"path", dimension.path}, {"length", dimension.length}});
  if (!dimensions.empty())
    all["dimensions"] = std::move(dimensions);
  try {
    std::string text = all.dump(1) + "\n";
    if (std::ssize(text) > k_most_sidecar_bytes)
      return Status(Code::unsupported, fmt::format("the sidecar would have {}; at most {} are possible",
                                                   counted(std::ssize(text), "byte"), k_most_sidecar_bytes));
    return text;
  } catch (const Json::exception& error) {
    return Status(Code::bad_argument, fmt::format("a name in the file is not UTF-8: {}", error.what()));
  }
}

}  // namespace windrow
