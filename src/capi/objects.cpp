// SPDX-License-Identifier: BSD-3-Clause
// Groups, variables and attributes.
#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/checked.hpp"
#include "capi/handles.hpp"

using windrow::Attribute;
using windrow::check_file;
using windrow::Code;
using windrow::enter;
using windrow::guard;
using windrow::keep;
using windrow::null_argument;
using windrow::Result;
using windrow::Status;
using windrow::Type;

namespace {

bool is_type(int type) { return type >= WINDROW_INT8 && type <= WINDROW_TEXT; }

Status check_shape(int ndims, const int64_t* shape) {
  if (ndims < 0 || ndims > WINDROW_MAX_DIMENSIONS)
    return {Code::bad_argument, "ndims is " + std::to_string(ndims) + "; it must be from 0 to " + std::to_string(WINDROW_MAX_DIMENSIONS)};
  return ndims > 0 && shape == nullptr ? null_argument("the shape") : Status{};
}

// "64x64x8", or "64,64,8".
Result<std::vector<int64_t>> parse_chunk(const std::string& text) {
  std::vector<int64_t> chunk;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find_first_of("x,", begin), text.size());
    int64_t extent = 0;
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, extent);
    if (error != std::errc() || stop != text.data() + end || extent < 1)
      return Status{Code::bad_argument, "chunks is \"" + text + "\"; it must be none, auto or a shape as \"64x64x64\""};
    chunk.push_back(extent);
    begin = end + 1;
  }
  return chunk;
}

// Of a variable that grows: a record's chunks as any variable's, and as many records in each as make it worth a request.
std::vector<int64_t> choose_record_chunk(const std::vector<int64_t>& shape, int64_t element) {
  constexpr int64_t k_worth = int64_t{64} << 10, k_most_records = 1024;
  std::vector<int64_t> chunk = windrow::choose_chunk(std::span(shape).subspan(1), element);
  const int64_t bytes = windrow::checked_product(chunk).value_or(1) * element;
  chunk.insert(chunk.begin(), std::clamp<int64_t>(k_worth / bytes, 1, k_most_records));
  return chunk;
}

// What only the file's options ask for is for variables that can have it.
Status fill_chunking(const windrow_file* file, const windrow_options* options, windrow::VariableDefinition& definition) {
  const auto& of_file = file->file->settings();
  const auto own = [options](const char* key) { return options != nullptr && options->settings.is_set(key); };
  const std::string chunks = (own("chunks") ? options->settings : of_file).text("chunks");
  const std::string filters = (own("filters") ? options->settings : of_file).text("filters");
  const bool filtered = !filters.empty() && filters != "none";
  definition.extendible = options != nullptr && options->settings.boolean("extendible");
  if (definition.extendible && definition.shape.empty())
    return {Code::bad_argument, "variable \"" + definition.path + "\": a scalar cannot grow"};
  if (definition.extendible && chunks == "none")
    return {Code::bad_argument, "variable \"" + definition.path + "\": what can grow needs chunks"};
  if (chunks == "none" || (chunks == "auto" && !filtered && !definition.extendible)) {
    if (!filtered || !own("filters")) return {};
    return {Code::bad_argument, "variable \"" + definition.path + "\": filters need chunks"};
  }
  if (definition.shape.empty()) {
    if (!own("filters") && !own("chunks")) return {};
    return {Code::bad_argument, "variable \"" + definition.path + "\": a scalar has no chunks and no filters"};
  }
  const int64_t element = windrow::type_size(definition.type);
  const auto choose = [&] {
    return definition.extendible ? choose_record_chunk(definition.shape, std::max<int64_t>(1, element))
                                 : windrow::choose_chunk(definition.shape, std::max<int64_t>(1, element));
  };
  auto chunk = chunks == "auto" ? Result<std::vector<int64_t>>(choose()) : parse_chunk(chunks);
  if (!chunk.ok()) return chunk.status();
  if (chunk.value().size() != definition.shape.size()) {
    if (!own("chunks")) chunk = choose();
    else return {Code::bad_argument, "variable \"" + definition.path + "\": chunks \"" + chunks + "\" has not as many dimensions as the shape"};
  }
  definition.chunking.shape = std::move(chunk).value();
  // HDF5: no larger than the array.
  for (size_t i = definition.extendible ? 1 : 0; i < definition.shape.size(); ++i)
    definition.chunking.shape[i] = std::min(definition.chunking.shape[i], std::max<int64_t>(1, definition.shape[i]));
  const auto elements = windrow::checked_product(definition.chunking.shape);
  const auto bytes = elements ? windrow::checked_multiply(*elements, std::max<int64_t>(1, element)) : std::nullopt;
  constexpr int64_t k_most_bytes = int64_t{1} << 30;  // one is moved between ranks as a whole
  if (!bytes || *bytes > k_most_bytes)
    return {Code::bad_argument, "variable \"" + definition.path + "\": a chunk is larger than 1 GiB"};
  auto parsed = windrow::parse_filters(filters, element, *bytes);
  if (!parsed.ok()) return {parsed.status().code(), "variable \"" + definition.path + "\": " + parsed.status().message()};
  definition.chunking.filters = std::move(parsed).value();
  return {};
}

Status fill_definition(const windrow_file* file, const windrow_variable_definition& from, windrow::VariableDefinition& definition) {
  if (from.path == nullptr) return null_argument("the path of the variable");
  if (Status status = check_shape(from.ndims, from.shape); !status.ok()) return status;
  definition.path = from.path;
  definition.type = is_type(from.type) ? static_cast<Type>(from.type) : Type::none;
  definition.shape.assign(from.shape, from.shape + from.ndims);
  const bool own = from.options != nullptr && from.options->settings.is_set("byte_order");
  const std::string order = (own ? from.options->settings : file->file->settings()).text("byte_order");
  const uint16_t one = 1;
  const bool native_big = *reinterpret_cast<const unsigned char*>(&one) == 0;
  definition.big_endian = order == "big" || (order == "native" && native_big);
  for (const int64_t extent : definition.shape)
    if (extent < 0) return {};  // refused later, by name
  return fill_chunking(file, from.options, definition);
}

// A local error inside a collective call: the call is made all the same, with definitions that every rank will refuse to agree to.
int define_variables(windrow_file* file, int count, const windrow_variable_definition* definitions, int* variables) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok()) return status;
    std::vector<windrow::VariableDefinition> filled;
    Status local = guard([&]() -> Status {
      if (count < 0) return {Code::bad_argument, "the number of variables is " + std::to_string(count)};
      if (count > 0 && definitions == nullptr) return null_argument("definitions");
      if (count > 0 && variables == nullptr) return null_argument("variable");
      filled.resize(static_cast<size_t>(count));
      for (size_t i = 0; i < filled.size(); ++i)
        if (Status status = fill_definition(file, definitions[i], filled[i]); !status.ok()) return status;
      return {};
    });
    auto first = file->file->define_variables(filled, std::move(local));
    if (!first.ok()) return first.status();
    for (int i = 0; i < count; ++i) variables[i] = first.value() + i;
    return {};
  });
}

Status fill_attribute(Attribute& attribute, const char* name, int type, int ndims, const int64_t* shape, const void* data) {
  if (name == nullptr) return null_argument("the name of the attribute");
  if (Status status = check_shape(ndims, shape); !status.ok()) return status;
  if (!is_type(type)) return {Code::bad_argument, "attribute \"" + std::string(name) + "\": " + std::to_string(type) + " is not a type"};
  attribute.name = name;
  attribute.type = static_cast<Type>(type);
  attribute.shape.assign(shape, shape + ndims);
  for (int64_t extent : attribute.shape)
    if (extent < 0) return {Code::bad_argument, "attribute \"" + attribute.name + "\": a dimension is negative"};
  const auto elements = windrow::checked_product(attribute.shape);
  const auto bytes = elements ? windrow::checked_multiply(*elements, std::max<int64_t>(1, windrow_type_size(type))) : std::nullopt;
  if (!bytes || *bytes > INT32_MAX) return {Code::bad_argument, "attribute \"" + attribute.name + "\" is too large"};
  if (*elements > 0 && data == nullptr) return null_argument("the data of an attribute");
  if (attribute.type == Type::text) {
    const auto* texts = static_cast<const char* const*>(data);
    for (int64_t i = 0; i < *elements; ++i) {
      if (texts[i] == nullptr) return null_argument("a string of an attribute");
      attribute.texts.emplace_back(texts[i]);
    }
  } else {
    attribute.data.resize(static_cast<size_t>(*bytes));
    if (*bytes > 0) std::memcpy(attribute.data.data(), data, attribute.data.size());
  }
  return {};
}

const std::vector<Attribute>* attributes_of(const windrow_file* file, const char* object) {
  if (file == nullptr || file->file == nullptr || object == nullptr) return nullptr;
  return file->file->attributes_of(object);
}

Result<const Attribute*> find_attribute(const std::vector<Attribute>& attributes, const char* object, const char* name) {
  const auto found = std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& a) { return a.name == name; });
  if (found == attributes.end())
    return Status{Code::not_found, "\"" + std::string(object) + "\" has no attribute \"" + name + "\""};
  if (!found->unsupported.empty()) return Status{Code::unsupported, "attribute \"" + found->name + "\": " + found->unsupported};
  return &*found;
}

template <class Info, class Shape>
void fill_shape(Info& info, const Shape& shape) {
  info.ndims = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), info.shape);
}

// The struct may be older, and then smaller, than ours: what it has no room for is left out.
template <class Info>
Status hand_out(const Info& filled, Info* info) {
  if (info == nullptr) return null_argument("info");
  if (info->size < static_cast<int64_t>(sizeof(int64_t) * 2) || info->size > static_cast<int64_t>(sizeof(Info)))
    return {Code::bad_argument, "info->size must be set to the size of the struct before the call"};
  const auto size = static_cast<size_t>(info->size);
  std::memcpy(info, &filled, size);
  info->size = static_cast<int64_t>(size);
  return {};
}

}  // namespace

extern "C" {

int windrow_define_group(windrow_file* file, const char* path) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok()) return status;
    std::string name;
    Status local = guard([&]() -> Status {
      if (path == nullptr) return null_argument("the path of the group");
      name = path;
      return {};
    });
    return file->file->define_group(name, std::move(local));
  });
}

int windrow_define_variable(windrow_file* file, const char* path, int type, int ndims, const int64_t* shape, int* variable) {
  return windrow_define_variable_with(file, path, type, ndims, shape, nullptr, variable);
}

int windrow_define_variable_with(windrow_file* file, const char* path, int type, int ndims, const int64_t* shape,
                                 const windrow_options* options, int* variable) {
  const windrow_variable_definition definition{path, type, ndims, shape, options};
  return define_variables(file, 1, &definition, variable);
}

int windrow_define_variables(windrow_file* file, int count, const windrow_variable_definition* definitions, int* variables) {
  return define_variables(file, count, definitions, variables);
}

int windrow_variable_count(const windrow_file* file) {
  return file == nullptr || file->file == nullptr ? -1 : static_cast<int>(file->file->catalog().variables.size());
}

int windrow_find_variable(const windrow_file* file, const char* path, int* variable) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok()) return status;
    if (path == nullptr || variable == nullptr) return null_argument(path == nullptr ? "the path of the variable" : "variable");
    auto found = file->file->find_variable(path);
    if (!found.ok()) return found.status();
    *variable = found.value();
    return {};
  });
}

int windrow_inquire_variable(const windrow_file* file, int variable, windrow_variable_info* info) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok()) return status;
    const auto& variables = file->file->catalog().variables;
    if (variable < 0 || variable >= static_cast<int>(variables.size()))
      return {Code::bad_argument, "there is no variable number " + std::to_string(variable)};
    const windrow::Variable& described = variables[static_cast<size_t>(variable)];
    windrow_variable_info filled{};
    filled.size = sizeof filled;
    filled.path = keep(file, described.path);
    filled.type = static_cast<int>(described.type);
    if (described.shape.size() <= WINDROW_MAX_DIMENSIONS) fill_shape(filled, described.shape);
    filled.bytes = described.placement.bytes;
    filled.offset = described.placement.offset;
    filled.big_endian = described.placement.big_endian ? 1 : 0;
    filled.unsupported = keep(file, described.unsupported);
    filled.has_fill_value = described.fill_value ? 1 : 0;
    filled.chunked = described.chunking.empty() ? 0 : 1;
    if (described.chunking.shape.size() <= WINDROW_MAX_DIMENSIONS)
      std::copy(described.chunking.shape.begin(), described.chunking.shape.end(), filled.chunk);
    filled.extendible = described.extendible ? 1 : 0;
    const auto& filters = described.chunking.filters;
    filled.filters = keep(file, windrow::text_of(filters));
    return hand_out(filled, info);
  });
}

int windrow_group_count(const windrow_file* file) {
  return file == nullptr || file->file == nullptr ? -1 : static_cast<int>(file->file->catalog().groups.size());
}

const char* windrow_group_path(const windrow_file* file, int group) {
  if (group < 0 || group >= windrow_group_count(file)) return nullptr;
  const char* path = nullptr;
  (void)enter([&] {
    path = keep(file, file->file->catalog().groups[static_cast<size_t>(group)].path);
    return Status{};
  });
  return path;
}

const char* windrow_unsupported_objects(const windrow_file* file) {
  if (file == nullptr || file->file == nullptr) return "";
  const char* text = "";
  (void)enter([&] {
    std::string lines;
    for (const std::string& line : file->file->catalog().unsupported) lines += line + '\n';
    text = keep(file, lines);
    return Status{};
  });
  return text;
}

int windrow_put_attribute(windrow_file* file, const char* object, const char* name, int type, int ndims, const int64_t* shape,
                          const void* data) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok()) return status;
    Attribute attribute;
    std::string owner;
    Status local = guard([&]() -> Status {
      if (object == nullptr) return null_argument("the object of the attribute");
      owner = object;
      return fill_attribute(attribute, name, type, ndims, shape, data);
    });
    return file->file->put_attribute(owner, std::move(attribute), std::move(local));
  });
}

int windrow_put_attribute_text(windrow_file* file, const char* object, const char* name, const char* text) {
  return windrow_put_attribute(file, object, name, WINDROW_TEXT, 0, nullptr, &text);
}

int windrow_copy_attribute(windrow_file* file, const char* object, const windrow_file* from, const char* from_object, const char* name) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok()) return status;
    Attribute attribute;
    std::string owner;
    Status local = guard([&]() -> Status {
      if (object == nullptr || name == nullptr) return null_argument("the object or name of the attribute");
      const auto* attributes = attributes_of(from, from_object);
      if (attributes == nullptr) return {Code::not_found, "no such group or variable to copy an attribute from"};
      auto found = find_attribute(*attributes, from_object, name);
      if (!found.ok()) return found.status();
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
    if (const auto* attributes = attributes_of(file, object)) count = static_cast<int>(attributes->size());
    return Status{};
  });
  return count;
}

int windrow_inquire_attribute(const windrow_file* file, const char* object, int attribute, windrow_attribute_info* info) {
  return enter([&]() -> Status {
    const auto* attributes = attributes_of(file, object);
    if (attributes == nullptr) return {Code::not_found, "no such group or variable"};
    if (attribute < 0 || attribute >= static_cast<int>(attributes->size()))
      return {Code::bad_argument, "there is no attribute number " + std::to_string(attribute)};
    const Attribute& described = (*attributes)[static_cast<size_t>(attribute)];
    windrow_attribute_info filled{};
    filled.size = sizeof filled;
    filled.name = keep(file, described.name);
    filled.type = static_cast<int>(described.type);
    if (described.shape.size() <= WINDROW_MAX_DIMENSIONS) fill_shape(filled, described.shape);
    filled.elements = windrow::checked_product(described.shape).value_or(0);
    filled.unsupported = keep(file, described.unsupported);
    return hand_out(filled, info);
  });
}

int windrow_get_attribute(const windrow_file* file, const char* object, const char* name, int type, void* data) {
  return enter([&]() -> Status {
    const auto* attributes = attributes_of(file, object);
    if (attributes == nullptr) return {Code::not_found, "no such group or variable"};
    if (name == nullptr) return null_argument("the name of the attribute");
    auto lookup = find_attribute(*attributes, object, name);
    if (!lookup.ok()) return lookup.status();
    const Attribute* found = lookup.value();
    if (static_cast<int>(found->type) != type)
      return {Code::bad_argument, "attribute \"" + found->name + "\" is " + windrow::type_name(found->type) + ", not " + windrow_type_name(type)};
    if (data == nullptr && !(found->texts.empty() && found->data.empty())) return null_argument("the data of an attribute");
    if (found->type == Type::text) {
      auto* texts = static_cast<const char**>(data);
      for (size_t i = 0; i < found->texts.size(); ++i) texts[i] = keep(file, found->texts[i]);
    } else if (!found->data.empty()) {
      std::memcpy(data, found->data.data(), found->data.size());
    }
    return {};
  });
}

}  // extern "C"
