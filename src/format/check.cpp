// SPDX-License-Identifier: BSD-3-Clause
#include "format/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/numbering.hpp"
#include "base/units.hpp"
#include "format/enumeration.hpp"

namespace windrow {

bool is_integer(Type type) noexcept {
  return type >= Type::int8 && type <= Type::uint64;
}

Status check_object_path(const std::string& path) {
  const auto bad = [&](const char* why) {
    return Status(Code::bad_argument, fmt::format("path \"{}\": {}", path, why));
  };
  if (!path.starts_with('/'))
    return bad("does not begin with a slash");
  if (path.find('\0') != std::string::npos)
    return bad("contains a NUL");
  if (path == "/")
    return {};
  for (size_t begin = 1; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view name = std::string_view(path).substr(begin, end - begin);
    if (name.empty())
      return bad("contains an empty name");
    if (name == ".")
      return bad("contains the name \".\", which means the group itself");
    begin = end + 1;
  }
  return {};
}

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::optional<int64_t> element_count(std::span<const int64_t> shape) {
  if (shape.size() > k_most_dimensions)
    return std::nullopt;
  if (std::any_of(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; }))
    return std::nullopt;
  return checked_product(shape);
}

Status check_details(ObjectName name, Type type, const Details& details) {
  const auto bad = [&](std::string_view why) { return Status(Code::bad_argument, fmt::format("{}: {}", name(), why)); };
  constexpr int64_t k_most_element_bytes = INT32_MAX;  // HDF5 stores the element size in 32 bits
  const bool sized = type == Type::text || type == Type::opaque;
  if (details.bytes != 0 && !sized)
    return bad(fmt::format("elements of type {} have a fixed size", type_name(type)));
  if (details.bytes < (type == Type::opaque ? 1 : 0) || details.bytes > k_most_element_bytes)
    return bad(fmt::format("an element of type {} cannot have {}", type_name(type), counted(details.bytes, "byte")));
  if (!details.tag.empty() && type != Type::opaque)
    return bad("only opaque elements have a tag");
  constexpr size_t k_longest_tag = 255;  // H5T_OPAQUE_TAG_MAX less the NUL
  if (details.tag.size() > k_longest_tag || details.tag.find('\0') != std::string::npos)
    return bad("its tag is longer than 255 bytes, or contains a NUL");
  if (details.enumeration.empty())
    return {};
  const auto members = parse_enumeration(type, details.enumeration);
  return members.ok() ? Status() : bad(members.status().message());
}

constexpr std::string_view k_no_references = "only HDF5 supports references to objects: use format=hdf5";

namespace {

// All but the fill value and the shape.
Status check_properties(const VariableDefinition& definition, References references) {
  const auto name = [&] { return fmt::format("variable \"{}\"", definition.path); };
  if (Status status = check_object_path(definition.path); !status.ok())
    return status;
  if (definition.path == "/")
    return {Code::bad_argument, name() + ": the root is a group"};
  if (definition.type == Type::none)
    return {Code::bad_argument, name() + ": a variable cannot have the type none"};
  if (definition.type == Type::reference && references == References::none)
    return {Code::unsupported, fmt::format("{}: {}", name(), k_no_references)};
  if (Status status = check_details(name, definition.type, definition.details); !status.ok())
    return status;
  if (definition.null_space && !definition.shape.empty())
    return {Code::bad_argument, name() + ": a null space has no dimensions"};
  return {};
}

}  // namespace

Result<int64_t> check_definition(const VariableDefinition& definition, References references) {
  if (Status status = check_properties(definition, references); !status.ok())
    return status;
  const int64_t element = element_bytes(definition.type, definition.details);
  if (!definition.fill.empty() && std::cmp_not_equal(definition.fill.size(), element))
    return Status(Code::bad_argument,
                  fmt::format("variable \"{}\": its fill value is not one element", definition.path));
  const std::optional<int64_t> elements = element_count(definition.shape);
  const int64_t size = definition.null_space ? 0 : element;
  const std::optional<int64_t> bytes = elements ? checked_multiply(*elements, size) : std::nullopt;
  if (bytes)
    return *bytes;
  return Status(
      Code::bad_argument,
      fmt::format(
          "variable \"{}\": invalid shape [{}]: 0 to {} dimensions, none negative, fewer than 2^63 bytes in all",
          definition.path, fmt::join(shown_order(definition.shape), ", "), k_most_dimensions));
}

namespace {

// Whether the number of values matches the shape.
bool is_complete(const Attribute& attribute, int64_t elements) {
  if (attribute.null_space)
    return attribute.shape.empty() && attribute.texts.empty() && attribute.data.empty();
  if (attribute.type == Type::text || attribute.type == Type::reference)
    return std::cmp_equal(attribute.texts.size(), elements);
  const int64_t size = attribute.type == Type::opaque ? attribute.opaque_bytes : type_size(attribute.type);
  return checked_multiply(elements, size) == static_cast<int64_t>(attribute.data.size());
}

}  // namespace

Status check_attribute(const std::string& object, const Attribute& attribute, References references) {
  const auto name = [&] { return fmt::format("attribute \"{}\" of \"{}\"", attribute.name, object); };
  const auto bad = [&](Code code, std::string_view why) { return Status(code, fmt::format("{}: {}", name(), why)); };
  if (attribute.name.empty())
    return bad(Code::bad_argument, "its name is empty");
  if (attribute.name.find('\0') != std::string::npos)
    return bad(Code::bad_argument, "its name contains a NUL");
  if (!attribute.unsupported.empty())
    return bad(Code::unsupported, attribute.unsupported);
  if (attribute.type == Type::none)
    return bad(Code::bad_argument, "it has no type");
  if (attribute.type == Type::reference && references == References::none)
    return bad(Code::unsupported, k_no_references);
  Status status =
      check_details(name, attribute.type,
                    {.bytes = attribute.opaque_bytes, .tag = attribute.tag, .enumeration = attribute.enumeration});
  if (!status.ok())
    return status;
  const std::optional<int64_t> elements = element_count(attribute.shape);
  if (!elements)
    return bad(Code::bad_argument, "its shape is invalid");
  if (!is_complete(attribute, *elements))
    return bad(Code::bad_argument, "its values do not fill its shape");
  if (attribute.type != Type::text || attribute.text_variable_length || attribute.text_size == 0)
    return {};
  const bool fits = std::all_of(attribute.texts.begin(), attribute.texts.end(), [&](const std::string& text) {
    return std::cmp_less_equal(text.size(), attribute.text_size);
  });
  return fits ? Status() : bad(Code::bad_argument, "a text is longer than its fixed length");
}

Status check_texts_fit(const std::string& path, int64_t count, int64_t characters) {
  constexpr int64_t k_message_bytes = int64_t{1} << 30;
  constexpr int64_t k_length_bytes = 8;  // before each text
  if (characters <= k_message_bytes && count <= (k_message_bytes - characters) / k_length_bytes)
    return {};
  return {Code::unsupported, fmt::format("\"{}\": {} with {} exceed the limit of 1 GiB for text of variable length; "
                                         "text of fixed length has no such limit",
                                         path, counted(count, "text"), counted(characters, "byte"))};
}

Status check_link(const SoftLink& link) {
  Status status = check_object_path(link.path);
  if (status.ok() && link.path == "/")
    status = {Code::bad_argument, "link \"/\": the root is a group"};
  if (status.ok() && (link.target.empty() || link.target.find('\0') != std::string::npos))
    status = {Code::bad_argument, fmt::format("link \"{}\": its target is empty or contains a NUL", link.path)};
  return status;
}

Status check_dimension(const Dimension& dimension) {
  Status status = check_object_path(dimension.path);
  if (status.ok() && dimension.path == "/")
    status = {Code::bad_argument, "dimension \"/\": the root is a group"};
  if (status.ok() && dimension.length < 0)
    status = {Code::bad_argument, fmt::format("dimension \"{}\": its length is {}", dimension.path, dimension.length)};
  return status;
}

Status check_options(const FormatOptions& options) {
  constexpr int64_t k_most = int64_t{1} << 40;
  if (options.header_room < 0 || options.header_room > k_most || options.record_alignment < 1 ||
      options.record_alignment > k_most)
    return {Code::bad_argument,
            fmt::format("header room of {}, records at a multiple of {}: 0 or more, and 1 or more, are needed, and at "
                        "most 1 TiB",
                        counted(options.header_room, "byte"), options.record_alignment)};
  if (options.alignment >= 1 && options.alignment <= k_most && options.alignment_threshold >= 0)
    return {};
  return {Code::bad_argument,
          fmt::format("alignment {} from {} on: 1 or more, at most 1 TiB, and 0 or more, are needed", options.alignment,
                      counted(options.alignment_threshold, "byte"))};
}

}  // namespace windrow
