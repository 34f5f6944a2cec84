// SPDX-License-Identifier: BSD-3-Clause
// Sources: HDF5 Dimension Scale Specification; netCDF-4's use of it: libhdf5/nc4hdf.c, hdf5var.c and hdf5open.c of
// netcdf-c, and its documentation, "NetCDF-4 Format".
#include "format/hdf5/dimensions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "format/check.hpp"
#include "format/hdf5/attributes.hpp"
#include "format/hdf5/creation.hpp"
#include "format/hdf5/heap.hpp"
#include "format/hdf5/types.hpp"
#include "format/hdf5/version.hpp"

namespace windrow {
namespace {

constexpr std::string_view k_without_variable = "This is a netCDF dimension but not a netCDF variable.";
// prefix of the stored name of a variable that has a dimension's name
constexpr std::string_view k_prefix = "_nc4_non_coord_";
constexpr const char* k_id = "_Netcdf4Dimid";
constexpr const char* k_ids = "_Netcdf4Coordinates";
constexpr const char* k_list = "DIMENSION_LIST";
constexpr const char* k_uses = "REFERENCE_LIST";

std::string_view name_of(const std::string& path) {
  return std::string_view(path).substr(path.rfind('/') + 1);
}

std::string renamed_path(const std::string& path) {
  std::string renamed = path;
  return renamed.insert(path.rfind('/') + 1, k_prefix);
}

const Attribute* attribute_called(const Variable& variable, std::string_view name) {
  for (const Attribute& attribute : variable.attributes)
    if (attribute.name == name)
      return &attribute;
  return nullptr;
}

const std::string* text_attribute(const Variable& variable, std::string_view name) {
  const Attribute* attribute = attribute_called(variable, name);
  return attribute && attribute->type == Type::text && attribute->texts.size() == 1 ? &attribute->texts.front()
                                                                                    : nullptr;
}

std::vector<int> integers_attribute(const Variable& variable, std::string_view name) {
  const Attribute* attribute = attribute_called(variable, name);
  if (!attribute || attribute->type != Type::int32)
    return {};
  std::vector<int> values(attribute->data.size() / sizeof(int));
  if (!values.empty())
    std::memcpy(values.data(), attribute->data.data(), values.size() * sizeof(int));
  return values;
}

void drop(Variable& variable, std::initializer_list<std::string_view> names) {
  std::erase_if(variable.attributes,
                [&](const Attribute& each) { return std::find(names.begin(), names.end(), each.name) != names.end(); });
}

bool is_renamed(const Variable& variable) {
  return name_of(variable.path).size() > k_prefix.size() && name_of(variable.path).starts_with(k_prefix);
}

bool is_scale(const Variable& variable) {
  const std::string* kind = text_attribute(variable, "CLASS");
  return kind && *kind == "DIMENSION_SCALE" && !variable.shape.empty() && !is_renamed(variable);
}

bool has_no_variable(const Variable& variable) {
  const std::string* name = text_attribute(variable, "NAME");
  return name && name->starts_with(k_without_variable) && variable.shape.size() == 1;
}

// Empty: there is no such list, or it contains more than names.
std::vector<hobj_ref_t> read_list(hid_t dataset, size_t dimensions) {
  const Handle attribute(H5Aopen(dataset, k_list, H5P_DEFAULT), H5Aclose);
  const Handle type(attribute.valid() ? H5Aget_type(attribute.get()) : H5I_INVALID_HID, H5Tclose);
  const Handle space(type.valid() ? H5Aget_space(attribute.get()) : H5I_INVALID_HID, H5Sclose);
  const Handle list(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose);
  std::array<hvl_t, k_most_dimensions> items{};
  const ReadAll read = [&attribute](hid_t as, void* data) { return H5Aread(attribute.get(), as, data); };
  if (!space.valid() || H5Tequal(type.get(), list.get()) <= 0 || H5Sget_simple_extent_ndims(space.get()) != 1 ||
      std::cmp_not_equal(H5Sget_simple_extent_npoints(space.get()), dimensions) ||
      !check_heap_places(attribute.get(), type.get(), dimensions, sizeof(hobj_ref_t), "DIMENSION_LIST", read).ok() ||
      read(list.get(), items.data()) < 0)
    return {};
  std::vector<hobj_ref_t> references;
  const Status status = guard([&] {
    for (size_t i = 0; i < dimensions; ++i) {
      if (items[i].len > 1)
        return Status(Code::unsupported, "");
      references.push_back(items[i].len == 0 ? 0 : *static_cast<const hobj_ref_t*>(items[i].p));
    }
    return Status();
  });
  reclaim_texts(list.get(), space.get(), items.data());
  return status.ok() ? references : std::vector<hobj_ref_t>();
}

Attribute text(std::string name, std::string value, int64_t bytes) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.type = Type::text;
  attribute.texts.push_back(std::move(value));
  attribute.text_variable_length = false;
  attribute.text_ascii = true;
  attribute.text_size = bytes;
  return attribute;
}

Attribute integers(std::string name, std::vector<int64_t> shape, std::span<const int> values) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.type = Type::int32;
  attribute.shape = std::move(shape);
  attribute.data.resize(values.size_bytes());
  std::memcpy(attribute.data.data(), values.data(), values.size_bytes());
  attribute.big_endian = std::endian::native == std::endian::big;
  return attribute;
}

Status failed(const std::string& path) {
  return hdf5_status(Code::io, "dimensions of", path);
}

// A scale with another name than the variable's. This is a label, which is kept.
bool has_label(hid_t dataset, const std::string& path) {
  if (H5Aexists(dataset, "CLASS") <= 0 || H5Aexists(dataset, "NAME") <= 0)
    return false;
  auto attributes = read_attributes(dataset, H5_INDEX_NAME, path, INT64_MAX);
  if (!attributes.ok())
    return false;
  Variable variable;
  variable.attributes = std::move(attributes).value();
  const std::string *kind = text_attribute(variable, "CLASS"), *name = text_attribute(variable, "NAME");
  return kind && *kind == "DIMENSION_SCALE" && name && !name->starts_with(k_without_variable);
}

Handle open_dataset(hid_t file, const std::string& stored) {
  return {H5Dopen2(file, stored.c_str(), H5P_DEFAULT), H5Dclose};
}

}  // namespace

const std::string& Scales::stored(const std::string& path) const {
  const auto found = moved_.find(path);
  return found == moved_.end() ? path : found->second;
}

const std::string& Scales::place_of_new(const std::string& path) {
  const auto scale = scales_.find(path);
  if (scale == scales_.end() || scale->second.has_variable)
    return stored(path);
  return moved_.emplace(path, renamed_path(path)).first->second;
}

bool Scales::take(hid_t dataset, haddr_t address, const Variable& variable, size_t index) {
  Found found{.index = index,
              .address = address,
              .is_scale = is_scale(variable),
              .list = {},
              .ids = integers_attribute(variable, k_ids)};
  const bool alone = found.is_scale && has_no_variable(variable);
  if (found.is_scale) {
    const std::vector<int> id = integers_attribute(variable, k_id);
    Scale scale;
    scale.reference = address;
    scale.has_variable = !alone;
    constexpr int k_most = 1 << 30;  // largest plausible number: others are counted from it
    scale.has_stored_id = id.size() == 1 && id.front() >= 0 && id.front() < k_most;
    if (scale.has_stored_id)
      scale.id = id.front();
    if (scales_.emplace(variable.path, scale).second)
      order_.push_back(variable.path);
  } else if (attribute_called(variable, k_list)) {
    found.list = read_list(dataset, variable.shape.size());
  }
  if (!alone)
    found_.push_back(std::move(found));
  return alone;
}

// Scales without a number get the next one, in the order in which netCDF finds them.
void Scales::number_scales() {
  for (const std::string& path : order_) {
    Scale& scale = scales_.at(path);
    ids_are_whole_ = ids_are_whole_ && scale.has_stored_id;
    if (!scale.has_stored_id)
      scale.id = next_id_;
    next_id_ = std::max(next_id_, scale.id + 1);
    ids_are_sound_ = paths_by_id_.emplace(scale.id, path).second && ids_are_sound_;
  }
  order_.clear();
}

void Scales::take_own_names(Catalog& catalog, ObjectPaths& paths) {
  std::vector<std::pair<const Found*, std::string>> renamed;
  for (const Found& found : found_) {
    const std::string& path = catalog.variables[found.index].path;
    const std::string_view name = name_of(path);
    if (!is_renamed(catalog.variables[found.index]))
      continue;
    renamed.emplace_back(&found, path.substr(0, path.size() - name.size()) + std::string(name.substr(k_prefix.size())));
  }
  if (renamed.empty())
    return;
  std::map<std::string, int> taken;
  for (const auto& [address, path] : paths)
    ++taken[path];
  for (const SoftLink& link : catalog.links)
    ++taken[link.path];
  for (auto& [found, path] : renamed) {
    const auto scale = scales_.find(path);
    const bool is_free = !taken.contains(path) || (scale != scales_.end() && !scale->second.has_variable);
    if (!is_free || moved_.contains(path))
      continue;
    std::string& place = catalog.variables[found->index].path;
    for (SoftLink& link : catalog.links)
      if (link.target == place)
        link.target = path;
    paths[found->address] = path;
    moved_.emplace(path, place);
    place = std::move(path);
  }
}

void Scales::give_own_names(ObjectPaths& paths) const {
  if (moved_.empty())
    return;
  std::map<std::string, std::string> own;
  for (const auto& [path, place] : moved_)
    own.emplace(place, path);
  for (auto& [address, path] : paths)
    if (const auto found = own.find(path); found != own.end())
      path = found->second;
}

bool Scales::resolve_list(const Found& found, Variable& variable, const ObjectPaths& paths) {
  std::vector<std::string> names;
  for (const hobj_ref_t reference : found.list) {
    const auto path = paths.find(reference);
    if (reference != 0 && (path == paths.end() || !scales_.contains(path->second)))
      return false;
    names.push_back(reference == 0 ? "" : path->second);
  }
  for (const std::string& name : names)
    if (!name.empty())
      scales_.at(name).in_use = true;
  variable.dimensions = std::move(names);
  return true;
}

bool Scales::resolve_ids(const Found& found, Variable& variable) const {
  if (!ids_are_sound_ || found.ids.empty() || found.ids.size() != variable.shape.size())
    return false;
  std::vector<std::string> names;
  for (const int id : found.ids) {
    const auto path = paths_by_id_.find(id);
    if (path == paths_by_id_.end())
      return false;
    names.push_back(path->second);
  }
  if (found.is_scale && names.front() != variable.path)
    return false;
  variable.dimensions = std::move(names);
  return true;
}

void Scales::resolve(Catalog& catalog, ObjectPaths& paths) {
  number_scales();
  take_own_names(catalog, paths);
  for (const Found& found : found_) {
    Variable& variable = catalog.variables[found.index];
    const bool has_list = !found.list.empty() && resolve_list(found, variable, paths);
    if (has_list)
      drop(variable, {k_list, k_id, k_ids});
    if (found.list.empty() && resolve_ids(found, variable))
      drop(variable, {k_id, k_ids});
    if (!found.is_scale)
      continue;
    if (variable.dimensions.empty()) {
      variable.dimensions.resize(variable.shape.size());
      variable.dimensions.front() = variable.path;
    }
    drop(variable, {k_uses, k_id, k_ids});
    const std::string* name = text_attribute(variable, "NAME");
    if (name && *name == name_of(variable.path))
      drop(variable, {"CLASS", "NAME"});  // otherwise it is a label, which is kept and copied
  }
  found_.clear();
  // A variable with the name of its first dimension names it for all readers, wherever it is stored.
  std::erase_if(catalog.dimensions, [&](const Dimension& dimension) {
    return moved_.contains(dimension.path) &&
           std::any_of(catalog.variables.begin(), catalog.variables.end(), [&](const Variable& variable) {
             return variable.path == dimension.path && !variable.dimensions.empty() &&
                    variable.dimensions.front() == variable.path;
           });
  });
  std::stable_sort(catalog.dimensions.begin(), catalog.dimensions.end(), [&](const Dimension& a, const Dimension& b) {
    return scales_.at(a.path).id < scales_.at(b.path).id;
  });
}

// netCDF numbers scales without a number in the order in which it finds them, and variables refer to dimensions by
// these numbers. Writing the numbers keeps them stable.
Status Scales::write_missing_ids() {
  if (ids_are_whole_ || !ids_are_sound_)
    return {};
  ids_are_whole_ = true;
  for (auto& [path, scale] : scales_) {
    if (scale.has_stored_id)
      continue;
    const Handle dataset = open_dataset(file_, path);
    if (!dataset.valid())
      return failed(path);
    if (Status status = write_attribute(dataset.get(), path, integers(k_id, {}, std::span(&scale.id, 1))); !status.ok())
      return status;
    scale.has_stored_id = true;
  }
  return {};
}

Status Scales::rename_scale(const std::string& path) {
  const std::string renamed = renamed_path(path);
  if (H5Lexists(file_, renamed.c_str(), H5P_DEFAULT) > 0)
    return {Code::exists, fmt::format("\"{}\" exists already", renamed)};
  const Handle links = link_creation(renamed);
  moved_[path] = renamed;
  if (H5Lmove(file_, path.c_str(), file_, renamed.c_str(), links.get(), H5P_DEFAULT) >= 0)
    return {};
  moved_.erase(path);
  return failed(path);
}

Status Scales::move_back(const std::string& path) {
  const Handle links = link_creation(path);
  if (H5Lmove(file_, stored(path).c_str(), file_, path.c_str(), links.get(), H5P_DEFAULT) < 0)
    return failed(path);
  moved_.erase(path);
  return {};
}

// A variable stored under another name becomes the scale of a dimension that is not named yet.
Status Scales::take_place(const std::string& path, Scale& scale) {
  if (H5Ldelete(file_, path.c_str(), H5P_DEFAULT) < 0)
    return failed(path);
  if (Status status = move_back(path); !status.ok())
    return status;
  const Handle dataset = open_dataset(file_, path);
  scale.has_variable = true;
  return dataset.valid() ? mark(dataset.get(), path, std::string(name_of(path)), scale) : failed(path);
}

// Equivalent to H5DSset_scale().
Status Scales::mark(hid_t dataset, const std::string& path, const std::string& name, Scale& scale) {
  constexpr std::string_view k_class = "DIMENSION_SCALE";
  if (H5Rcreate(&scale.reference, dataset, ".", H5R_OBJECT, -1) < 0)
    return failed(path);
  const bool labelled = has_label(dataset, path);
  Status status =
      labelled ? Status() : write_attribute(dataset, path, text("CLASS", std::string(k_class), k_class.size() + 1));
  if (status.ok() && !labelled)
    status = write_attribute(dataset, path, text("NAME", name, static_cast<int64_t>(name.size()) + 1));
  if (status.ok() && ids_are_sound_)
    status = write_attribute(dataset, path, integers(k_id, {}, std::span(&scale.id, 1)));
  scale.has_stored_id = ids_are_sound_;
  return status;
}

Status Scales::define_dimension(const Dimension& dimension) {
  if (scales_.contains(dimension.path))
    return {Code::exists, fmt::format("\"{}\" exists already", dimension.path)};
  if (Status status = write_missing_ids(); !status.ok())
    return status;
  if (H5Lexists(file_, dimension.path.c_str(), H5P_DEFAULT) > 0)
    if (Status status = rename_scale(dimension.path); !status.ok())
      return status;
  const Handle links = link_creation(dimension.path), creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  // An unlimited dimension is as long as the longest variable along it, also for netCDF's readers, and has no length of
  // its own.
  const int64_t length = dimension.grows ? 0 : dimension.length;
  const Handle space = make_space({length}, dimension.grows);
  const hsize_t chunk = 1;
  if (set_object_creation(creation.get()) < 0 || (dimension.grows && H5Pset_chunk(creation.get(), 1, &chunk) < 0))
    return failed(dimension.path);
  // Late allocation and never written: it takes no space.
  const Handle dataset(
      H5Dcreate2(file_, dimension.path.c_str(), H5T_IEEE_F32BE, space.get(), links.get(), creation.get(), H5P_DEFAULT),
      H5Dclose);
  if (!dataset.valid())
    return hdf5_status(Code::io, "creation of", dimension.path);
  Scale scale;
  scale.id = next_id_++;
  Status status = mark(dataset.get(), dimension.path, fmt::format("{}{:10}", k_without_variable, length), scale);
  if (status.ok())
    scales_.emplace(dimension.path, std::move(scale));
  return status;
}

// Returns the scale that names a dimension: a scale, or a variable that becomes one.
Result<Scales::Scale*> Scales::scale_of_variable(const std::string& path) {
  if (const auto found = scales_.find(path); found != scales_.end())
    return &found->second;
  if (moved_.contains(path))  // of a file whose dimension of that name was removed
    if (Status status = move_back(path); !status.ok())
      return status;
  const Handle dataset = open_dataset(file_, path);
  if (!dataset.valid())
    return Status(Code::not_found, fmt::format("there is no dimension \"{}\"", path));
  if (Status status = write_missing_ids(); !status.ok())
    return status;
  Scale scale;
  scale.has_variable = true;
  scale.id = next_id_++;
  Status status = mark(dataset.get(), path, std::string(name_of(path)), scale);
  Scale* made = status.ok() ? &scales_.emplace(path, std::move(scale)).first->second : nullptr;
  const Handle space(H5Dget_space(dataset.get()), H5Sclose);
  if (status.ok() && H5Sget_simple_extent_ndims(space.get()) == 1)
    status = write_ids(dataset.get(), path, {made});
  if (!status.ok())
    return status;
  return made;
}

Status Scales::write_ids(hid_t dataset, const std::string& path, const std::vector<Scale*>& scales) {
  std::vector<int> ids;
  for (const Scale* scale : scales)
    if (scale != nullptr && ids_are_sound_)
      ids.push_back(scale->id);
  if (ids.empty() || ids.size() != scales.size())
    return {};
  return write_attribute(dataset, path, integers(k_ids, {static_cast<int64_t>(ids.size())}, ids));
}

// Equivalent to H5DSattach_scale() of each, except for the back references of the scales.
Status Scales::write_list(hid_t dataset, const std::string& path, const std::vector<Scale*>& scales) {
  if (H5Aexists(dataset, k_list) > 0)
    return {};  // it has these names already
  const hsize_t dimensions = scales.size();
  const Handle type(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose),
      space(H5Screate_simple(1, &dimensions, nullptr), H5Sclose);
  const Handle attribute(H5Acreate2(dataset, k_list, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  hobj_ref_t own = 0;
  if (!attribute.valid() || H5Rcreate(&own, dataset, ".", H5R_OBJECT, -1) < 0)
    return failed(path);
  std::vector<hvl_t> items;
  for (Scale* scale : scales)
    items.push_back({scale != nullptr ? size_t{1} : size_t{0}, scale != nullptr ? &scale->reference : nullptr});
  if (H5Awrite(attribute.get(), type.get(), items.data()) < 0)
    return failed(path);
  for (size_t i = 0; i < scales.size(); ++i) {
    if (scales[i] == nullptr)
      continue;
    scales[i]->in_use = true;
    scales[i]->unlisted.push_back({own, static_cast<int>(i)});
  }
  return {};
}

// A variable that names its first dimension takes the place of a dimension without a variable.
Status Scales::take_own_place(const std::string& variable, const std::string& first_dimension) {
  const auto own = scales_.find(variable);
  if (own == scales_.end() || first_dimension != variable || own->second.has_variable || own->second.in_use)
    return {};
  return take_place(variable, own->second);
}

namespace {

// netCDF looks for dimensions in the variable's group and in its parents.
bool are_in_reach(const std::vector<std::string>& dimensions, const std::string& variable) {
  return std::all_of(dimensions.begin(), dimensions.end(), [&](const std::string& each) {
    return each.rfind('/') == 0 || variable.starts_with(each.substr(0, each.rfind('/') + 1));
  });
}

}  // namespace

Status Scales::name_dimensions(const std::string& variable, const std::vector<std::string>& dimensions) {
  if (std::all_of(dimensions.begin(), dimensions.end(), [](const std::string& each) { return each.empty(); }))
    return {};
  if (Status status = take_own_place(variable, dimensions.front()); !status.ok())
    return status;
  const Handle dataset = open_dataset(file_, stored(variable));
  if (!dataset.valid())
    return {Code::not_found, fmt::format("there is no variable \"{}\"", variable)};
  std::vector<Scale*> scales;
  for (const std::string& path : dimensions) {
    const Result<Scale*> scale = path.empty() ? Result<Scale*>(nullptr) : scale_of_variable(path);
    if (!scale.ok())
      return scale.status();
    scales.push_back(scale.value());
  }
  // A scale has no list of its own. For a scale with several dimensions, only netCDF's numbers give the others.
  const bool is_scale = scales.front() != nullptr && dimensions.front() == variable && scales.front()->has_variable;
  Status status = is_scale ? Status() : write_list(dataset.get(), variable, scales);
  if (!status.ok() || !are_in_reach(dimensions, variable))
    return status;
  return write_ids(dataset.get(), variable, scales);
}

namespace {

// The type that H5DSattach_scale() makes: the same size everywhere, with 8 bytes for a reference.
Handle type_of_uses(size_t bytes, size_t at) {
  Handle type(H5Tcreate(H5T_COMPOUND, bytes), H5Tclose);
  if (H5Tinsert(type.get(), "dataset", 0, H5T_STD_REF_OBJ) < 0 ||
      H5Tinsert(type.get(), "dimension", at, H5T_NATIVE_INT) < 0)
    return {};
  return type;
}

}  // namespace

Status Scales::write_lists() {
  for (auto& [path, scale] : scales_) {
    if (scale.unlisted.empty())
      continue;
    const Handle dataset = open_dataset(file_, path), type = type_of_uses(sizeof(Use), offsetof(Use, dimension));
    if (!dataset.valid() || !type.valid())
      return failed(path);
    std::vector<Use> uses;
    if (H5Aexists(dataset.get(), k_uses) > 0) {
      const Handle old(H5Aopen(dataset.get(), k_uses, H5P_DEFAULT), H5Aclose);
      const Handle space(old.valid() ? H5Aget_space(old.get()) : H5I_INVALID_HID, H5Sclose);
      uses.resize(
          static_cast<size_t>(std::max<hssize_t>(space.valid() ? H5Sget_simple_extent_npoints(space.get()) : 0, 0)));
      if (!old.valid() || (!uses.empty() && H5Aread(old.get(), type.get(), uses.data()) < 0))
        return failed(path);
    }
    uses.insert(uses.end(), scale.unlisted.begin(), scale.unlisted.end());
    const hsize_t count = uses.size();
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    if (H5Aexists(dataset.get(), k_uses) > 0 && H5Adelete(dataset.get(), k_uses) < 0)
      return failed(path);
    const Handle attribute(H5Acreate2(dataset.get(), k_uses, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose);
    if (!attribute.valid() || H5Awrite(attribute.get(), type.get(), uses.data()) < 0)
      return failed(path);
    scale.unlisted.clear();
  }
  return {};
}

}  // namespace windrow
