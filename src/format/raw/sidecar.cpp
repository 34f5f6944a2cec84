// SPDX-License-Identifier: BSD-3-Clause
#include "format/raw/sidecar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/checked.hpp"
#include "format/check.hpp"
#include "format/raw/values.hpp"

namespace windrow {
namespace {

constexpr int64_t k_version = 1;

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
    item["values"] = values_json(attribute);
    list.push_back(std::move(item));
  }
  return list;
}

// Reads a parsed sidecar; each function returns nothing but a status that names the place.
class Parser {
 public:
  Parser(const std::string& path, int64_t file_bytes) noexcept : path_(path), file_bytes_(file_bytes) {}

  Status parse(const Json& text);
  Sidecar take() { return std::move(sidecar_); }

 private:
  Status bad(std::string_view where, std::string_view why) const {
    return {Code::bad_file, fmt::format("\"{}\": {}{}{}", path_, where, where.empty() ? "" : ": ", why)};
  }
  Status take_path(const Json& item, const std::string& where, std::string& path);
  Status take_shape(const Json& item, const std::string& where, std::vector<int64_t>& shape) const;
  Status take_byte_order(const Json& item, const std::string& where, bool& big_endian) const;
  Status take_group(const Json& item, size_t number);
  Status take_variable(const Json& item, size_t number);
  Status take_placement(const Json& item, const std::string& where, Variable& variable) const;
  Status take_attributes(const Json& item, const std::string& where, std::vector<Attribute>& attributes) const;
  Status take_attribute(const Json& item, const std::string& where, Attribute& attribute) const;
  Status take_text_storage(const Json& item, const std::string& where, Attribute& attribute) const;
  Status check_overlaps() const;

  const std::string& path_;
  int64_t file_bytes_;
  Sidecar sidecar_;
  std::unordered_set<std::string> groups_;
  std::unordered_set<std::string> variables_;
};

Status Parser::parse(const Json& text) {
  if (whole(text, "version") != k_version)
    return bad("", fmt::format("sidecar of another version than {}, which is the one known here", k_version));
  const std::optional<int64_t> bytes = whole(text, "bytes");
  if (!bytes || *bytes < 0) return bad("", "\"bytes\" is not a size");
  if (*bytes > file_bytes_)
    return bad("", fmt::format("the data file is truncated: it has {} bytes of {}", file_bytes_, *bytes));
  sidecar_.bytes = *bytes;
  const Json* groups = member(text, "groups");
  const Json* variables = member(text, "variables");
  if (!groups || !groups->is_array() || !variables || !variables->is_array())
    return bad("", "\"groups\" and \"variables\" are not lists");
  Status status;
  for (size_t i = 0; i < groups->size() && status.ok(); ++i) status = take_group((*groups)[i], i);
  if (status.ok() && groups_.empty()) status = bad("", "there is no root group");
  for (size_t i = 0; i < variables->size() && status.ok(); ++i) status = take_variable((*variables)[i], i);
  return status.ok() ? check_overlaps() : status;
}

Status Parser::take_path(const Json& item, const std::string& where, std::string& path) {
  const std::string* text = string_of(item, "path");
  if (!text) return bad(where, "has no path");
  Status valid = check_object_path(*text);
  if (!valid.ok()) return bad(where, valid.message());
  if (groups_.count(*text) + variables_.count(*text) > 0) return bad(where, fmt::format("\"{}\" stands there twice", *text));
  if (*text != "/" && groups_.count(parent_of(*text)) == 0)
    return bad(where, fmt::format("the group above \"{}\" is missing", *text));
  path = *text;
  return {};
}

Status Parser::take_shape(const Json& item, const std::string& where, std::vector<int64_t>& shape) const {
  const Json* list = member(item, "shape");
  if (!list || !list->is_array() || list->size() > k_most_dimensions) return bad(where, "has no shape of 0 to 32 dimensions");
  for (const Json& extent : *list) {
    const std::optional<int64_t> value = whole(extent);
    if (!value) return bad(where, "its shape has something in it that is not a whole number below 2^63");
    shape.push_back(*value);
  }
  return element_count(shape) ? Status() : bad(where, "its shape is negative or too large");
}

Status Parser::take_byte_order(const Json& item, const std::string& where, bool& big_endian) const {
  const std::string* order = string_of(item, "byte_order");
  if (!order || (*order != "little" && *order != "big")) return bad(where, "its byte order is neither little nor big");
  big_endian = *order == "big";
  return {};
}

Status Parser::take_group(const Json& item, size_t number) {
  const std::string where = fmt::format("group {}", number);
  Group group;
  Status status = take_path(item, where, group.path);
  if (status.ok() && groups_.empty() != (group.path == "/")) status = bad(where, "the root is not the first");
  if (status.ok()) status = take_attributes(item, where, group.attributes);
  if (!status.ok()) return status;
  groups_.insert(group.path);
  sidecar_.catalog.groups.push_back(std::move(group));
  return {};
}

Status Parser::take_placement(const Json& item, const std::string& where, Variable& variable) const {
  Placement& placement = variable.placement;
  const std::optional<int64_t> offset = whole(item, "offset");
  const std::optional<int64_t> elements = element_count(variable.shape);
  const std::optional<int64_t> bytes = checked_multiply(*elements, type_size(variable.type));
  if (!bytes) return bad(where, "its shape is too large");
  if (!offset) return bad(where, "its offset is not a whole number");
  if (*bytes == 0) {
    if (*offset != -1) return bad(where, "it has no bytes, so its offset must be -1");
  } else {
    const std::optional<int64_t> end = checked_add(*offset, *bytes);
    if (*offset < 0 || !end || *end > sidecar_.bytes) return bad(where, "it lies outside the file");
  }
  placement.offset = *offset;
  placement.bytes = *bytes;
  return take_byte_order(item, where, placement.big_endian);
}

Status Parser::take_variable(const Json& item, size_t number) {
  const std::string where = fmt::format("variable {}", number);
  Variable variable;
  Status status = take_path(item, where, variable.path);
  if (!status.ok()) return status;
  variable.type = type_called(string_of(item, "type"));
  if (!is_numeric(variable.type)) return bad(where, "its type is not known");
  status = take_shape(item, where, variable.shape);
  if (status.ok()) status = take_placement(item, where, variable);
  if (status.ok()) status = take_attributes(item, where, variable.attributes);
  if (!status.ok()) return status;
  variables_.insert(variable.path);
  sidecar_.catalog.variables.push_back(std::move(variable));
  return {};
}

Status Parser::take_attributes(const Json& item, const std::string& where, std::vector<Attribute>& attributes) const {
  const Json* list = member(item, "attributes");
  if (!list || !list->is_array()) return bad(where, "has no list of attributes");
  std::unordered_set<std::string_view> names;
  for (size_t i = 0; i < list->size(); ++i) {
    const std::string place = fmt::format("{}: attribute {}", where, i);
    Status status = take_attribute((*list)[i], place, attributes.emplace_back());
    if (!status.ok()) return status;
    if (!names.insert(*string_of((*list)[i], "name")).second) return bad(place, "its name stands there twice");
  }
  return {};
}

Status Parser::take_attribute(const Json& item, const std::string& where, Attribute& attribute) const {
  const std::string* name = string_of(item, "name");
  if (!name) return bad(where, "has no name");
  attribute.name = *name;
  attribute.type = type_called(string_of(item, "type"));
  if (attribute.type == Type::none) return bad(where, "its type is not known");
  Status status = take_shape(item, where, attribute.shape);
  if (status.ok()) status = attribute.type == Type::text ? take_text_storage(item, where, attribute)
                                                         : take_byte_order(item, where, attribute.big_endian);
  if (!status.ok()) return status;
  const Json* values = member(item, "values");
  if (!values || !take_values(*values, attribute)) return bad(where, "its values are not of its type");
  status = check_attribute(path_, attribute);
  return status.ok() ? status : bad(where, status.message());
}

Status Parser::take_text_storage(const Json& item, const std::string& where, Attribute& attribute) const {
  const Json* variable_length = member(item, "variable_length");
  const std::string* character_set = string_of(item, "character_set");
  const std::optional<TextPadding> padding = padding_called(string_of(item, "padding"));
  const std::optional<int64_t> size = whole(item, "size");
  if (!variable_length || !variable_length->is_boolean() || !character_set || !padding || !size || *size < 0 ||
      (*character_set != "ascii" && *character_set != "utf8"))
    return bad(where, "it does not say how its text is stored");
  attribute.text_variable_length = variable_length->get<bool>();
  attribute.text_ascii = *character_set == "ascii";
  attribute.text_size = *size;
  attribute.text_padding = *padding;
  return {};
}

Status Parser::check_overlaps() const {
  std::vector<std::pair<int64_t, const Variable*>> placed;
  for (const Variable& variable : sidecar_.catalog.variables)
    if (variable.placement.bytes > 0) placed.emplace_back(variable.placement.offset, &variable);
  std::sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 1; i < placed.size(); ++i) {
    const Variable& before = *placed[i - 1].second;
    if (before.placement.offset + before.placement.bytes > placed[i].first)
      return bad("", fmt::format("\"{}\" and \"{}\" lie on the same bytes", before.path, placed[i].second->path));
  }
  return {};
}

Json parse_json(std::string_view text) { return Json::parse(text, nullptr, /*allow_exceptions=*/false); }

bool claims_to_be_a_sidecar(const Json& json) {
  const std::string* what = string_of(json, "windrow");
  return what && *what == "raw";
}

}  // namespace

Result<std::string> sidecar_text(const Catalog& catalog, int64_t bytes) {
  Json groups = Json::array();
  for (const Group& group : catalog.groups)
    groups.push_back(Json{{"path", group.path}, {"attributes", attributes_json(group.attributes)}});
  Json variables = Json::array();
  for (const Variable& variable : catalog.variables)
    variables.push_back(Json{{"path", variable.path},
                             {"type", type_name(variable.type)},
                             {"byte_order", variable.placement.big_endian ? "big" : "little"},
                             {"shape", variable.shape},
                             {"offset", variable.placement.offset},
                             {"attributes", attributes_json(variable.attributes)}});
  const Json all{{"windrow", "raw"}, {"version", k_version}, {"bytes", bytes}, {"groups", groups}, {"variables", variables}};
  try {
    return all.dump(1) + "\n";
  } catch (const Json::exception& error) {
    return Status(Code::bad_argument, fmt::format("a name in the file is not UTF-8: {}", error.what()));
  }
}

Result<Sidecar> parse_sidecar(std::string_view text, const std::string& path, int64_t file_bytes) {
  const Json json = parse_json(text);
  if (!claims_to_be_a_sidecar(json))
    return Status(Code::bad_file, fmt::format("\"{}\": not the sidecar of a raw file, or a damaged one", path));
  Parser parser(path, file_bytes);
  Status status = parser.parse(json);
  if (!status.ok()) return status;
  return parser.take();
}

bool is_sidecar(std::string_view text) { return claims_to_be_a_sidecar(parse_json(text)); }

}  // namespace windrow
