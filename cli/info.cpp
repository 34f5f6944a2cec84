// SPDX-License-Identifier: BSD-3-Clause
// windrow info: lists the contents of a file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "copy/contents.hpp"

namespace cli {

using copying::attribute_of;
using copying::Contents;
using copying::contents_of;

namespace {

using nlohmann::json;

constexpr size_t k_shown_elements = 8;  // of an attribute in the text
constexpr size_t k_shown_characters = 72;

template <class T>
json numbers_as_json(const windrow::File& file, const std::string& object, const std::string& name) {
  return json(file.attribute<T>(object, name));
}

template <class T>
json complex_as_json(const windrow::File& file, const std::string& object, const std::string& name) {
  json list = json::array();
  for (const std::complex<T>& each : file.attribute<std::complex<T>>(object, name))
    list.push_back({each.real(), each.imag()});
  return list;
}

// C++20 has no 16-bit floating-point type.
json halves_as_json(const windrow::File& file, const std::string& object, const windrow_attribute_info& info) {
  std::vector<uint16_t> halves(static_cast<size_t>(info.elements));
  windrow::check(windrow_get_attribute(file.get(), object.c_str(), info.name, WINDROW_FLOAT16, halves.data()));
  json list = json::array();
  for (const uint16_t half : halves) {
    const int exponent = half >> 10U & 0x1fU, fraction = half & 0x3ffU;
    double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 0x1f)
      value = fraction == 0 ? HUGE_VAL : NAN;
    list.push_back((half & 0x8000U) != 0 ? -value : value);
  }
  return list;
}

// Bytes as hexadecimal digits.
json opaque_as_json(const windrow::File& file, const std::string& object, const windrow_attribute_info& info) {
  const auto size = static_cast<size_t>(info.element_bytes);
  std::vector<unsigned char> bytes(size * static_cast<size_t>(info.elements));
  windrow::check(windrow_get_attribute(file.get(), object.c_str(), info.name, WINDROW_OPAQUE, bytes.data()));
  json list = json::array();
  for (size_t at = 0; at < bytes.size(); at += size)
    list.push_back(fmt::format("{:02x}", fmt::join(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                                                   bytes.begin() + static_cast<std::ptrdiff_t>(at + size), "")));
  return list;
}

// All elements of an integer or floating-point type; null: another type.
json number_values(const windrow::File& file, const std::string& object, const windrow_attribute_info& info) {
  switch (info.type) {
    case WINDROW_INT8:
      return numbers_as_json<int8_t>(file, object, info.name);
    case WINDROW_UINT8:
      return numbers_as_json<uint8_t>(file, object, info.name);
    case WINDROW_INT16:
      return numbers_as_json<int16_t>(file, object, info.name);
    case WINDROW_UINT16:
      return numbers_as_json<uint16_t>(file, object, info.name);
    case WINDROW_INT32:
      return numbers_as_json<int32_t>(file, object, info.name);
    case WINDROW_UINT32:
      return numbers_as_json<uint32_t>(file, object, info.name);
    case WINDROW_INT64:
      return numbers_as_json<int64_t>(file, object, info.name);
    case WINDROW_UINT64:
      return numbers_as_json<uint64_t>(file, object, info.name);
    case WINDROW_FLOAT16:
      return halves_as_json(file, object, info);
    case WINDROW_FLOAT32:
      return numbers_as_json<float>(file, object, info.name);
    case WINDROW_FLOAT64:
      return numbers_as_json<double>(file, object, info.name);
    default:
      return nullptr;
  }
}

// All elements, as a list.
json attribute_values(const windrow::File& file, const std::string& object, const windrow_attribute_info& info) {
  switch (info.type) {
    case WINDROW_TEXT:
    case WINDROW_REFERENCE:
      return json(file.attribute_text(object, info.name));
    case WINDROW_BOOL:
      return json(file.attribute_bool(object, info.name));
    case WINDROW_COMPLEX64:
      return complex_as_json<float>(file, object, info.name);
    case WINDROW_COMPLEX128:
      return complex_as_json<double>(file, object, info.name);
    case WINDROW_OPAQUE:
      return opaque_as_json(file, object, info);
    default:
      break;
  }
  json numbers = number_values(file, object, info);
  return numbers.is_null() ? json::array() : numbers;
}

const char* type_name(int type) {
  return type == 0 ? "?" : windrow_type_name(type);
}

std::vector<int64_t> shape_of(const int64_t* shape, int ndims) {
  return {shape, shape + ndims};
}

json attributes_as_json(const windrow::File& file, const std::string& object) {
  json list = json::array();
  const int count = windrow_attribute_count(file.get(), object.c_str());
  for (int i = 0; i < count; ++i) {
    const windrow_attribute_info info = attribute_of(file, object, i);
    json entry{{"name", info.name}, {"type", type_name(info.type)}, {"shape", shape_of(info.shape, info.ndims)}};
    if (info.unsupported != nullptr && *info.unsupported != '\0')
      entry["unsupported"] = info.unsupported;
    else
      entry["values"] = attribute_values(file, object, info);
    list.push_back(std::move(entry));
  }
  return list;
}

// The files that variables are split over, with their sizes; null for a missing one.
json subfiles_of(const windrow::File& file, const std::string& path) {
  namespace fs = std::filesystem;
  json list = json::array();
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  for (int i = 0; i < windrow_subfile_count(file.get()); ++i) {
    const std::string name = windrow_subfile_name(file.get(), i);
    const auto bytes = fs::file_size(real.parent_path() / name, error);
    list.push_back({{"name", name}, {"bytes", error ? json(nullptr) : json(bytes)}});
  }
  return list;
}

// All but the variables.
json contents_as_json(const windrow::File& file, const Contents& contents) {
  json object{{"groups", json::array()},
              {"variables", json::array()},
              {"unsupported", contents.unsupported},
              {"links", json::array()},
              {"dimensions", json::array()}};
  for (const auto& [path, length] : contents.dimensions)
    object["dimensions"].push_back({{"path", path}, {"length", length}});
  for (const copying::Link& link : contents.links)
    object["links"].push_back({{"path", link.path}, {"target", link.target}, {"hard", link.is_hard}});
  for (size_t i = 0; i < static_cast<size_t>(contents.groups); ++i)
    object["groups"].push_back(
        {{"path", contents.objects[i]}, {"attributes", attributes_as_json(file, contents.objects[i])}});
  return object;
}

json variables_as_json(const windrow::File& file, const Contents& contents) {
  json list = json::array();
  for (const windrow_variable_info& info : contents.variables) {
    json entry{{"path", info.path},
               {"type", type_name(info.type)},
               {"shape", shape_of(info.shape, info.ndims)},
               {"bytes", info.bytes},
               {"offset", info.offset},
               {"big_endian", info.big_endian != 0},
               {"attributes", attributes_as_json(file, info.path)}};
    if (info.chunked != 0) {
      entry["chunk"] = shape_of(info.chunk, info.ndims);
      entry["filters"] = info.filters;
    }
    if (info.unsupported != nullptr && *info.unsupported != '\0')
      entry["unsupported"] = info.unsupported;
    if (info.is_null != 0)
      entry["null_space"] = true;
    if (info.type == WINDROW_TEXT || info.type == WINDROW_OPAQUE)
      entry["element_bytes"] = info.element_bytes;
    if (*info.fill_value != '\0')
      entry["fill_value"] = info.fill_value;
    if (*info.opaque_tag != '\0')
      entry["opaque_tag"] = info.opaque_tag;
    const std::vector<std::string> names = copying::dimension_names_of(info);
    if (std::any_of(names.begin(), names.end(), [](const std::string& name) { return !name.empty(); }))
      entry["dimensions"] = names;
    if (*info.split != '\0')
      entry["split"] = info.split;
    if (*info.enumeration != '\0')
      entry["enumeration"] = info.enumeration;
    list.push_back(std::move(entry));
  }
  return list;
}

std::string shape_text(const windrow_variable_info& variable) {
  if (variable.is_null != 0)
    return "null";
  if (variable.ndims == 0)
    return "scalar";
  return fmt::format("{}", fmt::join(variable.shape, variable.shape + variable.ndims, " x "));
}

// "  chunks 8 x 16, shuffle,deflate:4"; "": not chunked.
std::string chunks_text(const windrow_variable_info& variable) {
  if (variable.chunked == 0)
    return "";
  return fmt::format("  chunks {}{}{}", fmt::join(variable.chunk, variable.chunk + variable.ndims, " x "),
                     *variable.filters == '\0' ? "" : ", ", variable.filters);
}

// The file is untrusted: truncates at characters of UTF-8, and removes control characters.
std::string shortened(std::string text) {
  text = one_line(std::move(text));
  if (text.size() <= k_shown_characters)
    return text;
  size_t end = k_shown_characters - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return text.substr(0, end) + "...";
}

std::string attribute_text(const json& attribute) {
  const std::string name = "    " + one_line(attribute["name"].get<std::string>());
  if (attribute.contains("unsupported"))
    return name + ": " + attribute["unsupported"].get<std::string>();
  const json& values = attribute["values"];
  std::string text;
  for (size_t i = 0; i < values.size() && i < k_shown_elements; ++i)
    text += (i == 0 ? "" : ", ") + values[i].dump(-1, ' ', false, json::error_handler_t::replace);
  if (values.size() > k_shown_elements)
    text += fmt::format(", ... {} in all", values.size());
  return name + " = " + shortened(text);
}

// The lines of all variables with their attributes. Each is appended to the text at once, because there may be many.
std::string table_text(const windrow::File& file, const Contents& contents) {
  size_t path = 8, shape = 5;
  for (const windrow_variable_info& v : contents.variables) {
    path = std::max(path, std::strlen(v.path));
    shape = std::max(shape, shape_text(v).size());
  }
  std::string text = fmt::format("\n{:<{}}  {:<10}  {:<{}}  {:>9}  {:>14}\n", "variable", path, "type", "shape", shape,
                                 "size", "offset");
  for (const windrow_variable_info& v : contents.variables) {
    fmt::format_to(std::back_inserter(text), "{:<{}}  {:<10}  {:<{}}  {:>9}  {:>14}{}{}{}{}\n", one_line(v.path), path,
                   type_name(v.type), shape_text(v), shape, bytes_text(v.bytes),
                   v.offset < 0 ? "-" : std::to_string(v.offset), v.big_endian != 0 ? "  big-endian" : "",
                   *v.split != '\0' ? std::string("  split ") + v.split : chunks_text(v),
                   *v.unsupported != '\0' ? "  " : "", v.unsupported);
    for (const json& attribute : attributes_as_json(file, v.path))
      (text += attribute_text(attribute)) += '\n';
  }
  return text;
}

void print_list(const World& world, const char* title, const json& lines) {
  if (lines.empty())
    return;
  print_line(world, title);
  for (const json& line : lines)
    print_line(world, one_line(line.get<std::string>()));
}

// `table`: of the variables.
void print_text(const World& world, const json& object, const std::string& table) {
  print_line(world, fmt::format("{}: {}, {}", object["file"].get<std::string>(), object["format"].get<std::string>(),
                                bytes_text(object["bytes"].get<int64_t>())));
  print_line(world, "\ngroup");
  for (const json& group : object["groups"]) {
    print_line(world, one_line(group["path"].get<std::string>()));
    for (const json& attribute : group["attributes"])
      print_line(world, attribute_text(attribute));
  }
  if (world.prints())
    fmt::print("{}", table);
  if (!object["subfiles"].empty())
    print_line(world, "\nsubfile");
  for (const json& subfile : object["subfiles"])
    print_line(world,
               fmt::format("{}  {}", one_line(subfile["name"].get<std::string>()),
                           subfile["bytes"].is_null() ? "missing" : bytes_text(subfile["bytes"].get<int64_t>())));
  if (!object["links"].empty())
    print_line(world, "\nlink");
  for (const json& link : object["links"])
    print_line(world, one_line(link["path"].get<std::string>()) + " -> " + one_line(link["target"].get<std::string>()) +
                          (link["hard"].get<bool>() ? "  (hard)" : ""));
  print_list(world, "\ncannot be read or copied yet", object["unsupported"]);
  print_list(world, "\ntemporary files of interrupted runs, which can be removed when no program is writing",
             object["leftovers"]);
  print_list(world, "\nsubfiles that this file does not refer to, from a killed run or from a file that was renamed",
             object["other_sets"]);
}

void print_features(const World& world, const Arguments& arguments) {
  if (!arguments.json) {
    print_line(world, fmt::format("windrow {}\n{}", windrow_version(), windrow_features()));
    return;
  }
  json list = json::array();
  std::istringstream lines(windrow_features());
  for (std::string line; std::getline(lines, line);)
    list.push_back(line);
  print_line(world, json{{"version", windrow_version()}, {"features", list}}.dump(2));
}

}  // namespace

int info(const World& world, const Arguments& arguments) {
  if (arguments.features)
    print_features(world, arguments);
  if (arguments.input.empty())
    return k_exit_ok;
  const windrow::Options options;
  windrow::File file = open_to_read(world, arguments.input, options, k_exit_mistake);
  json object;
  std::string table;
  const auto describe = [&] {
    const Contents contents = contents_of(file);
    object = contents_as_json(file, contents);
    if (arguments.json)
      object["variables"] = variables_as_json(file, contents);
    else if (!contents.variables.empty())
      table = table_text(file, contents);
    std::error_code no_size;
    object["file"] = arguments.input;
    object["format"] = format_of(arguments.input);
    object["bytes"] = static_cast<int64_t>(std::filesystem::file_size(arguments.input, no_size));
    object["leftovers"] = leftovers_of(arguments.input);
    object["subfiles"] = subfiles_of(file, arguments.input);
    object["other_sets"] = other_sets_of(file, arguments.input);
    return std::string();
  };
  try {
    require_on_rank_0(world, describe, k_exit_failed);  // it may fail, and all ranks must close the file
  } catch (const Failure&) {
    file.discard();
    throw;
  }
  file.close();
  if (!world.prints())
    return k_exit_ok;
  if (arguments.json)
    print_line(world, object.dump(2, ' ', false, json::error_handler_t::replace));
  else
    print_text(world, object, table);
  return k_exit_ok;
}

}  // namespace cli
