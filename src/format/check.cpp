// SPDX-License-Identifier: BSD-3-Clause
#include "format/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/checked.hpp"

namespace windrow {

bool is_numeric(Type type) noexcept { return type_size(type) > 0; }

Status check_object_path(const std::string& path) {
  const auto bad = [&](const char* why) { return Status(Code::bad_argument, fmt::format("path \"{}\": {}", path, why)); };
  if (!path.starts_with('/')) return bad("does not begin with a slash");
  if (path.find('\0') != std::string::npos) return bad("has a NUL in it");
  if (path == "/") return {};
  for (size_t begin = 1; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view name = std::string_view(path).substr(begin, end - begin);
    if (name.empty()) return bad("has an empty name in it");
    if (name == ".") return bad("has the name \".\" in it, which means the group itself");
    begin = end + 1;
  }
  return {};
}

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::optional<int64_t> element_count(std::span<const int64_t> shape) {
  if (shape.size() > k_most_dimensions) return std::nullopt;
  if (std::any_of(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; })) return std::nullopt;
  return checked_product(shape);
}

Result<int64_t> check_definition(const VariableDefinition& definition) {
  Status status = check_object_path(definition.path);
  if (status.ok() && definition.path == "/") status = {Code::bad_argument, "variable \"/\": the root is a group"};
  if (status.ok() && !is_numeric(definition.type))
    status = {Code::bad_argument,
              fmt::format("variable \"{}\": type {} is not one of numbers", definition.path, type_name(definition.type))};
  if (!status.ok()) return status;
  const std::optional<int64_t> elements = element_count(definition.shape);
  const std::optional<int64_t> bytes = elements ? checked_multiply(*elements, type_size(definition.type)) : std::nullopt;
  if (bytes) return *bytes;
  return Status(Code::bad_argument, fmt::format("variable \"{}\": shape [{}] cannot be: 0 to {} dimensions, none negative, "
                                                "fewer than 2^63 bytes together",
                                                definition.path, fmt::join(definition.shape, ", "), k_most_dimensions));
}

Status check_attribute(const std::string& object, const Attribute& attribute) {
  const auto bad = [&](Code code, const char* why) {
    return Status(code, fmt::format("attribute \"{}\" of \"{}\": {}", attribute.name, object, why));
  };
  if (attribute.name.empty()) return bad(Code::bad_argument, "its name is empty");
  if (attribute.name.find('\0') != std::string::npos) return bad(Code::bad_argument, "its name has a NUL in it");
  if (!attribute.unsupported.empty()) return bad(Code::unsupported, attribute.unsupported.c_str());
  if (attribute.type != Type::text && !is_numeric(attribute.type)) return bad(Code::bad_argument, "it has no type");
  const std::optional<int64_t> elements = element_count(attribute.shape);
  if (!elements) return bad(Code::bad_argument, "its shape cannot be");
  const bool complete =
      attribute.type == Type::text
          ? std::cmp_equal(attribute.texts.size(), *elements)
          : checked_multiply(*elements, type_size(attribute.type)) == static_cast<int64_t>(attribute.data.size());
  if (!complete) return bad(Code::bad_argument, "its values do not fill its shape");
  if (attribute.type != Type::text || attribute.text_variable_length || attribute.text_size == 0) return {};
  const bool fits = std::all_of(attribute.texts.begin(), attribute.texts.end(), [&](const std::string& text) {
    return std::cmp_less_equal(text.size(), attribute.text_size);
  });
  return fits ? Status() : bad(Code::bad_argument, "a text is longer than its fixed length");
}

Status check_options(const FormatOptions& options) {
  if (options.alignment >= 1 && options.alignment_threshold >= 0) return {};
  return {Code::bad_argument, fmt::format("alignment {} from {} bytes on: 1 or more, and 0 or more, are needed",
                                          options.alignment, options.alignment_threshold)};
}

}  // namespace windrow
