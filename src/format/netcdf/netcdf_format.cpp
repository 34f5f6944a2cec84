// SPDX-License-Identifier: BSD-3-Clause
// The catalog is the intended state of the file. lay_out() makes a header from it, which the next flush writes.
#include "format/netcdf/netcdf_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "format/check.hpp"
#include "format/netcdf/dimensions.hpp"
#include "format/netcdf/header.hpp"
#include "format/netcdf/places.hpp"
#include "format/netcdf/signature.hpp"
#include "format/netcdf/split.hpp"
#include "format/netcdf/types.hpp"
#include "storage/overwrite.hpp"

namespace windrow {
namespace {

constexpr const char* k_instead = "format=hdf5 creates a file that netCDF-4 can read";

class NetcdfFormat final : public Format {
 public:
  NetcdfFormat(std::string path, FormatMode mode, const FormatOptions& options, std::unique_ptr<Store> file)
      : path_(std::move(path)),
        mode_(mode),
        options_(options),
        file_(std::move(file)),
        is_temporary_file_(mode == FormatMode::create) {
    catalog_.groups.push_back({.path = "/", .attributes = {}});
  }
  Status read();

  Status define_group(const std::string& path) override;
  Result<Placement> define_variable(const VariableDefinition& definition) override;
  Status undefine(const std::string& path, int64_t records) override;
  bool can_split() const noexcept override { return true; }
  Status define_split(const VariableDefinition& definition, std::span<const Part> parts) override;
  Status put_attribute(const std::string& object, const Attribute& attribute) override;
  Status delete_attribute(const std::string& object, const std::string& name) override;
  Status define_link(const SoftLink& link) override;
  Status define_dimension(const Dimension& dimension) override;
  Status name_dimensions(const std::string& variable, const std::vector<std::string>& dimensions) override;
  Result<std::vector<std::string>> read_texts(const std::string& path) override;
  Status write_texts(const std::string& path, const std::vector<std::string>& texts) override;
  Result<Catalog> catalog() override;
  Status extend(const std::string& path, std::span<const int64_t> shape) override;
  FormatTraits traits() const noexcept override {
    return {.places_late = true, .grows_as_one = true, .big_endian = true, .names_dimensions = true};
  }
  Status tell_as_stored(std::vector<Variable>& variables) override;
  Status cut(int64_t records) override;
  Result<Layout> lay_out() override;
  Status write_anew(std::unique_ptr<Store> file) override;
  void take_layout() noexcept override;
  void take_name(std::string) noexcept override { is_temporary_file_ = false; }
  void drop_changes() noexcept override { changed_ = false; }
  Status flush() override;
  Status close() override;

 private:
  Status writable(const char* what, const std::string& path) const;
  Status definable(const char* what, const std::string& path) const;
  int highest_version() const noexcept;
  Status check_type(ObjectName object, NetcdfType type) const;
  Status check_new(const VariableDefinition& definition);
  Result<int64_t> records_with(const VariableDefinition& definition) const;
  Status enter(const NetcdfContents& contents);
  Placement place_in(const NetcdfPlaces& places, size_t number) const noexcept;
  Variable* find(const std::string& path);
  std::vector<Attribute>* find_attributes(const std::string& object);
  Result<NetcdfContents> contents() const;
  Status check_length(int64_t records, int64_t file_bytes);
  Status check_whole(const NetcdfPlaces& next);
  Status write_header_to(Store& file, bool is_temporary_file);
  void set_records(int64_t records);

  std::string path_;
  FormatMode mode_;
  FormatOptions options_;
  std::unique_ptr<Store> file_, anew_;  // null when closed; of the rewritten file
  Catalog catalog_;
  NetcdfDimensions dimensions_;
  std::unordered_map<std::string, size_t> numbers_;  // of the variables, by path
  std::set<std::string> split_;                      // paths of split variables
  bool has_unsupported_ = false;                     // when the file was opened
  int64_t records_ = 0, stored_records_ = 0;         // intended, and in the header of the file
  NetcdfSum sum_;                                    // of the variables
  NetcdfPlaces places_, next_;                       // in effect, and of the rewritten file
  int64_t missing_until_ = 0;       // of an opened file that ends before its header says: its intended end; else 0
  bool changed_ = false;            // the header of the file is outdated
  bool is_temporary_file_ = false;  // no other program has the file
};

Status NetcdfFormat::writable(const char* what, const std::string& path) const {
  if (file_ && mode_ != FormatMode::read)
    return {};
  return {Code::bad_state,
          fmt::format("{} \"{}\": the file is {}", what, path, file_ ? "open for reading only" : "closed")};
}

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

// The number of records of the file with this variable.
Result<int64_t> NetcdfFormat::records_with(const VariableDefinition& definition) const {
  if (!definition.extendible || definition.shape.front() == 0 || definition.shape.front() == records_)
    return records_;
  if (records_ == 0)
    return definition.shape.front();
  return Status(Code::unsupported, fmt::format("variable \"{}\" of {}: all extendible variables of a netCDF classic "
                                               "file have the same number of records, now {}; use 0 for this number",
                                               definition.path, counted(definition.shape.front(), "record"), records_));
}

void measure(Variable& variable) {
  variable.placement.bytes =
      checked_product(variable.shape).value_or(0) * element_bytes(variable.type, variable.details);
}

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
    numbers_.emplace(variable.path, catalog_.variables.size());
    catalog_.variables.push_back(std::move(variable));
    if (records.value() != records_)
      set_records(records.value());
    if (definition.extendible)
      catalog_.variables.back().shape.front() = records_;
    measure(catalog_.variables.back());
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
    split_.insert(definition.path);
    Status status = define_variable(definition).status();
    if (!status.ok() && status.code() != Code::exists)
      split_.erase(definition.path);
    return status;
  });
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
                      fmt::format("attribute \"{}\" of \"{}\": it must be a single value of the variable's type, {}",
                                  attribute.name, object, type_name(variable->type)));
      if (fitting->type != stored.value().type)
        entered = from_netcdf(*fitting);
      stored = *std::move(fitting);
    }
    const auto name = [&] { return fmt::format("attribute \"{}\" of \"{}\"", attribute.name, object); };
    if (status = check_new_netcdf_name(name, attribute.name); !status.ok())
      return status;
    if (status = check_type(name, stored.value().type); !status.ok())
      return status;
    const auto same = std::find_if(attributes->begin(), attributes->end(),
                                   [&](const Attribute& each) { return each.name == attribute.name; });
    if (same != attributes->end())
      *same = std::move(entered);
    else
      attributes->push_back(std::move(entered));
    return Status();
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
    dimensions_.add(dimension.path.substr(1), dimension.length, dimension.length == 0);
    return status;
  });
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
      if (Status status = check_new_netcdf_name(name, std::string_view(path).substr(1)); !status.ok())
        return status;
      if (i > 0 || !named->extendible) {
        fitting[i] = "/" + dimensions_.fitting(path.substr(1), named->shape[i], own);
        if (const std::string own_name = fitting[i].substr(1); !dimensions_.has(own_name))
          own.emplace(own_name, named->shape[i]);
      }
      Variable* coordinate = path == variable || fitting[i] != path ? nullptr : find(path);
      if (!coordinate || coordinate->shape.size() != 1 || coordinate->shape.front() != named->shape[i])
        continue;
      if (!coordinate->dimensions.empty() && !coordinate->dimensions.front().empty())
        continue;  // has the name of a dimension that is not its own
      if (Status status = dimensions_.name(*coordinate, {path}); !status.ok())
        return status;
      coordinate->dimensions = {path};
    }
    if (Status status = dimensions_.name(*named, fitting); !status.ok())
      return status;
    named->dimensions = std::move(fitting);
    return Status();
  });
}

Result<std::vector<std::string>> NetcdfFormat::read_texts(const std::string& path) {
  if (!find(path))
    return Status(Code::not_found, fmt::format("there is no variable \"{}\"", path));
  return Status(Code::bad_argument,
                fmt::format("\"{}\" is not text of variable length, which netCDF classic does not support", path));
}

Status NetcdfFormat::write_texts(const std::string& path, const std::vector<std::string>&) {
  return read_texts(path).status();
}

Result<Catalog> NetcdfFormat::catalog() {
  if (!file_)
    return Status(Code::bad_state, fmt::format("\"{}\" is closed", path_));
  Catalog copy;
  Status status = guard([&] {
    copy = catalog_;
    return Status();
  });
  if (!status.ok())
    return status;
  return copy;
}

Status NetcdfFormat::tell_as_stored(std::vector<Variable>& variables) {
  return guard([&] {
    std::vector<std::vector<int>> numbers;
    const std::vector<NetcdfDimension> dimensions = dimensions_.all(catalog_.variables, numbers);
    for (Variable& variable : variables) {
      const Variable* stored = find(variable.path);
      if (stored == nullptr)
        continue;
      const auto is_fill = [](const Attribute& each) { return each.name == k_fill_attribute; };
      const auto fill = std::find_if(stored->attributes.begin(), stored->attributes.end(), is_fill);
      if (fill != stored->attributes.end() &&
          std::none_of(variable.attributes.begin(), variable.attributes.end(), is_fill))
        variable.attributes.push_back(*fill);
      const std::vector<int>& own = numbers[static_cast<size_t>(stored - catalog_.variables.data())];
      variable.dimensions.resize(variable.shape.size());
      for (size_t i = 0; i < std::min(own.size(), variable.shape.size());
           ++i)  // a split variable of an opened file is a scalar here, with names
        if (variable.dimensions[i].empty())
          variable.dimensions[i] = "/" + dimensions[static_cast<size_t>(own[i])].name;
    }
    return Status();
  });
}

Status NetcdfFormat::extend(const std::string& path, std::span<const int64_t> shape) {
  return guard([&] {
    if (Status status = writable("variable", path); !status.ok())
      return status;
    const Variable* variable = find(path);
    if (!variable || !variable->extendible)
      return Status(Code::bad_argument, fmt::format("\"{}\" cannot grow", path));
    const int version = places_.version;
    if (version < 5 && shape.front() > INT32_MAX)
      return Status(
          Code::unsupported,
          fmt::format("\"{}\" with {}: version {} of netCDF classic allows at most {}; netcdf_version=5 allows more",
                      path, counted(shape.front(), "record"), version, INT32_MAX));
    if (places_.record_bytes > 0 &&
        shape.front() > (k_most_netcdf_bytes - places_.records_begin) / places_.record_bytes)
      return Status(Code::bad_argument, fmt::format("\"{}\" with {}: the file would have more than {} bytes", path,
                                                    counted(shape.front(), "record"), k_most_netcdf_bytes));
    if (shape.front() > records_)
      set_records(shape.front());
    return Status();
  });
}

// The header first: it must never describe data that is not there.
Status NetcdfFormat::cut(int64_t records) {
  return guard([&] {
    if (Status status = writable("records of", path_); !status.ok())
      return status;
    if (places_.header.empty())
      return Status();
    if (records < stored_records_) {
      if (records_ == stored_records_)
        set_records(records);
      put_records(places_, records);
      if (Status status = file_->write_at(int64_t{k_records_at}, records_in(places_)); !status.ok())
        return status;
      stored_records_ = records;
    }
    const Result<int64_t> size = file_->size();
    if (!size.ok())
      return size.status();
    const int64_t end = end_of(places_, stored_records_);
    return size.value() > end ? file_->resize(end) : Status();
  });
}

Result<NetcdfContents> NetcdfFormat::contents() const {
  NetcdfContents out;
  out.records = records_;
  std::vector<std::vector<int>> numbers;
  out.dimensions = dimensions_.all(catalog_.variables, numbers);
  const auto convert = [](const std::string& object, const std::vector<Attribute>& attributes,
                          std::vector<NetcdfAttribute>& into) {
    for (const Attribute& each : attributes) {
      auto stored = to_netcdf(object, each);
      if (!stored.ok())
        return stored.status();
      into.push_back(std::move(stored).value());
    }
    return Status();
  };
  if (Status status = convert("/", catalog_.groups.front().attributes, out.attributes); !status.ok())
    return status;
  out.variables.reserve(catalog_.variables.size());
  for (size_t i = 0; i < catalog_.variables.size(); ++i) {
    const Variable& variable = catalog_.variables[i];
    const bool split = split_.contains(variable.path);
    out.variables.push_back({.name = variable.path.substr(1),
                             .type = netcdf_type(variable.type),
                             .dimensions = numbers[i],
                             .attributes = {}});
    if (Status status = convert(variable.path, variable.attributes, out.variables.back().attributes); !status.ok())
      return status;
    if (split)
      make_scalar(out.variables.back(), variable.shape.size(), out.dimensions);
  }
  return out;
}

Placement NetcdfFormat::place_in(const NetcdfPlaces& places, size_t number) const noexcept {
  const Variable& variable = catalog_.variables[number];
  if (split_.contains(variable.path))
    return {.offset = -1, .bytes = variable.placement.bytes, .big_endian = true};
  return {.offset = places.offsets[number],
          .bytes = variable.placement.bytes,
          .big_endian = true,
          .stride = variable.extendible ? places.record_bytes : 0};
}

Result<Layout> NetcdfFormat::lay_out() {
  Layout layout;
  Status status = guard([&] {
    if (Status ready = definable("places in", path_); !ready.ok())
      return ready;
    anew_.reset();  // of a failed change
    auto all = contents();
    if (!all.ok())
      return all.status();
    const int version = std::max(places_.version, options_.netcdf_version);
    auto found = find_places(all.value(), places_, version, highest_version(), options_);
    if (!found.ok())
      return Status(found.status().code(), fmt::format("\"{}\": {}", path_, found.status().message()));
    next_ = std::move(found).value();
    for (size_t i = 0; i < catalog_.variables.size(); ++i) {
      layout.placements.push_back(place_in(next_, i));
    }
    layout.moves = moves(places_, next_);
    if (Status whole = check_whole(next_); !whole.ok())
      return whole;
    if (!layout.moves)
      take_layout();
    return Status();
  });
  if (!status.ok())
    return status;
  return layout;
}

// A foreign file may end before variables that were never written, and so does a truncated one: the missing part would
// become zeros, of whatever length the header states.
Status NetcdfFormat::check_whole(const NetcdfPlaces& next) {
  if (missing_until_ == 0 || (next.offsets.size() == places_.offsets.size() && !moves(places_, next)))
    return {};
  const Result<int64_t> size = file_->size();
  if (!size.ok())
    return size.status();
  if (size.value() >= missing_until_)
    return missing_until_ = 0, Status();
  return {Code::bad_file, fmt::format("\"{}\" ends at byte {}, but its variables at byte {}: it is truncated, or they "
                                      "were never written; nothing can be defined before they are written",
                                      path_, size.value(), missing_until_)};
}

Status NetcdfFormat::write_anew(std::unique_ptr<Store> file) {
  return guard([&] {
    anew_ = std::move(file);
    std::swap(places_, next_);
    Status status = write_header_to(*anew_, true);
    std::swap(places_, next_);
    return status;
  });
}

void NetcdfFormat::take_layout() noexcept {
  if (anew_) {
    (void)file_->close();
    file_ = std::move(anew_);
    missing_until_ = 0;
  }
  places_ = std::move(next_);
  for (size_t i = 0; i < catalog_.variables.size(); ++i) {
    catalog_.variables[i].placement = place_in(places_, i);
  }
  changed_ = true;
}

// The file gets its full length first: a header must never describe data that is not there, except for what it
// described when the file was opened. Other programs find the old header or the new one.
Status NetcdfFormat::write_header_to(Store& file, bool is_temporary_file) {
  const int64_t end = end_of(places_, records_);
  const bool as_opened = &file == file_.get() && end <= missing_until_;
  const Result<int64_t> size = file.size();
  if (!size.ok())
    return size.status();
  if (size.value() < end && !as_opened)
    if (Status status = file.resize(end); !status.ok())
      return status;
  put_records(places_, records_);
  const std::array header{Overwrite{0, places_.header}};
  Status status = is_temporary_file ? file.write_at(0, places_.header)
                                    : overwrite(file, header, as_opened ? size.value() : std::max(end, size.value()),
                                                options_.durable);
  if (status.ok())
    stored_records_ = records_;
  return status;
}

Status NetcdfFormat::flush() {
  return guard([&] {
    if (!file_)
      return Status(Code::bad_state, fmt::format("\"{}\" is closed", path_));
    if (mode_ == FormatMode::read || !changed_ || places_.header.empty())
      return Status();
    Status status = write_header_to(*file_, is_temporary_file_);
    changed_ = !status.ok();
    return status;
  });
}

Status NetcdfFormat::close() {
  Status status = flush();
  if (!file_)
    return status;
  status.update(file_->close());
  file_.reset();
  return status;
}

// Makes the catalog from an untrusted header. Code::bad_file: two variables or dimensions with one name.
Status NetcdfFormat::enter(const NetcdfContents& from) {
  std::set<std::string> coordinates;
  catalog_.variables.reserve(from.variables.size());
  for (const NetcdfDimension& each : from.dimensions) {
    if (dimensions_.has(each.name))
      return {Code::bad_file, fmt::format("\"{}\": two dimensions have the name \"{}\"", path_, each.name)};
    dimensions_.add(each.name, each.unlimited ? 0 : each.length, each.unlimited);
  }
  for (const NetcdfAttribute& each : from.attributes)
    catalog_.groups.front().attributes.push_back(from_netcdf(each));
  for (const NetcdfVariable& each : from.variables) {
    Variable variable = variable_of(each, from, places_.record_bytes);
    if (take_split(variable, from))
      split_.insert(variable.path);
    if (!numbers_.emplace(variable.path, catalog_.variables.size()).second)
      return {Code::bad_file, fmt::format("\"{}\": two variables have the name \"{}\"", path_, each.name)};
    if (!variable.dimensions.empty() && variable.dimensions.front() == variable.path)
      coordinates.insert(each.name);
    has_unsupported_ = has_unsupported_ || (!variable.unsupported.empty() && !split_.contains(variable.path));
    catalog_.variables.push_back(std::move(variable));
  }
  // The number of records is meaningless without variables that have any.
  const bool grows = std::any_of(catalog_.variables.begin(), catalog_.variables.end(),
                                 [](const Variable& each) { return each.extendible; });
  records_ = stored_records_ = grows ? from.records : 0;
  for (const NetcdfDimension& each : from.dimensions)
    if (!coordinates.contains(each.name))
      catalog_.dimensions.push_back({"/" + each.name, each.length});
  for (const Variable& variable : catalog_.variables)
    if (Status status = dimensions_.name(variable, variable.dimensions); !status.ok())
      return status;
  return {};
}

Status NetcdfFormat::read() {
  if (mode_ == FormatMode::update)
    if (Status status = roll_back(*file_, options_.durable); !status.ok())
      return status;
  const Result<UndoLog> log = find_undo_log(*file_);  // of a killed process
  if (!log.ok())
    return log.status();
  const Result<int64_t> file_bytes = file_->size();
  if (!file_bytes.ok())
    return file_bytes.status();
  std::vector<std::byte> bytes;
  DecodedHeader header;
  constexpr int64_t k_first = int64_t{64} << 10;
  for (int64_t some = k_first; header.bytes == 0; some *= 4) {
    bytes.resize(static_cast<size_t>(std::min(some, file_bytes.value())));
    if (Status status = file_->read_at(0, bytes); !status.ok())
      return status;
    apply(log.value(), 0, bytes);
    auto decoded = decode_header(bytes, file_bytes.value(), path_);
    if (!decoded.ok())
      return decoded.status();
    header = std::move(decoded).value();
  }
  bytes.resize(static_cast<size_t>(header.bytes));
  places_ = places_of(header.contents, std::move(bytes));
  if (options_.netcdf_version != 0 && options_.netcdf_version < places_.version && mode_ == FormatMode::update)
    return {
        Code::bad_argument,
        fmt::format("\"{}\" is of version {} of netCDF classic, and netcdf_version is {}: a copy can have a lower one",
                    path_, places_.version, options_.netcdf_version)};
  if (mode_ == FormatMode::update)
    if (Status status = check_length(header.contents.records, file_bytes.value()); !status.ok())
      return status;
  return enter(header.contents);
}

// Checked before a file is changed. A writer of the number of records has written a part of the last one. A header with
// more records is damaged, or the file is truncated; trusting it would extend the file to the stated length.
Status NetcdfFormat::check_length(int64_t records, int64_t file_bytes) {
  const int64_t last = places_.records_begin + (records - 1) * places_.record_bytes;
  if (records > 0 && places_.record_bytes > 0 && file_bytes <= last)
    return {Code::bad_file, fmt::format("\"{}\" ends at byte {}, but its header has {}, the last beginning at byte {}: "
                                        "it is truncated or damaged, and can be read but not changed",
                                        path_, file_bytes, counted(records, "record"), last)};
  const int64_t end = end_of(places_, records);
  missing_until_ = file_bytes < end ? end : 0;
  return {};
}

}  // namespace

Result<std::unique_ptr<Format>> open_netcdf_format(const std::string& path, FormatMode mode,
                                                   const FormatOptions& options, std::unique_ptr<Store> opened) {
  if (!opened) {
    Result<std::unique_ptr<Store>> file = open_store(path, store_mode(mode), {});
    if (!file.ok())
      return file.status();
    opened = std::move(file).value();
  }
  if (mode != FormatMode::create) {
    const Result<bool> is_it = recognises_netcdf(path, *opened);
    if (!is_it.ok())
      return is_it.status();
    if (!is_it.value())
      return Status(Code::bad_file, fmt::format("\"{}\" is not a netCDF classic file", path));
  }
  auto format = std::make_unique<NetcdfFormat>(path, mode, options, std::move(opened));
  if (mode != FormatMode::create)
    if (Status status = format->read(); !status.ok())
      return status;
  return std::unique_ptr<Format>(std::move(format));
}

}  // namespace windrow
