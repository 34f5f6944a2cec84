// SPDX-License-Identifier: BSD-3-Clause
// The map of a set: reading and writing of the attributes that describe how variables are split.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/units.hpp"
#include "base/utf8.hpp"
#include "comm/same.hpp"
#include "format/check.hpp"
#include "format/paths.hpp"
#include "subfiling/map_attributes.hpp"
#include "subfiling/subfiles.hpp"

namespace windrow {

using namespace map;

namespace {

bool is_of_map(const Attribute& attribute) {
  return attribute.name.starts_with(Subfiles::k_reserved);
}

// In the map an extendible dimension has the length 0; the file has its current length.
std::vector<int64_t> flat(const SplitVariable& variable) {
  std::vector<int64_t> values;
  for (const auto& ranges : variable.split.bounds())
    values.insert(values.end(), ranges.begin(), ranges.end());
  if (variable.grows)
    values[1] = 0;
  return values;
}

std::vector<int64_t> shape_of(const SplitVariable& variable) {
  std::vector<int64_t> shape(variable.split.shape().begin(), variable.split.shape().end());
  if (variable.grows)
    shape[0] = 0;
  return shape;
}

std::vector<int64_t> order_of(const Split& split) {
  std::vector<int64_t> order;
  for (const auto& ranges : split.bounds())
    order.push_back(static_cast<int64_t>(ranges.size()) - 1);
  return order;
}

// The attributes of the base file's variable and of each part that describe the whole split.
std::vector<Attribute> description_of(const SplitVariable& variable) {
  const Split& split = variable.split;
  int64_t elements = 1;
  for (const int64_t extent : split.shape())
    elements *= extent;
  return {number(k_enabled, 1),           numbers(k_shape, shape_of(variable)), number(k_elements, elements),
          number(k_parts, split.parts()), numbers(k_order, order_of(split)),    numbers(k_bounds, flat(variable))};
}

// Defines missing parent groups, and adds these to `made`, outermost first.
Status define_parents(Format& format, const std::string& path, std::vector<std::string>& made) {
  for (const std::string& group : parents_of(path)) {
    make_room(made, 1);
    Status status = format.define_group(group);
    if (status.ok())
      made.push_back(group);
    else if (status.code() != Code::exists)
      return status;
  }
  return {};
}

// Cuts `all` into the bounds of each dimension: as many as it has ranges, and one more. nullopt: they do not match.
std::optional<std::vector<std::vector<int64_t>>> bounds_of(std::span<const int64_t> order, std::span<const int64_t> all,
                                                           int64_t most_parts) {
  std::vector<std::vector<int64_t>> bounds;
  for (const int64_t ranges : order) {
    if (ranges < 1 || ranges > most_parts || static_cast<size_t>(ranges) >= all.size())
      return std::nullopt;
    const auto own = all.first(static_cast<size_t>(ranges) + 1);
    bounds.emplace_back(own.begin(), own.end());
    all = all.subspan(own.size());
  }
  if (!all.empty())
    return std::nullopt;
  return bounds;
}

// The split that a variable's attributes describe. Code::bad_file: it is invalid, and why.
Result<Split> read_split(const Variable& variable, int64_t most_parts) {
  const auto bad = [](std::string why) { return Status(Code::bad_file, std::move(why)); };
  const auto order = numbers_of(variable.attributes, k_order);
  auto all = numbers_of(variable.attributes, k_bounds);
  std::vector<int64_t> shape = variable.shape;
  if (variable.extendible)
    shape[0] = 0;
  if (order.size() != variable.shape.size() || numbers_of(variable.attributes, k_shape) != shape)
    return bad("the shape in the map differs from the variable's");
  if (variable.extendible) {
    if (order[0] != 1 || all.size() < 2 || all[0] != 0 || all[1] != 0)
      return bad("the map splits the extendible dimension");
    shape[0] = all[1] = 1;
  }
  auto bounds = bounds_of(order, all, most_parts);
  if (!bounds)
    return bad("the map's split order does not match its bounds");
  auto split = Split::make(*std::move(bounds));
  if (!split.ok())
    return bad(split.status().message());
  if (!std::ranges::equal(split.value().shape(), shape))
    return bad("the map's ranges do not cover the variable");
  if (split.value().parts() > most_parts || number_of(variable.attributes, k_parts) != split.value().parts())
    return bad(
        fmt::format("the map has {} for {}", counted(split.value().parts(), "part"), counted(most_parts, "subfile")));
  return split;
}

// Reads the attributes of the root group that describe the set.
struct SetRoot {
  std::string identity, folder, ending;
  int64_t count = 0;
};

Result<SetRoot> read_root(const std::vector<Attribute>& root) {
  constexpr size_t k_longest_ending = 16, k_shown = 300;
  const auto bad = [](std::string why) { return Status(Code::bad_file, std::move(why)); };
  SetRoot set{word_of(root, k_set), word_of(root, k_folder), word_of(root, k_ending)};
  if (!is_plain_name(set.folder))
    return bad(
        fmt::format("\"{}\" is not the name of a folder beside the file", readable(set.folder.substr(0, k_shown))));
  if (!set.ending.empty() && (!is_plain_name(set.ending) || set.ending.size() > k_longest_ending))
    return bad(fmt::format("\"{}\" is not the end of a name", readable(set.ending.substr(0, k_shown))));
  if (set.identity.empty())
    return bad("it has no identity");
  const auto count = number_of(root, k_count);
  if (!count || *count < 1 || *count > Subfiles::k_most)
    return bad(fmt::format("it contains {}", counted(count.value_or(0), "subfile")));
  set.count = *count;
  return set;
}

// The folder of subfiles. If the path is a symbolic link, it is beside the file that the link refers to.
std::string folder_beside(const std::string& path, const std::string& folder) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  return ((error ? std::filesystem::absolute(path) : real).parent_path() / folder).string();
}

Status read_chunks(Variable& variable, SplitVariable& made) {
  made.chunk = numbers_of(variable.attributes, k_chunk);
  made.filters = word_of(variable.attributes, k_filters);
  if (made.chunk.size() != variable.shape.size() ||
      std::any_of(made.chunk.begin(), made.chunk.end(), [](int64_t each) { return each <= 0; }))
    return {Code::bad_file, "its chunk shape is invalid"};
  for (int64_t part = 0; part < made.split.parts(); ++part)
    if (Status status = made.chunking(part).status(); !status.ok())
      return status;
  variable.chunking = {made.chunk, made.chunking(0).value().filters};
  return {};
}

// Changes a variable of the catalog of the base file to the variable that its parts form.
Result<SplitVariable> read_split_variable(Variable& variable, int64_t most_parts) {
  const auto bad = [](std::string why) { return Status(Code::bad_file, std::move(why)); };
  auto split = read_split(variable, most_parts);
  if (!split.ok())
    return split.status();
  const int64_t element = element_bytes(variable.type, variable.details);
  const auto elements = element_count(variable.shape);
  if (element < 1 || !elements || *elements > INT64_MAX / 8 / element)
    return bad("its type cannot be split");
  const Attribute* fill = find_in(variable.attributes, k_fill);
  if (fill != nullptr && static_cast<int64_t>(fill->data.size()) != element)
    return bad(fmt::format("its fill value has {}, and an element {}", counted(fill->data.size(), "byte"), element));
  variable.placement.offset = -1;
  variable.placement.bytes = *elements * element;
  variable.unsupported.clear();
  variable.is_inline = false;
  variable.content.clear();
  variable.chunking = {};
  SplitVariable made(std::move(split).value(), variable.path, element, variable.extendible);
  if (made.grows)
    made.records = variable.shape.front();
  if (fill != nullptr)
    made.fill = variable.fill = fill->data;
  if (find_in(variable.attributes, k_chunk) != nullptr)
    if (Status status = read_chunks(variable, made); !status.ok())
      return status;
  return made;
}

}  // namespace

Result<std::unique_ptr<Subfiles>> Subfiles::take_from(Catalog& catalog, const std::string& format,
                                                      const std::string& path) {
  if (catalog.groups.empty() || find_in(catalog.groups.front().attributes, k_folder) == nullptr)
    return std::unique_ptr<Subfiles>();
  std::vector<Attribute>& root = catalog.groups.front().attributes;
  const auto bad = [&](std::string_view why) {
    return Status(Code::bad_file, fmt::format("\"{}\": the map of its subfiles is damaged: {}", path, why));
  };
  auto read = read_root(root);
  if (!read.ok())
    return bad(read.status().message());
  const auto& [identity, folder, ending, count] = read.value();
  auto set =
      std::make_unique<Subfiles>(format, identity, folder, SubfileNames{folder_beside(path, folder), ending, count});
  for (size_t i = 0; i < catalog.variables.size(); ++i) {
    Variable& variable = catalog.variables[i];
    if (find_in(variable.attributes, k_enabled) == nullptr)
      continue;
    auto split = read_split_variable(variable, count);
    if (!split.ok())
      return bad(fmt::format("variable \"{}\": {}", readable(variable.path), split.status().message()));
    set->variables_.emplace(static_cast<int>(i), std::move(split).value());
  }
  set->found_ = set->used();
  if (number_of(root, k_sum) != set->checksum(catalog)) {
    const auto& left_out = catalog.unsupported;  // not included in the checksum
    const std::string first = left_out.empty() ? "" : "; " + readable(left_out.front().substr(0, 300));
    return bad("its checksum is wrong" + first);
  }
  std::erase_if(root, is_of_map);
  for (const auto& [variable, split] : set->variables_)
    std::erase_if(catalog.variables[static_cast<size_t>(variable)].attributes, is_of_map);
  return set;
}

std::vector<int64_t> range_of(const SplitVariable& split, int64_t part) {
  const Box box = split.split.box(part);
  std::vector<int64_t> range = box.start;
  for (size_t i = 0; i < box.start.size(); ++i)
    range.push_back(box.start[i] + (split.grows && i == 0 ? 0 : box.count[i]));
  return range;
}

namespace {

// Text for messages: the first of possibly many values.
std::string text_of(std::span<const int64_t> values) {
  constexpr size_t k_shown = 16;
  if (values.empty())
    return "not integers of 64 bits";
  return fmt::format("{}{}", fmt::join(values.first(std::min(values.size(), k_shown)), " "),
                     values.size() > k_shown ? " ..." : "");
}

}  // namespace

std::string contradiction_in(const Variable& own, const SplitVariable& split, int64_t part) {
  std::vector<Attribute> expected = description_of(split);
  expected.push_back(numbers(k_range, range_of(split, part)));
  for (const Attribute& each : expected) {
    const auto stated = numbers_of(own.attributes, each.name), wanted = numbers_of(expected, each.name);
    if (stated != wanted)
      return fmt::format("attribute \"{}\" of \"{}\" is {} and not {}", each.name, own.path, text_of(stated),
                         text_of(wanted));
  }
  return "";
}

Result<int64_t> Subfiles::define_part(Format& format, const VariableDefinition& definition, const SplitVariable& split,
                                      int64_t part) const {
  VariableDefinition own = definition;
  own.shape = split.split.box(part).count;
  if (split.grows)
    own.shape[0] = definition.shape[0];
  auto chunking = split.chunking(part);
  if (!chunking.ok())
    return Status(chunking.status().code(),
                  fmt::format("variable \"{}\": {}", definition.path, chunking.status().message()));
  own.chunking = std::move(chunking).value();
  std::vector<std::string> made;  // outermost first
  Result<int64_t> offset = -1;
  Status status = guard([&] {
    // If all records grow together, the required length is that of the set, not that which the subfile has so far.
    // Missing variables do not matter.
    if (split.grows && format.traits().grows_as_one)
      for (const auto& [number, other] : variables_)
        if (other.grows && other.has_part(part) && other.path != own.path)
          (void)format.extend(other.path, other.shape(part));
    Status defined = define_parents(format, own.path, made);
    if (!defined.ok())
      return defined;
    make_room(made, 1);
    auto placement = format.define_variable(own);
    if (!placement.ok())
      return placement.status();
    made.push_back(own.path);
    offset = placement.value().offset;
    std::vector<Attribute> attributes = description_of(split);
    attributes.push_back(numbers(k_range, range_of(split, part)));
    // Reserves the space of the checksum, so that a header does not grow later.
    if (options_.sums && format.traits().places_late)
      attributes.push_back(numbers(k_element_sum, Sum{}));
    return format.put_attributes(own.path, attributes);
  });
  if (status.ok())
    return offset;
  withdraw(format, made);
  return status;
}

int64_t Subfiles::records() const noexcept {
  int64_t most = 0;
  for (const auto& [number, split] : variables_)
    if (split.grows)
      most = std::max(most, split.records);
  return most;
}

void Subfiles::withdraw(Format& format, std::span<const std::string> made) const {
  for (size_t i = made.size(); i > 0; --i)
    (void)format.undefine(made[i - 1], records());
}

Status Subfiles::describe(Format& base, const VariableDefinition& definition, const SplitVariable& split) const {
  std::vector<Attribute> attributes = description_of(split);
  if (!definition.fill.empty()) {
    Attribute fill = attribute_of(k_fill, Type::uint8);
    fill.shape = {static_cast<int64_t>(definition.fill.size())};
    fill.data = definition.fill;
    attributes.push_back(std::move(fill));
  }
  if (split.is_chunked()) {
    attributes.push_back(numbers(k_chunk, split.chunk));
    attributes.push_back(word(k_filters, split.filters));
  }
  return base.put_attributes(definition.path, attributes);
}

Status Subfiles::sign(Format& format, int64_t number_in_set) const {
  std::vector<Attribute> attributes{word(k_set, identity_), number(k_count, count())};
  if (number_in_set < 0) {
    attributes.push_back(
        // unknown until everything is defined; reserves its space, so that a header does not grow later
        number(k_sum, 0));
    attributes.push_back(word(k_folder, folder_));
    attributes.push_back(word(k_ending, names_.ending));
  } else {
    attributes.push_back(number(k_number, number_in_set));
  }
  return format.put_attributes("/", attributes);
}

Status Subfiles::write_checksum(Format& base, int64_t sum) const {
  return base.put_attribute("/", number(k_sum, sum));
}

int64_t Subfiles::checksum(const Catalog& catalog) const {
  std::map<std::string, std::string> lines;  // by path, because a file's catalog is not in the order of definitions
  for (const auto& [number, variable] : variables_) {
    const Variable& described = catalog.variables[static_cast<size_t>(number)];
    const bool big_endian = described.placement.big_endian &&
                            // formats differ in the byte order that they report for single bytes
                            component_size(described.type) > 1;
    lines[described.path] = fmt::format("{}|{}|{}|{}", static_cast<int>(described.type), variable.element_bytes,
                                        big_endian, fmt::join(flat(variable), ","));
    if (variable.is_chunked())
      lines[described.path] += fmt::format("|{}|{}", fmt::join(variable.chunk, ","), variable.filters);
    lines[described.path] += "|fill ";
    for (const std::byte each : variable.fill)
      lines[described.path] += fmt::format("{:02x}", static_cast<unsigned>(each));
  }
  std::string text = fmt::format("{}|{}", identity_, count());
  for (const auto& [path, line] : lines)
    text += fmt::format("\n{}:{}|{}", path.size(), path, line);
  return static_cast<int64_t>(hash_of({text}));
}

}  // namespace windrow
