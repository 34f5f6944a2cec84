// SPDX-License-Identifier: BSD-3-Clause
// Source: HDF5 Dimension Scale Specification; netCDF-4's way with it: libhdf5/nc4hdf.c and nc4info.c of netcdf-c, and its
// documentation, "NetCDF-4 Format".
#include "format/hdf5/dimensions.hpp"

#include <fmt/format.h>
#ifdef WINDROW_HAS_HDF5_HL
#include <hdf5_hl.h>
#endif

#include <algorithm>
#include <array>
#include <optional>

#include "format/check.hpp"
#include "format/hdf5/texts.hpp"
#include "format/hdf5/types.hpp"
#include "format/hdf5/version.hpp"

namespace windrow {
namespace {

constexpr std::string_view k_without_variable = "This is a netCDF dimension but not a netCDF variable.";

std::string_view name_of(const std::string& path) { return std::string_view(path).substr(path.rfind('/') + 1); }

const std::string* text_attribute(const Variable& variable, std::string_view name) {
  for (const Attribute& attribute : variable.attributes)
    if (attribute.name == name && attribute.type == Type::text && attribute.texts.size() == 1) return &attribute.texts.front();
  return nullptr;
}

bool is_scale(const Variable& variable) {
  const std::string* kind = text_attribute(variable, "CLASS");
  return kind && *kind == "DIMENSION_SCALE";
}

// The paths in DIMENSION_LIST; none: there is no such list, or one that says more than names.
std::optional<std::vector<std::string>> read_list(hid_t dataset, size_t dimensions) {
  const Handle attribute(H5Aopen(dataset, "DIMENSION_LIST", H5P_DEFAULT), H5Aclose);
  const Handle type(attribute.valid() ? H5Aget_type(attribute.get()) : H5I_INVALID_HID, H5Tclose);
  const Handle space(type.valid() ? H5Aget_space(attribute.get()) : H5I_INVALID_HID, H5Sclose);
  const Handle list(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose);
  std::array<hvl_t, k_most_dimensions> items{};
  if (!space.valid() || H5Tequal(type.get(), list.get()) <= 0 || H5Sget_simple_extent_ndims(space.get()) != 1 ||
      std::cmp_not_equal(H5Sget_simple_extent_npoints(space.get()), dimensions) ||
      H5Aread(attribute.get(), list.get(), items.data()) < 0)
    return std::nullopt;
  std::vector<std::string> paths;
  bool known = true;
  const Status status = guard([&] {
    for (size_t i = 0; i < dimensions && known; ++i) {
      paths.push_back(items[i].len == 0 ? "" : path_of_reference(dataset, *static_cast<const hobj_ref_t*>(items[i].p)));
      known = items[i].len == 0 || (items[i].len == 1 && !paths.back().empty());
    }
    return Status();
  });
  reclaim_texts(list.get(), space.get(), items.data());
  return status.ok() && known ? std::optional(paths) : std::nullopt;
}

}  // namespace

bool is_dimension_only(const Variable& variable) {
  const std::string* name = text_attribute(variable, "NAME");
  return is_scale(variable) && name && name->starts_with(k_without_variable) && variable.shape.size() == 1;
}

void take_dimensions(hid_t dataset, Variable& variable) {
  const auto has = [&](std::string_view name) {
    return std::any_of(variable.attributes.begin(), variable.attributes.end(), [&](const Attribute& each) { return each.name == name; });
  };
  const auto drop = [&](std::string_view name) {
    std::erase_if(variable.attributes, [&](const Attribute& each) { return each.name == name; });
  };
  if (has("DIMENSION_LIST"))
    if (auto paths = read_list(dataset, variable.shape.size())) {
      variable.dimensions = std::move(*paths);
      drop("DIMENSION_LIST");
      drop("_Netcdf4Coordinates");  // the same by netCDF's own numbers, which are others in another file
    }
  if (!is_scale(variable) || variable.shape.size() != 1) return;
  variable.dimensions = {variable.path};
  drop("REFERENCE_LIST");
  drop("_Netcdf4Dimid");  // netCDF's own order of dimensions
  drop("_Netcdf4Coordinates");
  const std::string* name = text_attribute(variable, "NAME");
  if (!name || *name != name_of(variable.path)) return;  // a label of its own: to be seen, and copied
  drop("CLASS");
  drop("NAME");
}

#ifdef WINDROW_HAS_HDF5_HL

Status create_dimension(hid_t file, const Dimension& dimension, hid_t links, hid_t creation) {
  // One without end is as long as the longest variable along it, to netCDF's readers too, and says no length of its own.
  const int64_t length = dimension.grows ? 0 : dimension.length;
  const Handle space = make_space({length}, dimension.grows);
  const hsize_t chunk = 1;
  if (dimension.grows && H5Pset_chunk(creation, 1, &chunk) < 0) return hdf5_status(Code::internal, "dimension", dimension.path);
  // Stored late, and never written: it takes no room.
  const Handle dataset(H5Dcreate2(file, dimension.path.c_str(), H5T_IEEE_F32BE, space.get(), links, creation, H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) return hdf5_status(Code::io, "creation of", dimension.path);
  const std::string name = fmt::format("{}{:10}", k_without_variable, length);
  if (H5DSset_scale(dataset.get(), name.c_str()) < 0) return hdf5_status(Code::io, "dimension", dimension.path);
  return {};
}

Status attach_dimensions(hid_t file, const std::string& variable, const std::vector<std::string>& dimensions) {
  const Handle dataset(H5Dopen2(file, variable.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) return {Code::not_found, fmt::format("there is no variable \"{}\"", variable)};
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i].empty()) continue;
    const Handle scale(H5Dopen2(file, dimensions[i].c_str(), H5P_DEFAULT), H5Dclose);
    if (!scale.valid()) return {Code::not_found, fmt::format("there is no dimension \"{}\"", dimensions[i])};
    const std::string name(name_of(dimensions[i]));
    if (H5DSis_scale(scale.get()) <= 0 && H5DSset_scale(scale.get(), name.c_str()) < 0)
      return hdf5_status(Code::io, "dimension", dimensions[i]);
    if (dimensions[i] != variable && H5DSattach_scale(dataset.get(), scale.get(), static_cast<unsigned>(i)) < 0)
      return hdf5_status(Code::io, "dimensions of", variable);
  }
  return {};
}

#else

namespace {
Status not_built() { return {Code::unsupported, "names of dimensions: this Windrow was built without HDF5's high-level library"}; }
}  // namespace

Status create_dimension(hid_t, const Dimension&, hid_t, hid_t) { return not_built(); }
Status attach_dimensions(hid_t, const std::string&, const std::vector<std::string>&) { return not_built(); }

#endif

}  // namespace windrow
