// SPDX-License-Identifier: BSD-3-Clause
#include "format/raw/sidecar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/checked.hpp"
#include "base/nesting.hpp"
#include "base/units.hpp"
#include "format/check.hpp"
#include "format/fill.hpp"
#include "format/raw/values.hpp"

namespace windrow {
namespace {

constexpr const char* k_replacement = "replacement";

// Reads a parsed sidecar. Each function returns a status that names the place.
class Parser {
 public:
  Parser(const std::string& path, int64_t file_bytes) noexcept : path_(path), file_bytes_(file_bytes) {}

  Status parse(const Json& text);
  RawSidecar take() { return std::move(sidecar_); }

 private:
  Status bad(std::string_view where, std::string_view why) const {
    return {Code::bad_file, fmt::format("\"{}\": {}{}{}", path_, where, where.empty() ? "" : ": ", why)};
  }
  Status take_size(const Json& text);
  Status take_objects(const Json& text);
  Status take_path(const Json& item, const std::string& where, const std::unordered_set<std::string>& taken,
                   std::string& path);
  Status take_shape(const Json& item, const std::string& where, std::vector<int64_t>& shape) const;
  Status take_byte_order(const Json& item, const std::string& where, bool& big_endian) const;
  Status take_group(const Json& item, size_t number);
  Status take_variable(const Json& item, size_t number);
  Status take_links(const Json& text);
  Status take_dimensions(const Json& text);
  Status take_dimension_names(const Json& item, const std::string& where, Variable& variable) const;
  Status check_dimensions() const;
  Status take_placement(const Json& item, const std::string& where, Variable& variable) const;
  Status take_attributes(const Json& item, const std::string& where, std::vector<Attribute>& attributes) const;
  Status take_attribute(const Json& item, const std::string& where, Attribute& attribute) const;
  Status take_text_storage(const Json& item, const std::string& where, Attribute& attribute) const;
  Status take_details(const Json& item, const std::string& where, Type type, Details& details) const;
  Status take_variable_details(const Json& item, const std::string& where, Variable& variable) const;
  Status take_null_space(const Json& item, const std::string& where, const std::vector<int64_t>& shape,
                         bool& null_space) const;
  Status take_fill(const Json& item, const std::string& where, Variable& variable) const;
  Status take_texts(const Json& item, const std::string& where, const Variable& variable);
  Status take_parts(const Json& item, const std::string& where, Variable& variable);
  Status check_overlaps() const;

  const std::string& path_;
  int64_t file_bytes_;
  RawSidecar sidecar_;
  std::unordered_set<std::string> groups_;
  std::unordered_set<std::string> others_,
      dimensions_;  // paths of variables and links; of dimensions, which variables may share
};

Status Parser::parse(const Json& text) {
  Status status = take_size(text);
  if (status.ok())
    status = take_objects(text);
  if (status.ok())
    status = take_links(text);
  if (status.ok())
    status = take_dimensions(text);
  if (status.ok())
    status = check_dimensions();
  return status.ok() ? check_overlaps() : status;
}

Status Parser::take_size(const Json& text) {
  if (whole(text, "version") != k_sidecar_version)
    return bad("", fmt::format("a sidecar of another version than {}, the only supported one", k_sidecar_version));
  const std::optional<int64_t> bytes = whole(text, "bytes");
  if (!bytes || *bytes < 0)
    return bad("", "\"bytes\" is not a size");
  if (*bytes > file_bytes_)
    return bad("", fmt::format("the data file is truncated: it has {} of {}", counted(file_bytes_, "byte"), *bytes));
  sidecar_.bytes = *bytes;
  return {};
}

Status Parser::take_objects(const Json& text) {
  const Json* groups = member(text, "groups");
  const Json* variables = member(text, "variables");
  if (!groups || !groups->is_array() || !variables || !variables->is_array())
    return bad("", "\"groups\" and \"variables\" are not lists");
  Status status;
  for (size_t i = 0; i < groups->size() && status.ok(); ++i)
    status = take_group((*groups)[i], i);
  if (status.ok() && groups_.empty())
    status = bad("", "there is no root group");
  for (size_t i = 0; i < variables->size() && status.ok(); ++i)
    status = take_variable((*variables)[i], i);
  return status;
}

Status Parser::take_path(const Json& item, const std::string& where, const std::unordered_set<std::string>& taken,
                         std::string& path) {
  const std::string* text = string_of(item, "path");
  if (!text)
    return bad(where, "has no path");
  Status valid = check_object_path(*text);
  if (!valid.ok())
    return bad(where, valid.message());
  if (groups_.count(*text) + taken.count(*text) > 0)
    return bad(where, fmt::format("\"{}\" is repeated", *text));
  if (*text != "/" && groups_.count(parent_of(*text)) == 0)
    return bad(where, fmt::format("the group above \"{}\" is missing", *text));
  path = *text;
  return {};
}

Status Parser::take_shape(const Json& item, const std::string& where, std::vector<int64_t>& shape) const {
  const Json* list = member(item, "shape");
  if (!list || !list->is_array() || list->size() > k_most_dimensions)
    return bad(where, "has no shape with 0 to 32 dimensions");
  for (const Json& extent : *list) {
    const std::optional<int64_t> value = whole(extent);
    if (!value)
      return bad(where, "its shape contains something other than whole numbers below 2^63");
    shape.push_back(*value);
  }
  return element_count(shape) ? Status() : bad(where, "its shape is negative or too large");
}

Status Parser::take_byte_order(const Json& item, const std::string& where, bool& big_endian) const {
  const std::string* order = string_of(item, "byte_order");
  if (!order || (*order != "little" && *order != "big"))
    return bad(where, "its byte order is neither little nor big");
  big_endian = *order == "big";
  return {};
}

Status Parser::take_group(const Json& item, size_t number) {
  const std::string where = fmt::format("group {}", number);
  Group group;
  Status status = take_path(item, where, others_, group.path);
  if (status.ok() && groups_.empty() != (group.path == "/"))
    status = bad(where, "the root is not the first");
  if (status.ok())
    status = take_attributes(item, where, group.attributes);
  if (!status.ok())
    return status;
  groups_.insert(group.path);
  sidecar_.catalog.groups.push_back(std::move(group));
  return {};
}

Status Parser::take_placement(const Json& item, const std::string& where, Variable& variable) const {
  Placement& placement = variable.placement;
  const std::optional<int64_t> offset = whole(item, "offset");
  const std::optional<int64_t> elements = element_count(variable.shape);
  const int64_t element = variable.null_space ? 0 : element_bytes(variable.type, variable.details);
  const std::optional<int64_t> bytes = checked_multiply(*elements, element);
  if (!bytes)
    return bad(where, "its shape is too large");
  if (!offset)
    return bad(where, "its offset is not a whole number");
  if (*bytes == 0 || member(item, "parts")) {
    if (*offset != -1)
      return bad(where, "it has no data in this file, so its offset must be -1");
  } else {
    const std::optional<int64_t> end = checked_add(*offset, *bytes);
    if (*offset < 0 || !end || *end > sidecar_.bytes)
      return bad(where, "it lies outside the file");
  }
  placement.offset = *offset;
  placement.bytes = *bytes;
  return take_byte_order(item, where, placement.big_endian);
}

Status Parser::take_variable(const Json& item, size_t number) {
  const std::string where = fmt::format("variable {}", number);
  Variable variable;
  Status status = take_path(item, where, others_, variable.path);
  if (!status.ok())
    return status;
  variable.type = type_called(string_of(item, "type"));
  if (variable.type == Type::none || variable.type == Type::reference)
    return bad(where, "its type is not known");
  status = take_shape(item, where, variable.shape);
  if (status.ok())
    status = take_null_space(item, where, variable.shape, variable.null_space);
  if (status.ok())
    status = take_variable_details(item, where, variable);
  if (status.ok())
    status = take_placement(item, where, variable);
  if (status.ok())
    status = take_fill(item, where, variable);
  if (status.ok())
    status = take_texts(item, where, variable);
  if (status.ok())
    status = take_parts(item, where, variable);
  if (status.ok())
    status = take_dimension_names(item, where, variable);
  if (status.ok())
    status = take_attributes(item, where, variable.attributes);
  if (!status.ok())
    return status;
  others_.insert(variable.path);
  sidecar_.catalog.variables.push_back(std::move(variable));
  return {};
}

Status Parser::take_links(const Json& text) {
  const Json* list = member(text, "links");
  if (!list)
    return {};
  if (!list->is_array())
    return bad("", "\"links\" is not a list");
  for (size_t i = 0; i < list->size(); ++i) {
    const std::string where = fmt::format("link {}", i);
    SoftLink link;
    Status status = take_path((*list)[i], where, others_, link.path);
    if (!status.ok())
      return status;
    const std::string* target = string_of((*list)[i], "target");
    if (!target)
      return bad(where, "has no target");
    link.target = *target;
    if (Status valid = check_link(link); !valid.ok())
      return bad(where, valid.message());
    others_.insert(link.path);
    sidecar_.catalog.links.push_back(std::move(link));
  }
  return {};
}

Status Parser::take_dimensions(const Json& text) {
  const Json* list = member(text, "dimensions");
  if (!list)
    return {};
  if (!list->is_array())
    return bad("", "\"dimensions\" is not a list");
  for (size_t i = 0; i < list->size(); ++i) {
    const std::string where = fmt::format("dimension {}", i);
    Dimension dimension;
    Status status = take_path((*list)[i], where, dimensions_, dimension.path);
    if (!status.ok())
      return status;
    const std::optional<int64_t> length = whole((*list)[i], "length");
    if (!length || *length < 0)
      return bad(where, "its length is not a size");
    dimension.length = *length;
    dimensions_.insert(dimension.path);
    sidecar_.catalog.dimensions.push_back(std::move(dimension));
  }
  return {};
}

Status Parser::take_dimension_names(const Json& item, const std::string& where, Variable& variable) const {
  const Json* list = member(item, "dimensions");
  if (!list)
    return {};
  if (!list->is_array() || list->size() != variable.shape.size())
    return bad(where, "its number of dimension names is not its number of dimensions");
  for (const Json& each : *list) {
    const std::string* path = each.get_ptr<const std::string*>();
    if (!path)
      return bad(where, "the name of a dimension is not text");
    variable.dimensions.push_back(*path);
  }
  return {};
}

// A dimension is named by a dimension, or by a variable of the same length of which it is the first dimension.
Status Parser::check_dimensions() const {
  std::unordered_map<std::string_view, int64_t> lengths;
  for (const Dimension& dimension : sidecar_.catalog.dimensions)
    lengths.emplace(dimension.path, dimension.length);
  for (const Variable& variable : sidecar_.catalog.variables)
    if (!variable.dimensions.empty() && variable.dimensions.front() == variable.path)
      lengths.emplace(variable.path, variable.shape.front());
  for (const Variable& variable : sidecar_.catalog.variables)
    for (size_t i = 0; i < variable.dimensions.size(); ++i) {
      if (variable.dimensions[i].empty())
        continue;
      const auto found = lengths.find(variable.dimensions[i]);
      if (found == lengths.end() || found->second != variable.shape[i])
        return bad("", fmt::format("dimension {} of \"{}\" has the name \"{}\", which is not a dimension of its length",
                                   i, variable.path, variable.dimensions[i]));
    }
  return {};
}

Status Parser::take_attributes(const Json& item, const std::string& where, std::vector<Attribute>& attributes) const {
  const Json* list = member(item, "attributes");
  if (!list || !list->is_array())
    return bad(where, "has no list of attributes");
  std::unordered_set<std::string_view> names;
  for (size_t i = 0; i < list->size(); ++i) {
    const std::string place = fmt::format("{}: attribute {}", where, i);
    Status status = take_attribute((*list)[i], place, attributes.emplace_back());
    if (!status.ok())
      return status;
    if (!names.insert(*string_of((*list)[i], "name")).second)
      return bad(place, "its name is repeated");
  }
  return {};
}

Status Parser::take_attribute(const Json& item, const std::string& where, Attribute& attribute) const {
  const std::string* name = string_of(item, "name");
  if (!name)
    return bad(where, "has no name");
  attribute.name = *name;
  attribute.type = type_called(string_of(item, "type"));
  if (attribute.type == Type::none)
    return bad(where, "its type is not known");
  Status status = take_shape(item, where, attribute.shape);
  if (status.ok())
    status = attribute.type == Type::text ? take_text_storage(item, where, attribute)
                                          : take_byte_order(item, where, attribute.big_endian);
  Details details;
  if (status.ok())
    status = take_details(item, where, attribute.type, details);
  if (status.ok())
    status = take_null_space(item, where, attribute.shape, attribute.null_space);
  if (!status.ok())
    return status;
  attribute.opaque_bytes = details.bytes;
  attribute.tag = std::move(details.tag);
  attribute.enumeration = std::move(details.enumeration);
  const Json* values = member(item, "values");
  if (!values || !take_values(*values, attribute))
    return bad(where, "its values are not of its type");
  status = check_attribute(path_, attribute);
  return status.ok() ? status : bad(where, status.message());
}

// check_definition() or check_attribute() decides later whether they are valid.
Status Parser::take_details(const Json& item, const std::string& where, Type type, Details& details) const {
  if (type == Type::opaque) {
    const std::optional<int64_t> bytes = whole(item, "element_bytes");
    const Json* tag = member(item, "tag");
    if (!bytes || !tag || !take_text(*tag, details.tag))
      return bad(where, "its opaque elements have no description");
    details.bytes = *bytes;
  }
  const Json* names = member(item, "enumeration");
  if (!names)
    return {};
  if (!names->is_object() || names->empty())
    return bad(where, "its enumeration is not names and values");
  for (const auto& [name, value] : names->items()) {
    if (!value.is_number_integer())
      return bad(where, "its enumeration is not names and values");
    const bool is_large = value.is_number_unsigned();
    details.enumeration += (details.enumeration.empty() ? "" : "\n") + name + '=' +
                           (is_large ? std::to_string(value.get<uint64_t>()) : std::to_string(value.get<int64_t>()));
  }
  return {};
}

Status Parser::take_variable_details(const Json& item, const std::string& where, Variable& variable) const {
  if (variable.type == Type::text) {
    const std::optional<int64_t> bytes = whole(item, "element_bytes");
    const std::string* character_set = string_of(item, "character_set");
    const std::string* padding_text = string_of(item, "padding");
    const std::optional<TextPadding> padding = padding_text ? padding_called(*padding_text) : std::nullopt;
    if (!bytes || !character_set || !padding || (*character_set != "ascii" && *character_set != "utf8"))
      return bad(where, "its text has no description");
    variable.details.bytes = *bytes;
    variable.details.text_ascii = *character_set == "ascii";
    variable.details.text_padding = *padding;
  }
  Status status = take_details(item, where, variable.type, variable.details);
  if (status.ok())
    status = check_details([&] { return where; }, variable.type, variable.details);
  return status.ok() ? status : bad("", status.message());
}

Status Parser::take_null_space(const Json& item, const std::string& where, const std::vector<int64_t>& shape,
                               bool& null_space) const {
  const Json* value = member(item, "null_space");
  if (value && !value->is_boolean())
    return bad(where, "\"null_space\" is neither true nor false");
  null_space = value && value->get<bool>();
  return null_space && !shape.empty() ? bad(where, "a null space has no dimensions") : Status();
}

Status Parser::take_fill(const Json& item, const std::string& where, Variable& variable) const {
  if (!member(item, "fill_value"))
    return {};
  const std::string* text = string_of(item, "fill_value");
  if (!text)
    return bad(where, "its fill value is not text");
  auto fill = parse_fill(variable.type, variable.details, variable.placement.big_endian, *text);
  if (!fill.ok())
    return bad(where, fill.status().message());
  variable.fill = std::move(fill).value();
  return {};
}

Status Parser::take_texts(const Json& item, const std::string& where, const Variable& variable) {
  const Json* list = member(item, "texts");
  if (!list)
    return {};
  const int64_t elements = variable.null_space ? 0 : *element_count(variable.shape);
  if (!is_moved_whole(variable.type, variable.details) || !list->is_array() ||
      std::cmp_not_equal(list->size(), elements))
    return bad(where, "its texts do not fill its shape");
  std::vector<std::string>& texts = sidecar_.texts[variable.path];
  for (const Json& value : *list)
    if (!take_text(value, texts.emplace_back()))
      return bad(where, "one of its texts is not text");
  return {};
}

// The file names are for other readers; the files are not opened here.
Status Parser::take_parts(const Json& item, const std::string& where, Variable& variable) {
  const Json* list = member(item, "parts");
  if (!list)
    return {};
  if (!list->is_array())
    return bad(where, "\"parts\" is not a list");
  const auto take_numbers = [&](const Json& part, const char* key, std::vector<int64_t>& numbers) {
    const Json* values = member(part, key);
    if (!values || !values->is_array() || values->size() != variable.shape.size())
      return false;
    for (const Json& value : *values)
      numbers.push_back(whole(value).value_or(-1));
    return std::all_of(numbers.begin(), numbers.end(), [](int64_t each) { return each >= 0; });
  };
  std::vector<Part>& parts = sidecar_.parts[variable.path];
  for (const Json& each : *list) {
    Part& part = parts.emplace_back();
    const std::string* file = string_of(each, "file");
    if (!file || !take_numbers(each, "start", part.box.start) || !take_numbers(each, "count", part.box.count))
      return bad(where, "one of its parts is not a file and a box");
    part.file = *file;
  }
  variable.unsupported = "its elements are in subfiles, but the map of the subfiles is missing";
  return {};
}

Status Parser::take_text_storage(const Json& item, const std::string& where, Attribute& attribute) const {
  const Json* variable_length = member(item, "variable_length");
  const std::string* character_set = string_of(item, "character_set");
  const std::string* padding_text = string_of(item, "padding");
  const std::optional<TextPadding> padding = padding_text ? padding_called(*padding_text) : std::nullopt;
  const std::optional<int64_t> size = whole(item, "size");
  if (!variable_length || !variable_length->is_boolean() || !character_set || !padding || !size || *size < 0 ||
      (*character_set != "ascii" && *character_set != "utf8"))
    return bad(where, "its text has no description");
  attribute.text_variable_length = variable_length->get<bool>();
  attribute.text_ascii = *character_set == "ascii";
  attribute.text_size = *size;
  attribute.text_padding = *padding;
  return {};
}

Status Parser::check_overlaps() const {
  std::vector<std::pair<int64_t, const Variable*>> placed;
  for (const Variable& variable : sidecar_.catalog.variables)
    if (variable.placement.bytes > 0 && variable.placement.offset >= 0)
      placed.emplace_back(variable.placement.offset, &variable);
  std::sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 1; i < placed.size(); ++i) {
    const Variable& before = *placed[i - 1].second;
    if (before.placement.offset + before.placement.bytes > placed[i].first)
      return bad("", fmt::format("\"{}\" and \"{}\" overlap", before.path, placed[i].second->path));
  }
  return {};
}

// Builds a value from the events of nlohmann's parser. Its own builder searches all members of an object for each new
// one, which takes hours for an object with a million members. This one appends. Of members of one name the first
// counts.
class JsonBuilder final : public nlohmann::json_sax<Json> {
 public:
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(std::move(value)); }
  bool start_object(std::size_t) override { return open(Json::value_t::object); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::value_t::array); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  template <class Value>
  Json& append(Value&& value) {
    if (open_.empty())
      return root_ = Json(std::forward<Value>(value));
    if (open_.back()->is_array())
      return open_.back()->get_ref<Json::array_t&>().emplace_back(std::forward<Value>(value));
    return open_.back()->get_ref<Json::object_t&>().emplace_back(std::move(key_), std::forward<Value>(value)).second;
  }
  template <class Value>
  bool add(Value&& value) {
    append(std::forward<Value>(value));
    return true;
  }
  bool open(Json::value_t kind) {
    open_.push_back(&append(kind));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Json root_;
  std::vector<Json*> open_;  // objects and lists, the outermost first
  std::string key_;          // of the next member
};

Json parse_json(std::string_view text) {
  JsonBuilder builder;
  return is_nested_too_deep(text) || !Json::sax_parse(text, &builder) ? Json(Json::value_t::discarded) : builder.take();
}

bool claims_to_be_a_sidecar(const Json& json) {
  const std::string* what = string_of(json, "windrow");
  return what && *what == "raw";
}

// Extracts from an interim sidecar the description of the data file with this number; false: it describes two other
// files.
bool take_description(Json& json, uint64_t file_number) {
  const Json* replacement = member(json, k_replacement);
  if (!replacement)
    return true;
  const auto is_this = [&](const char* which) {
    const Json* number = member(*replacement, which);
    return number && number->is_number_unsigned() && number->get<uint64_t>() == file_number;
  };
  const Json* sidecar = member(*replacement, "sidecar");
  if (is_this("replacing") && sidecar) {
    Json inner = *sidecar;
    json = std::move(inner);
    return !json.contains(k_replacement);
  }
  const bool is_replaced = is_this("replaced");
  json.erase(k_replacement);
  return is_replaced;
}

}  // namespace

Result<RawSidecar> parse_sidecar(std::string_view text, const std::string& path, int64_t file_bytes,
                                 uint64_t file_number) {
  Json json = parse_json(text);
  if (!claims_to_be_a_sidecar(json))
    return Status(Code::bad_file, fmt::format("\"{}\": not the sidecar of a raw file, or a damaged one", path));
  const bool is_interim = json.contains(k_replacement);
  if (!take_description(json, file_number))
    return Status(
        Code::bad_file,
        fmt::format("\"{}\": a program ended while it replaced the data file, and the present file is neither "
                    "the old nor the new one. Restore one of the two, or remove both files",
                    path));
  Parser parser(path, file_bytes);
  Status status = parser.parse(json);
  if (!status.ok())
    return status;
  RawSidecar sidecar = parser.take();
  sidecar.is_interim = is_interim;
  return sidecar;
}

std::string interim_sidecar_text(const NumberedSidecar& replaced, const NumberedSidecar& replacing) {
  Json before = parse_json(replaced.text), after = parse_json(replacing.text);
  if (!claims_to_be_a_sidecar(before) || !claims_to_be_a_sidecar(after))
    return "";
  if (!take_description(before, replaced.file_number))
    return "";
  before[k_replacement] =
      Json{{"replaced", replaced.file_number}, {"replacing", replacing.file_number}, {"sidecar", std::move(after)}};
  return before.dump(1) + "\n";
}

bool is_sidecar(std::string_view text) {
  return claims_to_be_a_sidecar(parse_json(text));
}

}  // namespace windrow
