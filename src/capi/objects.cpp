// SPDX-License-Identifier: BSD-3-Clause
// Groups and variables.
#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/checked.hpp"
#include "base/numbering.hpp"
#include "capi/elements.hpp"
#include "format/fill.hpp"

using windrow::asks_for_big_endian;
using windrow::asks_for_null_space;
using windrow::check_shape;
using windrow::details_of;
using windrow::fill_shape;
using windrow::hand_out;
using windrow::is_type;
using windrow::Type;

namespace {

// "64x64x8", or "64,64,8".
Result<std::vector<int64_t>> parse_chunk(const std::string& text) {
  std::vector<int64_t> chunk;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find_first_of("x,", begin), text.size());
    int64_t extent = 0;
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, extent);
    if (error != std::errc() || stop != text.data() + end || extent < 1)
      return Status{Code::bad_argument,
                    "chunks is \"" + text + "\"; it must be none, auto or a shape such as \"64x64x64\""};
    chunk.push_back(extent);
    begin = end + 1;
  }
  return chunk;
}

// Chunk of an extendible variable: a record is divided like any variable, and a chunk has enough records to be worth a
// request.
std::vector<int64_t> choose_record_chunk(const std::vector<int64_t>& shape, int64_t element) {
  constexpr int64_t k_worth = int64_t{64} << 10, k_most_records = 1024;
  std::vector<int64_t> chunk = windrow::choose_chunk(std::span(shape).subspan(1), element);
  const int64_t bytes = windrow::checked_product(chunk).value_or(1) * element;
  chunk.insert(chunk.begin(), std::clamp<int64_t>(k_worth / bytes, 1, k_most_records));
  return chunk;
}

// The chunks and filters that the options request: those of the variable, or else those of its file.
struct ChunkRequest {
  std::string chunks, filters;
  bool has_own_chunks = false, has_own_filters = false;  // requested by the options of the variable

  ChunkRequest(const windrow::Settings& of_file, const windrow_options* options) {
    has_own_chunks = options != nullptr && options->settings.is_set("chunks");
    has_own_filters = options != nullptr && options->settings.is_set("filters");
    chunks = (has_own_chunks ? options->settings : of_file).text("chunks");
    filters = (has_own_filters ? options->settings : of_file).text("filters");
  }

  bool is_own() const noexcept { return has_own_chunks || has_own_filters; }
  bool has_filters() const noexcept { return !filters.empty() && filters != "none"; }
};

Status refuse(const windrow::VariableDefinition& definition, const std::string& why) {
  return {Code::bad_argument, "variable \"" + definition.path + "\": " + why};
}

// Whether the variable can have chunks. false if it cannot and its options do not request them; otherwise an error.
Result<bool> can_have_chunks(const ChunkRequest& asked, const windrow::VariableDefinition& definition) {
  if (definition.shape.empty())
    return asked.is_own() ? refuse(definition, "a scalar has no chunks and no filters") : Result<bool>(false);
  if (!definition.null_space && !windrow::is_moved_whole(definition.type, definition.details))
    return true;
  if (!asked.is_own() && !definition.extendible)
    return false;
  return refuse(definition, "text of variable length, references and null spaces have no chunks and no filters");
}

// Whether the variable gets chunks. If only the file's options request chunking, it applies to the variables that
// support it. `needs_none`: variables of the file can grow without.
Result<bool> gets_chunks(const ChunkRequest& asked, const windrow::VariableDefinition& definition, bool needs_none) {
  const bool is_automatic = asked.chunks == "auto", has_none = asked.chunks == "none";
  if (definition.extendible && definition.shape.empty())
    return refuse(definition, "a scalar cannot grow");
  if (needs_none && !asked.has_filters() && (has_none || is_automatic))
    return false;
  if (definition.extendible && has_none)
    return refuse(definition, "an extendible variable needs chunks");
  if (has_none || (is_automatic && !asked.has_filters() && !definition.extendible))
    return asked.has_filters() && asked.has_own_filters ? refuse(definition, "filters need chunks")
                                                        : Result<bool>(false);
  return can_have_chunks(asked, definition);
}

// `element`: its bytes, at least one.
Result<std::vector<int64_t>> chunk_shape(const ChunkRequest& asked, const windrow::VariableDefinition& definition,
                                         int64_t element) {
  const std::vector<int64_t>& shape = definition.shape;
  const auto choose = [&] {
    return definition.extendible ? choose_record_chunk(shape, element) : windrow::choose_chunk(shape, element);
  };
  auto chunk = asked.chunks == "auto" ? Result<std::vector<int64_t>>(choose()) : parse_chunk(asked.chunks);
  if (!chunk.ok())
    return chunk.status();
  if (chunk.value().size() != shape.size()) {
    if (asked.has_own_chunks)
      return refuse(definition, "chunks \"" + asked.chunks + "\" has another number of dimensions than the shape");
    chunk = choose();
  }
  // HDF5: a chunk must not be larger than the array.
  for (size_t i = definition.extendible ? 1 : 0; i < shape.size(); ++i)
    chunk.value()[i] = std::min(chunk.value()[i], std::max<int64_t>(1, shape[i]));
  return chunk;
}

Status fill_chunking(const windrow_file* file, const windrow_options* options,
                     windrow::VariableDefinition& definition) {
  const ChunkRequest asked(file->file->settings(), options);
  definition.extendible = options != nullptr && options->settings.boolean("extendible");
  const Result<bool> chunked = gets_chunks(asked, definition, file->file->traits().grows_as_one);
  if (!chunked.ok() || !chunked.value())
    return chunked.status();
  const int64_t element = windrow::element_bytes(definition.type, definition.details);
  const int64_t least_element = std::max<int64_t>(1, element);
  auto chunk = chunk_shape(asked, definition, least_element);
  if (!chunk.ok())
    return chunk.status();
  definition.chunking.shape = std::move(chunk).value();
  const auto elements = windrow::checked_product(definition.chunking.shape);
  const auto bytes = elements ? windrow::checked_multiply(*elements, least_element) : std::nullopt;
  constexpr int64_t k_most_bytes = int64_t{1} << 30;  // a chunk is moved between ranks as a whole
  if (!bytes || *bytes > k_most_bytes)
    return refuse(definition, "a chunk is larger than 1 GiB");
  auto parsed = windrow::parse_filters(asked.filters, element, *bytes);
  if (!parsed.ok())
    return {parsed.status().code(), "variable \"" + definition.path + "\": " + parsed.status().message()};
  definition.chunking.filters = std::move(parsed).value();
  return {};
}

Status fill_fill_value(const windrow_options* options, windrow::VariableDefinition& definition) {
  if (options == nullptr || options->settings.text("fill_value").empty())
    return {};
  const std::string what = "variable \"" + definition.path + "\": ";
  if (definition.null_space || windrow::is_moved_whole(definition.type, definition.details))
    return {Code::bad_argument, what + "text of variable length and null spaces have no fill value"};
  auto fill = windrow::parse_fill(definition.type, definition.details, definition.big_endian,
                                  options->settings.text("fill_value"));
  if (!fill.ok())
    return {fill.status().code(), what + fill.status().message()};
  definition.fill = std::move(fill).value();
  return {};
}

// If a variable has its own options, those of the file are ignored.
Status fill_split(const windrow_file* file, const windrow_options* options, windrow::VariableDefinition& definition) {
  if (options != nullptr) {
    auto asked = file->file->subfiles_of_variable(options->settings);
    if (!asked.ok())
      return {asked.status().code(), "variable \"" + definition.path + "\": " + asked.status().message()};
    definition.subfiles = asked.value();
  }
  definition.split_asked =
      options != nullptr && (options->settings.is_set("split") || options->settings.is_set("split_parts"));
  const windrow::Settings& asked = definition.split_asked ? options->settings : file->file->settings();
  definition.split.axes = asked.text("split");
  definition.split.parts = asked.text("split_parts");
  if (definition.split.parts.empty())
    definition.split.parts = "auto";
  if (definition.split.axes.empty())
    definition.split.axes = "auto";
  if (definition.split_asked && definition.split.axes == "auto" && definition.split.parts == "auto")
    definition.split_asked = false;
  return {};
}

Status fill_definition(const windrow_file* file, const windrow_variable_definition& from,
                       windrow::VariableDefinition& definition) {
  if (from.path == nullptr)
    return null_argument("the path of the variable");
  if (Status status = check_shape(from.ndims, from.shape); !status.ok())
    return status;
  definition.path = from.path;
  const windrow_options* const options =
      from.options != nullptr && !from.options->settings.values().empty() ? from.options : nullptr;
  if (!is_type(from.type))
    return {Code::bad_argument, "variable \"" + definition.path + "\": there is no type " + std::to_string(from.type) +
                                    " in enum windrow_type"};
  definition.type = static_cast<Type>(from.type);
  definition.shape.assign(from.shape, from.shape + from.ndims);
  definition.details = details_of(options);
  definition.null_space = asks_for_null_space(options);
  const bool has_order = definition.type != Type::text && definition.type != Type::opaque;
  definition.big_endian = has_order && (asks_for_big_endian(file, options) || file->file->traits().big_endian);
  if (Status status = fill_fill_value(options, definition); !status.ok())
    return status;
  if (Status status = fill_split(file, options, definition); !status.ok())
    return status;
  for (const int64_t extent : definition.shape)
    if (extent < 0)
      return {};  // refused later, with its name
  return fill_chunking(file, options, definition);
}

void describe_elements(const windrow_file* file, const windrow::Variable& described, windrow_variable_info& filled) {
  filled.type = static_cast<int>(described.type);
  filled.big_endian = described.placement.big_endian ? 1 : 0;
  filled.unsupported = keep(file, described.unsupported);
  filled.element_bytes = windrow::element_bytes(described.type, described.details);
  filled.is_null = described.null_space ? 1 : 0;
  const bool is_text = described.type == Type::text;
  filled.text_characters = !is_text ? "" : described.details.text_ascii ? "ascii" : "utf8";
  filled.text_padding = is_text ? windrow::padding_name(described.details.text_padding) : "";
  filled.opaque_tag = keep(file, described.details.tag);
  filled.enumeration = keep(file, described.details.enumeration);
  filled.has_fill_value = described.fill.empty() ? 0 : 1;
  filled.fill_value =
      keep(file, windrow::fill_text(described.type, described.details, described.placement.big_endian, described.fill));
}

void describe_storage(const windrow_file* file, const windrow::Variable& described, windrow_variable_info& filled) {
  if (described.shape.size() <= WINDROW_MAX_DIMENSIONS)
    fill_shape(filled, described.shape);
  filled.bytes = described.placement.bytes;
  filled.offset = described.placement.offset;
  filled.chunked = described.is_chunked() ? 1 : 0;
  const std::vector<int64_t>& chunk = described.chunking.shape;
  if (chunk.size() <= WINDROW_MAX_DIMENSIONS)
    std::copy(chunk.begin(), chunk.end(), filled.chunk);
  filled.extendible = described.extendible ? 1 : 0;
  filled.filters = keep(file, windrow::text_of(described.chunking.filters));
}

// With a local error the collective call is still made, with definitions that all ranks refuse in the agreement.
int define_variables(windrow_file* file, int count, const windrow_variable_definition* definitions, int* variables) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    std::vector<windrow::VariableDefinition> filled;
    Status local = guard([&]() -> Status {
      if (count < 0)
        return {Code::bad_argument, "the number of variables is " + std::to_string(count)};
      if (count > 0 && definitions == nullptr)
        return null_argument("definitions");
      if (count > 0 && variables == nullptr)
        return null_argument("variable");
      filled.resize(static_cast<size_t>(count));
      for (size_t i = 0; i < filled.size(); ++i)
        if (Status status = fill_definition(file, definitions[i], filled[i]); !status.ok())
          return status;
      return {};
    });
    auto first = file->file->define_variables(filled, std::move(local));
    if (!first.ok())
      return first.status();
    for (int i = 0; i < count; ++i)
      variables[i] = first.value() + i;
    return {};
  });
}

}  // namespace

extern "C" {

int windrow_define_group(windrow_file* file, const char* path) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    std::string name;
    Status local = windrow::copy_text(path, "the path of the group", name);
    return file->file->define_group(name, std::move(local));
  });
}

int windrow_define_variable(windrow_file* file, const char* path, int type, int ndims, const int64_t* shape,
                            int* variable) {
  return windrow_define_variable_with(file, path, type, ndims, shape, nullptr, variable);
}

int windrow_define_variable_with(windrow_file* file, const char* path, int type, int ndims, const int64_t* shape,
                                 const windrow_options* options, int* variable) {
  const windrow_variable_definition definition{path, type, ndims, shape, options};
  return define_variables(file, 1, &definition, variable);
}

int windrow_define_variables(windrow_file* file, int count, const windrow_variable_definition* definitions,
                             int* variables) {
  return define_variables(file, count, definitions, variables);
}

int windrow_variable_count(const windrow_file* file) {
  return file == nullptr || file->file == nullptr ? -1 : static_cast<int>(file->file->catalog().variables.size());
}

int windrow_find_variable(const windrow_file* file, const char* path, int* variable) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    if (path == nullptr || variable == nullptr)
      return null_argument(path == nullptr ? "the path of the variable" : "variable");
    auto found = file->file->find_variable(path);
    if (!found.ok())
      return found.status();
    *variable = found.value();
    return {};
  });
}

int windrow_inquire_variable(const windrow_file* file, int variable, windrow_variable_info* info) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    const auto& variables = file->file->catalog().variables;
    if (variable < 0 || variable >= static_cast<int>(variables.size()))
      return {Code::bad_argument, "there is no variable number " + std::to_string(windrow::shown_index(variable))};
    const windrow::Variable& described = variables[static_cast<size_t>(variable)];
    windrow_variable_info filled{};
    filled.size = sizeof filled;
    filled.path = keep(file, described.path);
    describe_elements(file, described, filled);
    describe_storage(file, described, filled);
    filled.elements = file->file->element_count_of(variable);
    const auto* split = windrow::find_split(file->file->subfiles(), variable);
    filled.split = split != nullptr ? keep(file, windrow::text_of(split->split)) : "";
    std::fill(std::begin(filled.dimension_names), std::end(filled.dimension_names), "");
    const auto names = file->file->dimension_names(described);
    for (size_t i = 0; i < std::min(names.size(), std::size(filled.dimension_names)); ++i)
      filled.dimension_names[i] = keep(file, names[i]);
    return hand_out(filled, info);
  });
}

int windrow_subfile_count(const windrow_file* file) {
  if (file == nullptr || file->file == nullptr)
    return -1;
  return file->file->subfiles() == nullptr ? 0 : static_cast<int>(file->file->subfiles()->used());
}

const char* windrow_subfile_name(const windrow_file* file, int subfile) {
  if (subfile < 0 || subfile >= windrow_subfile_count(file))
    return nullptr;
  const char* name = nullptr;
  (void)enter([&] {
    name = keep(file, file->file->subfiles()->relative_name(subfile));
    return Status{};
  });
  return name;
}

const char* windrow_interrupted(const windrow_file* file) {
  if (file == nullptr || file->file == nullptr)
    return nullptr;
  const char* lines = nullptr;
  (void)enter([&] {
    lines = keep(file, file->file->interrupted());
    return Status{};
  });
  return lines;
}

int windrow_check_subfiles(windrow_file* file, const char** problems) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    auto found = file->file->check_subfiles();
    if (!found.ok())
      return found.status();
    if (problems == nullptr)
      return null_argument("problems");
    *problems = keep(file, found.value());
    return {};
  });
}

int windrow_inquire_written(windrow_file* file, int variable, int64_t* boxes, const int64_t** starts,
                            const int64_t** counts) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    const bool is_complete = boxes != nullptr && starts != nullptr && counts != nullptr;
    auto found = file->file->written_boxes(variable, is_complete ? Status() : null_argument("boxes, starts or counts"));
    if (!found.ok())
      return found.status();
    file->written.clear();
    for (int64_t box = 0; box < found.value().size(); ++box)
      std::ranges::copy(found.value().start(box), std::back_inserter(file->written));
    const size_t end_of_starts = file->written.size();
    for (int64_t box = 0; box < found.value().size(); ++box)
      std::ranges::copy(found.value().count(box), std::back_inserter(file->written));
    *boxes = found.value().size();
    *starts = file->written.data();
    *counts = file->written.data() + end_of_starts;
    return {};
  });
}

int windrow_write_references(windrow_file* file, const char* path, const char* prefix, const char** left_out) {
  return enter([&]() -> Status {
    if (Status status = check_file(file); !status.ok())
      return status;
    std::string text, before;
    Status local = guard([&] {
      text = path == nullptr ? "" : path;
      before = prefix == nullptr ? "" : prefix;
      return Status{};
    });
    auto lines = file->file->write_references(text, before, std::move(local));
    if (!lines.ok())
      return lines.status();
    if (left_out != nullptr)
      *left_out = keep(file, lines.value());
    return {};
  });
}

int windrow_group_count(const windrow_file* file) {
  return file == nullptr || file->file == nullptr ? -1 : static_cast<int>(file->file->catalog().groups.size());
}

const char* windrow_group_path(const windrow_file* file, int group) {
  if (group < 0 || group >= windrow_group_count(file))
    return nullptr;
  const char* path = nullptr;
  (void)enter([&] {
    path = keep(file, file->file->catalog().groups[static_cast<size_t>(group)].path);
    return Status{};
  });
  return path;
}

const char* windrow_unsupported_objects(const windrow_file* file) {
  if (file == nullptr || file->file == nullptr)
    return "";
  const char* text = "";
  (void)enter([&] {
    std::string lines;
    for (const std::string& line : file->file->catalog().unsupported)
      lines += line + '\n';
    text = keep(file, lines);
    return Status{};
  });
  return text;
}

}  // extern "C"
