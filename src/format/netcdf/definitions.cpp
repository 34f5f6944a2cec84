// SPDX-License-Identifier: BSD-3-Clause
// Definitions of objects and attributes.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "format/check.hpp"
#include "format/netcdf/netcdf_class.hpp"
#include "format/netcdf/types.hpp"
#include "format/paths.hpp"

namespace windrow {
namespace {

constexpr const char* k_instead = "format=hdf5 creates a file that netCDF-4 can read";

}  // namespace

// A header with unknown contents cannot be rewritten.
Status NetcdfFormat::definable(const char* what, const std::string& path) const {
  Status status = writable(what, path);
  if (!status.ok() || mode_ == FormatMode::create)
    return status;
  if (!has_unsupported_)
    return {};
  const auto unsupported =
      std::find_if(catalog_.variables.begin(), catalog_.variables.end(),
                   [&](const Variable& each) { return !each.unsupported.empty() && !split_.contains(each.path); });
  if (unsupported == catalog_.variables.end())
    return {};
  return {Code::unsupported,
          fmt::format("{} \"{}\": nothing can be defined in \"{}\", because its variable \"{}\" has {}", what, path,
                      path_, unsupported->path, unsupported->unsupported)};
}

// The version of an existing file is kept unless another is requested.
int NetcdfFormat::highest_version() const noexcept {
  if (options_.netcdf_version != 0)
    return options_.netcdf_version;
  return mode_ == FormatMode::update ? places_.version : 5;
}

Status NetcdfFormat::check_type(ObjectName object, NetcdfType type) const {
  if (version_for(type) <= highest_version())
    return {};
  return {Code::unsupported,
          fmt::format("{}: version {} of netCDF classic has no type {}; version {} does (netcdf_version={}), and {}",
                      object(), highest_version(), type_name(type_of_netcdf(type)), version_for(type),
                      version_for(type), k_instead)};
}

Status NetcdfFormat::define_group(const std::string& path) {
  return guard([&] {
    Status status = writable("group", path);
    status.update(check_object_path(path));
    if (status.ok() && path == "/")
      status = {Code::exists, "\"/\" exists already"};
    if (status.ok())
      status = {Code::unsupported, fmt::format("group \"{}\": netCDF classic has no groups; {}", path, k_instead)};
    return status;
  });
}

Variable* NetcdfFormat::find(const std::string& path) {
  const auto found = numbers_.find(path);
  return found == numbers_.end() ? nullptr : &catalog_.variables[found->second];
}

std::vector<Attribute>* NetcdfFormat::find_attributes(const std::string& object) {
  if (object == "/")
    return &catalog_.groups.front().attributes;
  Variable* variable = find(object);
  return variable ? &variable->attributes : nullptr;
}

Status NetcdfFormat::check_new(const VariableDefinition& definition) {
  const auto name = [&] { return fmt::format("variable \"{}\"", definition.path); };
  const auto cannot = [&](std::string_view why) {
    return Status(Code::unsupported, fmt::format("{}: netCDF classic has {}; {}", name(), why, k_instead));
  };
  if (parent_of(definition.path) != "/")
    return cannot("no groups");
  if (Status status = check_new_netcdf_name(name, std::string_view(definition.path).substr(1)); !status.ok())
    return status;
  if (!definition.chunking.empty())
    return cannot("no chunks and no filters");
  if (definition.null_space)
    return cannot("no null spaces");
  if (is_moved_whole(definition.type, definition.details))
    return cannot("no text of variable length (the option element_bytes makes it fixed)");
  const NetcdfType type = netcdf_type(definition.type);
  if (type == NetcdfType::none)
    return cannot(fmt::format("no type {}", type_name(definition.type)));
  if (!definition.details.enumeration.empty())
    return cannot("no names of values");
  const auto& fill = definition.fill;
  if (definition.type == Type::text &&
      std::any_of(fill.begin(), fill.end(), [&](std::byte each) { return each != fill.front(); }))
    return cannot("fill values of text that are one character");
  if (Status status = check_type(name, type); !status.ok())
    return status;
  std::string too_large = what_does_not_fit(definition, catalog_.variables, highest_version(), sum_);
  return too_large.empty() ? Status() : Status(Code::unsupported, std::move(too_large));
}

// Refused at the definition: at the next flush, all that a new file has would be lost. Places all variables for that if
// they are near a limit. After another result than success the caller takes the definition back.
Status NetcdfFormat::check_places() {
  return guard([&] {
    const NetcdfBound bound{most_header_bytes_, places_, options_};
    if (fits_surely(catalog_.variables, records_, highest_version(), sum_, bound))
      return Status();
    auto all = contents();
    if (!all.ok())
      return all.status();
    const int version = std::max(places_.version, options_.netcdf_version);
    return find_places(std::move(all).value(), places_, version, highest_version(), options_).status();
  });
}

// The number of records of the file with this variable.
Result<int64_t> NetcdfFormat::records_with(const VariableDefinition& definition) const {
  if (definition.extendible && highest_version() < 5 && definition.shape.front() > INT32_MAX)
    return Status(Code::unsupported, fmt::format("variable \"{}\" of {}: version {} of netCDF classic allows at most "
                                                 "{}; netcdf_version=5 allows more",
                                                 definition.path, counted(definition.shape.front(), "record"),
                                                 highest_version(), INT32_MAX));
  if (!definition.extendible || definition.shape.front() == 0 || definition.shape.front() == records_)
    return records_;
  if (records_ == 0)
    return definition.shape.front();
  return Status(Code::unsupported, fmt::format("variable \"{}\" of {}: all extendible variables of a netCDF classic "
                                               "file have the same number of records, now {}; use 0 for this number",
                                               definition.path, counted(definition.shape.front(), "record"), records_));
}

namespace {

void measure(Variable& variable) {
  variable.placement.bytes =
      checked_product(variable.shape).value_or(0) * element_bytes(variable.type, variable.details);
}

}  // namespace

// Sets the length of all extendible variables.
void NetcdfFormat::set_records(int64_t records) {
  changed_ = changed_ || records != records_;
  records_ = records;
  for (Variable& variable : catalog_.variables) {
    if (!variable.extendible)
      continue;
    variable.shape.front() = records;
    measure(variable);
  }
}

// The file is as before after an error.
Status NetcdfFormat::enter_new(Variable variable, int64_t records) {
  constexpr int64_t k_numbers = 256;   // bytes of all but names and values
  constexpr int64_t k_dimension = 96;  // with a name that was made up, also in an attribute of a split variable
  most_header_bytes_ += k_numbers + std::ssize(variable.path) + std::ssize(variable.fill) +
                        k_dimension * (std::ssize(variable.shape) + 1);
  const int64_t records_before = records_;
  const bool changed_before = changed_;
  const bool is_extendible = variable.extendible;
  make_room(catalog_.variables, 1);
  const auto entry = numbers_.emplace(variable.path, catalog_.variables.size()).first;
  catalog_.variables.push_back(std::move(variable));
  if (records != records_)
    set_records(records);
  if (is_extendible)
    catalog_.variables.back().shape.front() = records_;
  measure(catalog_.variables.back());
  Status status = check_places();
  if (status.ok())
    return status;
  catalog_.variables.pop_back();
  numbers_.erase(entry);
  sum_ = {};
  if (records_ != records_before)
    set_records(records_before);
  changed_ = changed_before;
  return status;
}

Result<Placement> NetcdfFormat::define_variable(const VariableDefinition& definition) {
  Placement placement{.offset = -1, .bytes = 0, .big_endian = true};
  Status status = guard([&] {
    Status valid = definable("variable", definition.path);
    const Result<int64_t> bytes = check_definition(definition);
    valid.update(bytes.status());
    if (valid.ok())
      valid = check_new(definition);
    if (valid.ok() && find(definition.path))
      valid = {Code::exists, fmt::format("\"{}\" exists already", definition.path)};
    if (!valid.ok())
      return valid;
    const Result<int64_t> records = records_with(definition);
    if (!records.ok())
      return records.status();
    Variable variable;
    variable.path = definition.path;
    variable.type = definition.type;
    variable.shape = definition.shape;
    variable.extendible = definition.extendible;
    variable.details = definition.details;
    variable.fill = definition.fill;
    variable.placement = {.offset = -1, .bytes = bytes.value(), .big_endian = true};
    if (!definition.fill.empty()) {
      const auto value =
          definition.type == Type::text ? std::span(definition.fill).first(1) : std::span(definition.fill);
      const NetcdfAttribute fill{.name = k_fill_attribute,
                                 .type = netcdf_type(definition.type),
                                 .count = 1,
                                 .data = reversed_if_little(value)};
      variable.attributes.push_back(from_netcdf(fill));
    }
    valid = enter_new(std::move(variable), records.value());
    if (valid.ok())
      placement.bytes = catalog_.variables.back().placement.bytes;
    return valid;
  });
  if (!status.ok())
    return status;
  return placement;
}

Status NetcdfFormat::undefine(const std::string& path, int64_t records) {
  return guard([&] {
    if (Status status = writable("variable", path); !status.ok())
      return status;
    const Variable* variable = find(path);
    if (!variable)
      return Status(Code::not_found, fmt::format("there is no variable \"{}\"", path));
    const auto number = variable - catalog_.variables.data();
    forget(places_, static_cast<size_t>(number));
    catalog_.variables.erase(catalog_.variables.begin() + number);
    sum_ = {};
    numbers_.erase(path);
    for (auto& [other, place] : numbers_)
      if (place > static_cast<size_t>(number))
        --place;
    split_.erase(path);
    const bool grows = std::any_of(catalog_.variables.begin(), catalog_.variables.end(),
                                   [](const Variable& each) { return each.extendible; });
    set_records(grows ? records : 0);
    changed_ = true;
    return Status();
  });
}

// In the file it is a scalar, and an attribute names its dimensions, which are defined for it.
Status NetcdfFormat::define_split(const VariableDefinition& definition, std::span<const Part>) {
  return guard([&] {
    const auto [entry, is_new] = split_.insert(definition.path);
    Status status = define_variable(definition).status();
    if (!status.ok() && is_new)
      split_.erase(entry);
    return status;
  });
}

namespace {

// Why fill_of_type() has no result.
std::string why_no_fill(int64_t count, Type given, Type wanted) {
  if (count != 1)
    return fmt::format("it has {} values; a fill value is a single one", count);
  return fmt::format("its value, of type {}, is outside of the values of the variable's type, {}", type_name(given),
                     type_name(wanted));
}

}  // namespace

// The attributes are as before after an error.
Status NetcdfFormat::enter_new(std::vector<Attribute>& attributes, Attribute attribute) {
  const auto same = std::find_if(attributes.begin(), attributes.end(),
                                 [&](const Attribute& each) { return each.name == attribute.name; });
  if (same == attributes.end()) {
    attributes.push_back(std::move(attribute));
    Status status = check_places();
    if (!status.ok())
      attributes.pop_back();
    return status;
  }
  std::swap(*same, attribute);
  Status status = check_places();
  if (!status.ok())
    std::swap(*same, attribute);
  return status;
}

Status NetcdfFormat::put_attribute(const std::string& object, const Attribute& attribute) {
  return guard([&] {
    Status status = definable("attribute of", object);
    status.update(check_attribute(object, attribute));
    if (!status.ok())
      return status;
    std::vector<Attribute>* attributes = find_attributes(object);
    if (!attributes)
      return Status(Code::not_found, fmt::format("there is no \"{}\"", object));
    auto stored = to_netcdf(object, attribute);
    if (!stored.ok())
      return stored.status();
    Attribute entered = attribute;
    const Variable* variable = attribute.name == k_fill_attribute ? find(object) : nullptr;
    if (variable) {
      auto fitting = fill_of_type(stored.value(), netcdf_type(variable->type));
      if (!fitting)
        return Status(Code::bad_argument,
                      fmt::format("attribute \"{}\" of \"{}\": {}", attribute.name, object,
                                  why_no_fill(stored.value().count, attribute.type, variable->type)));
      if (fitting->type != stored.value().type)
        entered = from_netcdf(*fitting);
      stored = *std::move(fitting);
    }
    const auto name = [&] { return fmt::format("attribute \"{}\" of \"{}\"", attribute.name, object); };
    if (status = check_new_netcdf_name(name, attribute.name); !status.ok())
      return status;
    if (status = check_type(name, stored.value().type); !status.ok())
      return status;
    most_header_bytes_ += 64 + std::ssize(attribute.name) + std::ssize(stored.value().data);
    return enter_new(*attributes, std::move(entered));
  });
}

Status NetcdfFormat::delete_attribute(const std::string& object, const std::string& name) {
  return guard([&] {
    if (Status status = definable("attribute of", object); !status.ok())
      return status;
    std::vector<Attribute>* attributes = find_attributes(object);
    if (!attributes)
      return Status(Code::not_found, fmt::format("there is no \"{}\"", object));
    if (std::erase_if(*attributes, [&](const Attribute& each) { return each.name == name; }) > 0)
      return Status();
    return Status(Code::not_found, fmt::format("\"{}\" has no attribute \"{}\"", object, name));
  });
}

Status NetcdfFormat::define_link(const SoftLink& link) {
  Status status = writable("link", link.path);
  if (status.ok())
    status = {Code::unsupported, fmt::format("link \"{}\": netCDF classic has no links; {}", link.path, k_instead)};
  return status;
}

Status NetcdfFormat::define_dimension(const Dimension& dimension) {
  return guard([&] {
    Status status = definable("dimension", dimension.path);
    status.update(check_dimension(dimension));
    if (status.ok() && parent_of(dimension.path) != "/")
      status = {Code::unsupported,
                fmt::format("dimension \"{}\": netCDF classic has no groups; {}", dimension.path, k_instead)};
    if (status.ok())
      status = check_new_netcdf_name([&] { return fmt::format("dimension \"{}\"", dimension.path); },
                                     std::string_view(dimension.path).substr(1));
    if (status.ok() && dimensions_.has(dimension.path.substr(1)))
      status = {Code::exists, fmt::format("\"{}\" exists already", dimension.path)};
    if (!status.ok())
      return status;
    if (dimension.length == 0 && !dimensions_.unlimited().empty())
      return Status(Code::unsupported,
                    fmt::format("dimension \"{}\" of length 0: netCDF classic has only one unlimited dimension, here "
                                "\"{}\", and only that can have this length; format=hdf5 allows it",
                                dimension.path, dimensions_.unlimited()));
    if (std::string what = is_too_long(dimension.path, dimension.length, highest_version()); !what.empty())
      return Status(Code::unsupported, what);
    most_header_bytes_ += 64 + std::ssize(dimension.path);
    dimensions_.add(dimension.path.substr(1), dimension.length, dimension.length == 0);
    return status;
  });
}

// A variable with the name and the length of a dimension is named by it.
Status NetcdfFormat::name_coordinate(const std::string& path, int64_t length, bool is_unlimited) {
  Variable* coordinate = find(path);
  if (!coordinate || coordinate->shape.size() != 1 || coordinate->shape.front() != length)
    return {};
  if (!coordinate->dimensions.empty() && !coordinate->dimensions.front().empty())
    return {};  // has the name of a dimension that is not its own
  if (dimensions_.has(path.substr(1)) && coordinate->extendible != is_unlimited)
    return {};  // the dimension was defined, and the variable has this length by chance
  Status status = dimensions_.name(*coordinate, {path});
  if (status.ok())
    coordinate->dimensions = {path};
  return status;
}

Status NetcdfFormat::name_dimensions(const std::string& variable, const std::vector<std::string>& dimensions) {
  return guard([&] {
    if (Status status = definable("dimensions of", variable); !status.ok())
      return status;
    Variable* named = find(variable);
    if (!named)
      return Status(Code::not_found, fmt::format("there is no variable \"{}\"", variable));
    const auto name = [&] { return fmt::format("dimensions of \"{}\"", variable); };
    std::vector<std::string> fitting = dimensions;
    NetcdfDimensions::Lengths own;  // a repeated name may have two lengths, as a part of a square
    for (size_t i = 0; i < dimensions.size(); ++i) {
      const std::string& path = dimensions[i];
      if (path.empty())
        continue;
      most_header_bytes_ += 64 + 2 * std::ssize(path);  // a split variable has the names in an attribute too
      if (Status status = check_new_netcdf_name(name, std::string_view(path).substr(1)); !status.ok())
        return status;
      if (i > 0 || !named->extendible) {
        fitting[i] = "/" + dimensions_.fitting(path.substr(1), named->shape[i], own);
        if (const std::string own_name = fitting[i].substr(1); !dimensions_.has(own_name))
          own.emplace(own_name, named->shape[i]);
      }
      if (path == variable || fitting[i] != path)
        continue;
      if (Status status = name_coordinate(path, named->shape[i], i == 0 && named->extendible); !status.ok())
        return status;
    }
    if (Status status = dimensions_.name(*named, fitting); !status.ok())
      return status;
    named->dimensions = std::move(fitting);
    return Status();
  });
}

}  // namespace windrow
