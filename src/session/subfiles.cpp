// SPDX-License-Identifier: BSD-3-Clause
#include "session/subfiles.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>

#include "base/utf8.hpp"
#include "format/check.hpp"
#include "session/same.hpp"

namespace windrow {
namespace {

constexpr std::string_view k_set = "windrow_set", k_folder = "windrow_folder", k_count = "windrow_subfiles", k_ending = "windrow_ending",
                           k_number = "windrow_subfile", k_sum = "windrow_map_checksum";
constexpr std::string_view k_enabled = "windrow_split", k_shape = "windrow_split_shape", k_elements = "windrow_split_elements",
                           k_parts = "windrow_split_parts", k_order = "windrow_split_order", k_bounds = "windrow_split_bounds",
                           k_range = "windrow_split_range", k_fill = "windrow_split_fill";

Attribute attribute_of(std::string_view name, Type type) {
  Attribute attribute;
  attribute.name = name;
  attribute.type = type;
  return attribute;
}

Attribute numbers(std::string_view name, std::span<const int64_t> values, bool scalar = false) {
  Attribute attribute = attribute_of(name, Type::int64);
  if (!scalar) attribute.shape = {static_cast<int64_t>(values.size())};
  const auto bytes = std::as_bytes(values);
  attribute.data.assign(bytes.begin(), bytes.end());
  attribute.big_endian = std::endian::native == std::endian::big;
  return attribute;
}

Attribute number(std::string_view name, int64_t value) { return numbers(name, std::span(&value, 1), true); }

Attribute word(std::string_view name, const std::string& text) {
  Attribute attribute = attribute_of(name, Type::text);
  attribute.texts = {text};
  attribute.text_variable_length = false;
  attribute.text_padding = TextPadding::null_padded;
  return attribute;
}

const Attribute* find_in(const std::vector<Attribute>& attributes, std::string_view name) {
  const auto found = std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& each) { return each.name == name; });
  return found == attributes.end() ? nullptr : &*found;
}

// Empty: not there, or not 64-bit integers.
std::vector<int64_t> numbers_of(const std::vector<Attribute>& attributes, std::string_view name) {
  const Attribute* attribute = find_in(attributes, name);
  if (attribute == nullptr || attribute->type != Type::int64 || attribute->data.size() % sizeof(int64_t) != 0) return {};
  std::vector<int64_t> values(attribute->data.size() / sizeof(int64_t));
  if (!values.empty()) std::memcpy(values.data(), attribute->data.data(), attribute->data.size());
  return values;
}

std::optional<int64_t> number_of(const std::vector<Attribute>& attributes, std::string_view name) {
  const auto values = numbers_of(attributes, name);
  return values.size() == 1 ? std::optional(values.front()) : std::nullopt;
}

std::string word_of(const std::vector<Attribute>& attributes, std::string_view name) {
  const Attribute* attribute = find_in(attributes, name);
  return attribute != nullptr && attribute->type == Type::text && attribute->texts.size() == 1 ? attribute->texts.front() : std::string();
}

bool is_ours(const Attribute& attribute) { return attribute.name.starts_with(Subfiles::k_reserved); }

std::vector<int64_t> flat(const Split& split) {
  std::vector<int64_t> values;
  for (const auto& ranges : split.bounds()) values.insert(values.end(), ranges.begin(), ranges.end());
  return values;
}

std::vector<int64_t> order_of(const Split& split) {
  std::vector<int64_t> order;
  for (const auto& ranges : split.bounds()) order.push_back(static_cast<int64_t>(ranges.size()) - 1);
  return order;
}

// The same of the base file's variable and of each part: how all of it is cut.
std::vector<Attribute> description_of(const Split& split) {
  int64_t elements = 1;
  for (const int64_t extent : split.shape()) elements *= extent;
  return {number(k_enabled, 1), numbers(k_shape, split.shape()), number(k_elements, elements), number(k_parts, split.parts()),
          numbers(k_order, order_of(split)), numbers(k_bounds, flat(split))};
}

Status put_all(Format& format, const std::string& object, std::span<const Attribute> attributes) {
  for (const Attribute& attribute : attributes)
    if (Status status = format.put_attribute(object, attribute); !status.ok()) return status;
  return {};
}

// How a variable's attributes say that it is cut. Code::bad_file: not so that it could be, and why.
Result<Split> read_split(const Variable& variable, int64_t most_parts) {
  const auto bad = [](std::string why) { return Status(Code::bad_file, std::move(why)); };
  const auto order = numbers_of(variable.attributes, k_order), all = numbers_of(variable.attributes, k_bounds);
  if (order.size() != variable.shape.size() || numbers_of(variable.attributes, k_shape) != variable.shape)
    return bad("the shape in the map is another than the variable's");
  std::vector<std::vector<int64_t>> bounds;
  size_t at = 0;
  for (const int64_t ranges : order) {
    if (ranges < 1 || ranges > most_parts || static_cast<size_t>(ranges) >= all.size() - std::min(at, all.size()))
      return bad("the map's order of splitting does not fit its bounds");
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(at);
    bounds.emplace_back(first, first + ranges + 1);
    at += static_cast<size_t>(ranges) + 1;
  }
  if (at != all.size()) return bad("the map's order of splitting does not fit its bounds");
  auto split = Split::make(std::move(bounds));
  if (!split.ok()) return bad(split.status().message());
  if (!std::ranges::equal(split.value().shape(), variable.shape)) return bad("the map's ranges do not end where the variable does");
  if (split.value().parts() > most_parts || number_of(variable.attributes, k_parts) != split.value().parts())
    return bad(fmt::format("the map has {} parts for {} subfiles", split.value().parts(), most_parts));
  return split;
}

}  // namespace

bool is_plain_name(std::string_view name) noexcept {
  constexpr size_t k_longest = 255;
  if (name.empty() || name.size() > k_longest || name == "." || name == ".." || !is_utf8(name)) return false;
  return std::none_of(name.begin(), name.end(), [](char each) { return each == '/' || static_cast<unsigned char>(each) < ' '; });
}

std::string make_identity() {
  std::random_device source;
  std::string text;
  for (int i = 0; i < 4; ++i) text += fmt::format("{:08x}", source());
  for (const size_t at : {8u, 13u, 18u, 23u}) text.insert(at, 1, '-');
  return text;
}

std::string folder_name(std::string_view base_name, std::string_view identity) {
  constexpr size_t k_longest = 200;
  size_t end = std::min(base_name.size(), k_longest);
  while (end > 1 && end < base_name.size() && (static_cast<unsigned char>(base_name[end]) & 0xc0) == 0x80) --end;
  return fmt::format("{}.subfiles-{}", base_name.substr(0, end), identity.substr(0, 8));
}

Result<std::unique_ptr<Subfiles>> Subfiles::take_from(Catalog& catalog, const std::string& format, const std::string& path) {
  if (catalog.groups.empty()) return std::unique_ptr<Subfiles>();
  std::vector<Attribute>& root = catalog.groups.front().attributes;
  if (find_in(root, k_folder) == nullptr) return std::unique_ptr<Subfiles>();
  const auto bad = [&](std::string_view why) { return Status(Code::bad_file, fmt::format("\"{}\": the map of its subfiles is damaged: {}", path, why)); };
  const std::string identity = word_of(root, k_set), folder = word_of(root, k_folder), ending = word_of(root, k_ending);
  const auto count = number_of(root, k_count), sum = number_of(root, k_sum);
  if (!is_plain_name(folder))
    return bad(fmt::format("\"{}\" is not the name of a folder beside the file", readable(folder.substr(0, 300))));
  if (!ending.empty() && (!is_plain_name(ending) || ending.size() > 16))
    return bad(fmt::format("\"{}\" is not the end of a name", readable(ending.substr(0, 300))));
  if (identity.empty()) return bad("it has no identity");
  if (!count || *count < 1 || *count > k_most) return bad(fmt::format("it says that there are {} subfiles", count.value_or(0)));
  // A symbolic link leads to the folder of the file, not to its own.
  std::error_code ignored;
  const auto real = std::filesystem::canonical(path, ignored);
  const auto beside = (ignored ? std::filesystem::absolute(path) : real).parent_path();
  auto set = std::make_unique<Subfiles>(format, identity, folder, SubfileNames{(beside / folder).string(), ending, *count});
  for (size_t i = 0; i < catalog.variables.size(); ++i) {
    Variable& variable = catalog.variables[i];
    if (find_in(variable.attributes, k_enabled) == nullptr) continue;
    auto split = read_split(variable, *count);
    if (!split.ok()) return bad(fmt::format("variable \"{}\": {}", readable(variable.path), split.status().message()));
    const int64_t element = element_bytes(variable.type, variable.details);
    const auto elements = element_count(variable.shape);
    if (element < 1 || !elements || *elements > INT64_MAX / 8 / element)
      return bad(fmt::format("variable \"{}\": its type cannot be split", readable(variable.path)));
    if (const Attribute* fill = find_in(variable.attributes, k_fill); fill != nullptr && static_cast<int64_t>(fill->data.size()) == element)
      variable.fill = fill->data;
    variable.placement.offset = -1;
    variable.placement.bytes = *elements * element;
    variable.unsupported.clear();
    variable.held = false;
    variable.content.clear();
    variable.chunking = {};
    variable.extendible = false;
    const auto parts = static_cast<size_t>(split.value().parts());
    set->variables_.emplace(static_cast<int>(i), SplitVariable{std::move(split).value(), std::vector<int64_t>(parts, -1), element});
  }
  if (!sum || *sum != set->checksum(catalog)) return bad("its checksum is wrong");
  std::erase_if(root, is_ours);
  for (const auto& [variable, split] : set->variables_) std::erase_if(catalog.variables[static_cast<size_t>(variable)].attributes, is_ours);
  return set;
}

const SplitVariable* Subfiles::find(int variable) const noexcept {
  const auto found = variables_.find(variable);
  return found == variables_.end() ? nullptr : &found->second;
}

bool Subfiles::fit_line(const Catalog& catalog) {
  int64_t longest = 0;
  for (const Variable& variable : catalog.variables)
    if (variable.placement.offset >= 0) longest = std::max(longest, variable.placement.offset + variable.placement.bytes);
  for (const auto& [number, variable] : variables_)
    for (size_t part = 0; part < variable.offsets.size(); ++part)
      if (variable.offsets[part] >= 0)
        longest = std::max(longest, variable.offsets[part] + variable.split.elements(static_cast<int64_t>(part)) * variable.element_bytes);
  const int64_t room = FileLine::room_for(longest);
  if (room <= line_.room) return false;
  line_.room = room;
  return true;
}

Status Subfiles::fault_of(int64_t number) const {
  const int64_t packed = faults_[static_cast<size_t>(number)], found = packed >> 8;
  const std::string what = fmt::format("subfile \"{}\"", relative_name(number));
  switch (static_cast<Fault>(packed & 0xff)) {
    case Fault::none: return {};
    case Fault::missing: return {Code::not_found, what + " is missing"};
    case Fault::unreadable: return {Code::no_permission, what + " may not be read"};
    case Fault::damaged: return {Code::bad_file, fmt::format("{} is damaged: truncated, or not a file of the format {}", what, format_)};
    case Fault::foreign: return {Code::bad_file, what + " belongs to another set of files"};
    case Fault::swapped: return {Code::bad_file, fmt::format("{} is number {} of its set, under the name of number {}", what, found, number)};
    case Fault::different: return {Code::bad_file, what + " does not have what the map says: a variable is missing, or of another type or shape"};
    case Fault::outdated: return {Code::bad_file, what + " was written with another map: its checksum is wrong"};
  }
  return {Code::internal, what};
}

Result<Format*> Subfiles::format(int64_t number, FormatMode mode, const FormatOptions& options) {
  constexpr size_t k_most_open = 32;
  if (const auto found = formats_.find(number); found != formats_.end()) return found->second.get();
  if (formats_.size() >= k_most_open) {
    Status status = formats_.begin()->second->close();
    formats_.erase(formats_.begin());
    if (!status.ok()) return status;
  }
  made_.resize(static_cast<size_t>(count()));
  const FormatMode first = mode == FormatMode::create && made_[static_cast<size_t>(number)] != 0 ? FormatMode::update : mode;
  auto opened = open_format(format_, names_.path(number), first, options);
  if (!opened.ok()) return opened.status();
  made_[static_cast<size_t>(number)] = 1;
  ++opens_;
  return formats_.emplace(number, std::move(opened).value()).first->second.get();
}

Status Subfiles::close_formats() {
  Status status;
  for (auto& [number, format] : formats_) status.update(format->close());
  formats_.clear();
  return status;
}

Status Subfiles::flush_formats() {
  Status status;
  for (auto& [number, format] : formats_) status.update(format->flush());
  return status;
}

Result<int64_t> Subfiles::define_part(Format& format, const VariableDefinition& definition, const Split& split, int64_t part) const {
  const Box box = split.box(part);
  VariableDefinition own = definition;
  own.shape = box.count;
  for (size_t at = own.path.find('/', 1); at != std::string::npos; at = own.path.find('/', at + 1))
    if (Status status = format.define_group(own.path.substr(0, at)); !status.ok() && status.code() != Code::exists) return status;
  auto placement = format.define_variable(own);
  if (!placement.ok()) return placement.status();
  std::vector<int64_t> range = box.start;
  for (size_t i = 0; i < box.start.size(); ++i) range.push_back(box.start[i] + box.count[i]);
  std::vector<Attribute> attributes = description_of(split);
  attributes.push_back(numbers(k_range, range));
  if (Status status = put_all(format, own.path, attributes); !status.ok()) return status;
  return placement.value().offset;
}

Status Subfiles::describe(Format& base, const VariableDefinition& definition, const Split& split) const {
  std::vector<Attribute> attributes = description_of(split);
  if (!definition.fill.empty()) {
    Attribute fill = attribute_of(k_fill, Type::uint8);
    fill.shape = {static_cast<int64_t>(definition.fill.size())};
    fill.data = definition.fill;
    attributes.push_back(std::move(fill));
  }
  return put_all(base, definition.path, attributes);
}

Status Subfiles::sign(Format& format, int64_t number_in_set) const {
  std::vector<Attribute> attributes{word(k_set, identity_), number(k_count, count())};
  if (number_in_set < 0) {
    attributes.push_back(word(k_folder, folder_));
    attributes.push_back(word(k_ending, names_.ending));
  } else {
    attributes.push_back(number(k_number, number_in_set));
  }
  return put_all(format, "/", attributes);
}

Status Subfiles::seal(Format& format, int64_t sum) const { return format.put_attribute("/", number(k_sum, sum)); }

int64_t Subfiles::checksum(const Catalog& catalog) const {
  std::map<std::string, std::string> lines;  // by path: a file's catalog is in another order than that of its definitions
  for (const auto& [number, variable] : variables_) {
    const Variable& described = catalog.variables[static_cast<size_t>(number)];
    lines[described.path] = fmt::format("{}|{}|{}|{}", static_cast<int>(described.type), variable.element_bytes, described.placement.big_endian,
                                        fmt::join(flat(variable.split), ","));
  }
  std::string text = fmt::format("{}|{}", identity_, count());
  for (const auto& [path, line] : lines) text += fmt::format("\n{}:{}|{}", path.size(), path, line);
  return static_cast<int64_t>(hash_of({text}));
}

Result<int64_t> Subfiles::examine(int64_t number_in_set, const Catalog& base, int64_t sum, std::map<int, int64_t>& offsets) const {
  const std::string path = names_.path(number_in_set);
  auto opened = open_format(format_, path, FormatMode::read, {});
  const auto fault_by = [](const Status& status) -> Result<int64_t> {
    if (status.code() == Code::out_of_memory) return status;
    return pack(status.code() == Code::not_found ? Fault::missing : status.code() == Code::no_permission ? Fault::unreadable : Fault::damaged);
  };
  if (!opened.ok()) return fault_by(opened.status());
  auto read = opened.value()->catalog();
  (void)opened.value()->close();
  if (!read.ok()) return fault_by(read.status());
  const Catalog& catalog = read.value();
  const auto& root = catalog.groups.front().attributes;
  if (word_of(root, k_set) != identity_) return pack(Fault::foreign);
  const auto found_number = number_of(root, k_number);
  if (found_number != number_in_set) return pack(Fault::swapped, std::clamp<int64_t>(found_number.value_or(-1), -1, k_most));
  for (const auto& [variable, split] : variables_) {
    if (number_in_set >= split.split.parts()) continue;
    const Variable& whole = base.variables[static_cast<size_t>(variable)];
    const auto own = std::find_if(catalog.variables.begin(), catalog.variables.end(), [&](const Variable& each) { return each.path == whole.path; });
    const bool fits = own != catalog.variables.end() && own->unsupported.empty() && own->type == whole.type &&
                      element_bytes(own->type, own->details) == split.element_bytes && own->placement.big_endian == whole.placement.big_endian &&
                      own->shape == split.split.box(number_in_set).count && own->placement.offset >= 0 &&
                      own->placement.offset < FileLine::k_begin / 2 / (count() + 1) - own->placement.bytes;
    if (!fits) return pack(Fault::different);
    offsets[variable] = own->placement.offset;
  }
  return number_of(root, k_sum) == sum ? pack(Fault::none) : pack(Fault::outdated);
}

std::vector<std::string> Subfiles::strangers() const {
  constexpr size_t k_most_told = 100;
  std::set<std::string> expected;
  for (int64_t number_in_set = 0; number_in_set < count(); ++number_in_set)
    expected.insert(std::filesystem::path(names_.path(number_in_set)).filename().string());
  std::vector<std::string> lines;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(names_.folder, error)) {
    const std::string name = entry.path().filename().string();
    if (expected.contains(name) || lines.size() == k_most_told) continue;
    std::string what = "is not a file of its set";
    if (entry.is_regular_file(error)) {
      auto opened = open_format(format_, entry.path().string(), FormatMode::read, {});
      auto read = opened.ok() ? opened.value()->catalog() : Result<Catalog>(opened.status());
      if (read.ok() && word_of(read.value().groups.front().attributes, k_set) == identity_)
        what = fmt::format("is a subfile of the set under another name: number {}", number_of(read.value().groups.front().attributes, k_number).value_or(-1));
      else if (read.ok() && !word_of(read.value().groups.front().attributes, k_set).empty())
        what = "belongs to another set of files";
    }
    lines.push_back(fmt::format("\"{}/{}\" {}", readable(folder_), readable(name), what));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace windrow
