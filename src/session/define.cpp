// SPDX-License-Identifier: BSD-3-Clause
// Groups, variables and attributes: every rank checks against its copy of the catalog, rank 0 tells the format, all
// learn the outcome.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "base/checked.hpp"
#include "base/numbering.hpp"
#include "base/units.hpp"
#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "format/check.hpp"
#include "format/paths.hpp"
#include "session/file.hpp"
#include "storage/publish.hpp"

namespace windrow {
namespace {

constexpr size_t k_definitions = 200;
constexpr size_t k_few = 16;

// What ranks tell each other of a few variables, as maxima.
struct FewPlaces {
  std::array<int64_t, 2 + 1 + 2 * k_few> words;
  std::span<int64_t> arguments = std::span(words).first(2);  // see SameArguments
  std::span<int64_t> made = std::span(words).subspan(2);     // rank 0's: how many; offset and bytes of each
  FewPlaces() { words.fill(std::numeric_limits<int64_t>::min()); }
  FewPlaces(const FewPlaces&) = delete;
  FewPlaces& operator=(const FewPlaces&) = delete;
  std::span<int64_t> all() { return words; }
};

}  // namespace

// Which groups have to be made so that `path`'s parents (and `itself`) are there. All ranks find the same.
Status File::missing_groups(const std::string& path, bool itself, Additions& added) const {
  std::vector<std::string> missing;  // innermost first: what is there has all its parents
  for (std::string group = itself ? path : parent_of(path);
       group != "/" && !group_numbers_.contains(group) && !added.group_numbers.contains(group);
       group = parent_of(group)) {
    if (variable_numbers_.contains(group) || added.variables.contains(group))
      return {Code::exists, fmt::format("\"{}\" in \"{}\" is a variable, not a group", group, path_)};
    if (dimension_of(group, {}) != nullptr)
      return {Code::exists, fmt::format("\"{}\" in \"{}\" is a dimension, not a group", group, path_)};
    if (link_targets_.contains(group))
      return {Code::exists, fmt::format("\"{}\" in \"{}\" is a soft link, not a group", group, path_)};
    missing.push_back(group);
  }
  for (auto group = missing.rbegin(); group != missing.rend(); ++group) {
    added.group_numbers.emplace(*group, static_cast<int>(catalog_.groups.size() + added.groups.size()));
    added.groups.push_back(std::move(*group));
  }
  return {};
}

void File::enter_groups(Additions& added) noexcept {
  for (std::string& group : added.groups)
    catalog_.groups.push_back({.path = std::move(group), .attributes = {}});
  group_numbers_.merge(added.group_numbers);
}

Status File::define_groups_on_root(std::span<const std::string> groups) {
  for (size_t i = 0; i < groups.size(); ++i)
    // One that is there already was made by a call that failed afterwards.
    if (Status status = format_->define_group(groups[i]); !status.ok() && status.code() != Code::exists) {
      withdraw_groups_on_root(groups.first(i));
      return status;
    }
  return {};
}

// What was to lie in them was refused.
void File::withdraw_groups_on_root(std::span<const std::string> groups) {
  for (auto group = groups.rbegin(); group != groups.rend(); ++group)
    (void)format_->undefine(*group, 0);
}

Status File::define_group(const std::string& path, Status local) {
  const CallScope call(*comm_, Call::define_group, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  Additions added;
  if (local.ok())
    local = guard([&]() -> Status {
      if (Status status = check_writable("define a group"); !status.ok())
        return status;
      if (Status status = check_new_path(path); !status.ok())
        return status;
      auto clean = clean_path(path);
      if (!clean.ok())
        return clean.status();
      if (Status status = missing_groups(clean.value(), true, added); !status.ok())
        return status;
      make_room(catalog_.groups, added.groups.size());
      return {};
    });
  // Every rank has its memory by the time of the work, so what the format has done is what all ranks will know.
  if (Status verdict = agree_same(
          *comm_, std::move(local), hash_of({path}), "the paths of the group", [&] { return quoted({path}); },
          [&] { return define_groups_on_root(added.groups); });
      !verdict.ok())
    return verdict;
  enter_groups(added);
  return {};
}

Status File::check_definition(VariableDefinition& definition, Additions& added) const {
  if (Status status = check_writable("define a variable"); !status.ok())
    return status;
  if (Status status = check_new_path(definition.path); !status.ok())
    return status;
  auto clean = clean_path(definition.path);
  if (!clean.ok())
    return clean.status();
  definition.path = std::move(clean).value();
  if (definition.path == "/")
    return {Code::bad_argument, "a variable needs a name"};
  if (definition.type == Type::none)
    return {Code::bad_argument, fmt::format("variable \"{}\": 0 is not a type of variables", definition.path)};
  if (Status status =
          check_details(fmt::format("variable \"{}\"", definition.path), definition.type, definition.details);
      !status.ok())
    return status;
  if (definition.null_space && !definition.shape.empty())
    return {Code::bad_argument, fmt::format("variable \"{}\": a null space has no dimensions", definition.path)};
  int64_t bytes = std::max<int64_t>(element_bytes(definition.type, definition.details), 1);
  for (size_t i = 0; i < definition.shape.size(); ++i) {
    if (definition.shape[i] < 0)
      return {Code::bad_argument, fmt::format("variable \"{}\": dimension {} is {}", definition.path,
                                              shown_dimension(i, definition.shape.size()), definition.shape[i])};
    const auto product = checked_multiply(bytes, std::max<int64_t>(definition.shape[i], 1));
    if (!product || *product > std::numeric_limits<int64_t>::max() / 8)
      return {Code::bad_argument, fmt::format("variable \"{}\" is larger than a file can be", definition.path)};
    bytes = *product;
  }
  if (is_taken(definition.path) || added.variables.contains(definition.path) ||
      added.group_numbers.contains(definition.path))
    return {Code::exists, fmt::format("\"{}\" has \"{}\" already", path_, definition.path)};
  return missing_groups(definition.path, false, added);
}

void File::enter(VariableDefinition definition, Placement placement) {
  Variable variable;
  variable.path = std::move(definition.path);
  variable.type = definition.type;
  variable.shape = std::move(definition.shape);
  variable.placement = placement;
  variable.chunking = std::move(definition.chunking);
  variable.extendible = definition.extendible;
  extendible_ = extendible_ || definition.extendible;
  variable.details = std::move(definition.details);
  variable.null_space = definition.null_space;
  variable.fill = std::move(definition.fill);
  const bool interleaved = variable.extendible && traits_.grows_as_one;
  if (variable.chunking.empty() && placement.bytes > 0 && !interleaved)
    write_state_.add_contiguous(catalog_.variables.size(), !variable.fill.empty());
  catalog_.variables.push_back(std::move(variable));
}

// Of variables with a place each. A file that is longer than its file system allows would be refused when it is closed,
// with all that is in it.
Status File::check_size_on_root(std::span<const VariableDefinition> definitions,
                                const std::map<int, SplitVariable>& splits, int first) {
  constexpr int64_t k_always = int64_t{1} << 40;  // what any file system for data has: nothing is tried
  constexpr int64_t k_most = std::numeric_limits<int64_t>::max() / 2;
  constexpr int k_mib_bits = 20;
  if (comm_->rank() != 0)
    return {};
  int64_t end = 0;
  std::string_view largest;
  int64_t most = 0;
  const auto add = [&end](int64_t bytes) { end += std::min(bytes, k_most - end); };
  for (size_t i = 0; i < definitions.size(); ++i) {
    const VariableDefinition& each = definitions[i];
    if (!each.chunking.empty() || splits.contains(first + static_cast<int>(i)))
      continue;
    int64_t bytes = element_bytes(each.type, each.details);
    for (const int64_t extent : each.shape)
      bytes *= extent;  // check_definition() has seen that it can
    add(bytes);
    if (bytes > most)
      most = bytes, largest = each.path;
  }
  if (end >> k_mib_bits < free_mib_) {
    free_mib_ -= static_cast<int>(end >> k_mib_bits) + 1;
    return {};
  }
  for (const Variable& variable : catalog_.variables)
    add(variable.placement.bytes);
  free_mib_ = static_cast<int>(std::max<int64_t>(k_always - end, 0) >> k_mib_bits);
  const auto width = static_cast<int>(
      std::bit_width(static_cast<uint64_t>(end)));  // file systems end at a power of two, or little below
  if (end <= k_always || most == 0 || width == size_tried_)
    return {};
  Status status = check_file_size(path_, end);
  if (status.ok()) {
    size_tried_ = width;
    return status;
  }
  return {status.code(),
          fmt::format("variable \"{}\" of {}: {}; a variable with chunks takes room as it is written only", largest,
                      format_bytes(most), status.message())};
}

namespace {

// For people: what tells two definitions apart, mostly.
std::string description_of(const VariableDefinition& definition) {
  std::string text =
      fmt::format("\"{}\" of {}, shape {}", definition.path, type_name(definition.type), shown_sizes(definition.shape));
  if (definition.shape.empty())
    text = fmt::format("\"{}\" of {}, a scalar", definition.path, type_name(definition.type));
  if (!definition.chunking.empty())
    text += fmt::format(", chunks {}", fmt::join(definition.chunking.shape, " x "));
  if (!definition.chunking.filters.empty())
    text += fmt::format(", filters {}", text_of(definition.chunking.filters));
  if (definition.extendible)
    text += ", extendible";
  if (definition.big_endian)
    text += ", big-endian";
  if (!definition.fill.empty())
    text += ", with a fill value";
  return text;
}

void add_word(std::string& text, uint64_t word) {
  text.append(reinterpret_cast<const char*>(&word), sizeof word);
}

void add_text(std::string& text, std::string_view more) {
  add_word(text, more.size());
  text += more;
}

void add_numbers(std::string& text, std::span<const int64_t> numbers) {
  add_word(text, numbers.size());
  for (const int64_t each : numbers)
    add_word(text, static_cast<uint64_t>(each));
}

// All that must be the same on every rank, for a hash.
void add_definition(std::string& text, const VariableDefinition& definition) {
  add_text(text, definition.path);
  add_numbers(text, definition.shape);
  add_numbers(text, definition.chunking.shape);
  add_numbers(text, std::array<int64_t, 5>{static_cast<int64_t>(definition.type), definition.big_endian,
                                           definition.extendible, definition.null_space, definition.split_asked});
  add_word(text, static_cast<uint64_t>(definition.subfiles));
  add_text(text, definition.chunking.filters.empty() ? std::string() : text_of(definition.chunking.filters));
  add_numbers(text, std::array<int64_t, 3>{definition.details.bytes, definition.details.text_ascii,
                                           static_cast<int64_t>(definition.details.text_padding)});
  add_text(text, definition.details.tag);
  add_text(text, definition.details.enumeration);
  add_text(text, {reinterpret_cast<const char*>(definition.fill.data()), definition.fill.size()});
  add_text(text, definition.split.axes);
  add_text(text, definition.split.parts);
}

}  // namespace

Result<int> File::define_variables(std::span<VariableDefinition> definitions, Status local) {
  const CallScope call(*comm_, Call::define_variables, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  Additions added;  // made beforehand, so that entering them cannot fail
  std::map<int, SplitVariable> splits;
  uint64_t arguments = 0;
  SubfileRequest set;
  const auto first = static_cast<int>(catalog_.variables.size());
  if (local.ok())
    local = guard([&]() -> Status {
      std::string text;
      add_word(text, definitions.size());
      for (VariableDefinition& definition : definitions) {
        add_definition(text, definition);
        if (Status status = check_definition(definition, added); !status.ok())
          return status;
        added.variables.emplace(definition.path, first + static_cast<int>(added.variables.size()));
      }
      arguments = hash_of({text});
      auto wish = set_for(definitions);
      if (!wish.ok())
        return wish.status();
      set = wish.value();
      for (size_t i = 0; i < definitions.size() && subfiles_; ++i) {
        const VariableDefinition& definition = definitions[i];
        auto split = split_of(definition, default_subfiles());
        if (!split.ok())
          return split.status();
        if (auto& parts = split.value()) {
          SplitVariable made(*std::move(parts), definition.path, element_bytes(definition.type, definition.details),
                             definition.extendible);
          made.fill = definition.fill;
          made.chunk = definition.chunking.shape;
          made.filters = text_of(definition.chunking.filters);
          splits.emplace(first + static_cast<int>(i), std::move(made));
        }
      }
      if (Status status = check_room_in_set(definitions, splits, first); !status.ok())
        return status;
      if (set.count > 0)
        return {};
      if (Status status = check_size_on_root(definitions, splits, first); !status.ok())
        return status;
      make_room(catalog_.groups, added.groups.size());
      make_room(catalog_.variables, definitions.size());
      return grow_reduction(catalog_.variables.size() + definitions.size());
    });
  const auto describe = [&] {
    std::vector<std::string> texts;
    for (const VariableDefinition& each : definitions)
      texts.push_back(description_of(each));
    return texts;
  };
  // Rank 0 makes a few in the same agreement.
  FewPlaces places;
  SameArguments same(local, arguments);
  std::copy_n(same.numbers().begin(), 2, places.arguments.begin());
  bool at_work = false;
  Status verdict = agree_and_work(
      *comm_, std::move(local), Reduction{.maximum = places.all(), .sum = {}, .bits = {}},
      [&](const Reduction& agreed) -> Status {
        if (SameArguments::differ(agreed.maximum) || set.count > 0 || !splits.empty() || definitions.size() > k_few)
          return {};
        return make_on_root(definitions, added.groups, agreed.maximum.subspan(2));
      },
      &at_work);
  if (!verdict.ok() && (!at_work || verdict.code() == Code::mpi))
    return verdict;
  if (SameArguments::differ(places.arguments))
    return name_difference(*comm_, arguments, "number, paths, types, shapes or options of the variables", describe);
  if (set.count > 0) {
    if (verdict.ok())
      verdict = become_set(set);
    if (!verdict.ok())
      return verdict;
    return define_variables(definitions, {});
  }
  const int64_t made = places.made[0];  // negative: none yet
  // Every rank has its memory by now, so what the format has done is what all ranks will know.
  unplaced_ = traits_.places_late;  // after an error too: a subfile that was closed to open another may have moved
  if (!splits.empty()) {
    if (verdict = define_parts(definitions, splits, first); !verdict.ok())
      return verdict;
    for (const auto& [variable, split] : splits)
      write_state_[static_cast<size_t>(variable)].changed = true;
    subfiles_->variables().merge(splits);
  }
  if (made >= 0)
    enter_made(definitions, places.made);
  for (size_t begin = made >= 0 ? definitions.size() : 0; begin < definitions.size() && verdict.ok();
       begin += k_definitions)
    verdict = define_some(definitions.subspan(begin, std::min(k_definitions, definitions.size() - begin)),
                          begin == 0 ? std::span<const std::string>(added.groups) : std::span<const std::string>());
  // Groups may be there that nobody knows when their variable could not be made: see define_groups_on_root().
  const auto end = static_cast<int>(catalog_.variables.size());
  if (end > first)
    enter_groups(added);
  std::erase_if(added.variables, [&](const auto& entry) { return entry.second >= end; });
  if (subfiles_ && !verdict.ok())
    withdraw_parts(subfiles_->variables(), end);
  if (subfiles_)
    subfiles_->forget_from(end);
  if (subfiles_ && !verdict.ok())
    drop_unused_subfiles();
  variable_numbers_.merge(added.variables);
  const auto grows = [](const VariableDefinition& each) { return each.extendible; };
  if (std::any_of(definitions.begin(), definitions.end(), grows))
    grow_as_one();
  tell_set_of_growth();
  if (subfiles_)
    fit_line();
  if (!verdict.ok())
    return verdict;
  return first;
}

// Collective. As many as one agreement tells of without memory of its own. Those that the format has made are entered
// on every rank.
Status File::define_some(std::span<VariableDefinition> definitions, std::span<const std::string> groups) {
  std::array<int64_t, 1 + 2 * k_definitions> word;  // rank 0's, as maxima: how many were made; offset and bytes of each
  const std::span<int64_t> places = std::span(word).first(1 + 2 * definitions.size());
  std::fill(places.begin(), places.end(), std::numeric_limits<int64_t>::min());
  Status local = comm_->rank() == 0 ? make_on_root(definitions, groups, places) : Status{};
  Status verdict = agree(*comm_, std::move(local), Reduction{.maximum = places, .sum = {}, .bits = {}});
  if (verdict.code() != Code::mpi)
    enter_made(definitions, places);
  return verdict;
}

// Rank 0 alone. `places`: how many were made; offset and bytes of each.
Status File::make_on_root(std::span<const VariableDefinition> definitions, std::span<const std::string> groups,
                          std::span<int64_t> places) {
  places[0] = 0;
  bool has_groups = false;
  Status made = guard([&]() -> Status {
    if (Status status = define_groups_on_root(groups); !status.ok())
      return status;
    has_groups = true;
    for (size_t i = 0; i < definitions.size(); ++i) {
      const auto number = static_cast<int>(catalog_.variables.size() + i);
      if (const SplitVariable* split = subfiles_ ? subfiles_->find(number) : nullptr) {
        if (Status status = define_split_on_root(definitions[i], *split); !status.ok())
          return status;
        places[1 + 2 * i] = -1;
        places[2 + 2 * i] = checked_product(definitions[i].shape).value_or(0) * split->element_bytes;
        ++places[0];
        continue;
      }
      auto placement = format_->define_variable(definitions[i]);
      if (!placement.ok())
        return placement.status();
      places[1 + 2 * i] = placement.value().offset;
      places[2 + 2 * i] = placement.value().bytes;
      ++places[0];
    }
    return {};
  });
  if (!made.ok() && has_groups && places[0] == 0)
    withdraw_groups_on_root(groups);
  return made;
}

void File::enter_made(std::span<VariableDefinition> definitions, std::span<const int64_t> places) {
  for (size_t i = 0; i < static_cast<size_t>(places[0]); ++i) {
    const bool big_endian = definitions[i].big_endian;
    enter(std::move(definitions[i]),
          {.offset = places[1 + 2 * i], .bytes = places[2 + 2 * i], .big_endian = big_endian});
  }
}

const std::vector<Attribute>* File::attributes_of(std::string_view object) const {
  auto clean = clean_path(std::string(object));
  return clean.ok() ? const_cast<File*>(this)->find_attributes(follow(std::move(clean).value())) : nullptr;
}

std::vector<Attribute>* File::find_attributes(std::string_view object) noexcept {
  const auto variable = variable_numbers_.find(object);
  if (variable != variable_numbers_.end())
    return &catalog_.variables[static_cast<size_t>(variable->second)].attributes;
  const auto group = group_numbers_.find(object);
  return group == group_numbers_.end() ? nullptr : &catalog_.groups[static_cast<size_t>(group->second)].attributes;
}

Status File::put_attribute(const std::string& object, Attribute attribute, Status local) {
  const CallScope call(*comm_, Call::put_attribute, &identity_);
  if (Status before = end_pending(); !before.ok())
    return before;
  std::string clean;
  std::vector<Attribute>* attributes = nullptr;
  if (local.ok())
    local = guard([&]() -> Status {
      if (Status status = check_writable("write an attribute"); !status.ok())
        return status;
      auto path = clean_path(object);
      if (!path.ok())
        return path.status();
      clean = follow(std::move(path).value());
      if (attribute.name.empty())
        return {Code::bad_argument, fmt::format("an attribute of \"{}\" needs a name", clean)};
      if (Status status = check_new_name(attribute.name); !status.ok())
        return status;
      if (subfiles_ && attribute.name.starts_with(Subfiles::k_reserved))
        return {Code::bad_argument,
                fmt::format("attribute \"{}\" of \"{}\": names that begin with {} are for the map of subfiles",
                            attribute.name, clean, Subfiles::k_reserved)};
      attributes = find_attributes(clean);
      if (attributes == nullptr)
        return {Code::not_found, fmt::format("\"{}\" has no group or variable \"{}\"", path_, clean)};
      make_room(*attributes, 1);
      return {};
    });
  if (Status verdict =
          agree_same(*comm_, std::move(local), hash_of({object, attribute.name}), "object or name of the attribute",
                     [&] {
                       return quoted({object, attribute.name});
                     });
      !verdict.ok())
    return verdict;
  // Rank 0's value counts, so it is that which the other ranks keep.
  std::vector<std::byte> bytes;
  local = Status{};
  if (comm_->rank() == 0)
    local = guard([&] {
      Catalog sent;
      sent.groups.push_back({.path = "/", .attributes = {attribute}});
      bytes = serialize(sent);
      return Status{};
    });
  local = share_from_root(*comm_, std::move(local), bytes);
  Result<Catalog> one{Status{}};
  if (local.ok())
    local = guard([&] {
      one = deserialize(bytes);
      return one.status();
    });
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  // Every rank has it by now, so what the format has done is what all ranks will know.
  local = comm_->rank() == 0 ? guard([&] { return format_->put_attribute(clean, attribute); }) : Status{};
  const bool in_parts = is_split(clean);
  if (in_parts)
    local = agree(*comm_, std::move(local));  // what the base file refuses comes to no subfile
  if (local.ok() && in_parts)
    local = guard([&] {
      const Attribute& value = one.value().groups.front().attributes.front();
      return for_own_parts(clean, [&](Format& format) { return format.put_attribute(clean, value); });
    });
  unplaced_ = traits_.places_late;
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  Attribute& value = one.value().groups.front().attributes.front();
  for (Attribute& existing : *attributes)
    if (existing.name == value.name) {
      existing = std::move(value);
      return {};
    }
  attributes->push_back(std::move(value));  // room was made beforehand
  return {};
}

}  // namespace windrow
