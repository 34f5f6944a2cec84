// SPDX-License-Identifier: BSD-3-Clause
// Conversion of types and attributes to those of netCDF classic.
#pragma once

#include <optional>
#include <string>

#include "format/check.hpp"
#include "format/format.hpp"
#include "format/netcdf/header.hpp"

namespace windrow {

inline constexpr const char* k_fill_attribute = "_FillValue";

NetcdfType netcdf_type(Type type) noexcept;  // none: not supported by any version
Type type_of_netcdf(NetcdfType type) noexcept;
int version_for(NetcdfType type) noexcept;  // the lowest version that has it: 1 or 5

// netCDF's rules for names of dimensions, variables and attributes. Code::bad_argument. `object` is what has the name.
Status check_netcdf_name(ObjectName object, std::string_view name);
// The same for a new name, which must also be in Unicode's normal form C, because other libraries look names up in that
// form.
Status check_new_netcdf_name(ObjectName object, std::string_view name);

// Code::unsupported, with the reason: only one-dimensional lists of numbers and single texts can be attributes.
Result<NetcdfAttribute> to_netcdf(const std::string& object, const Attribute& attribute);
Attribute from_netcdf(const NetcdfAttribute& attribute);

// Converts the attribute _FillValue to one value of the variable's type: the same number, or the nearest for floating
// point. nullopt: the type has no such value.
std::optional<NetcdfAttribute> fill_of_type(const NetcdfAttribute& fill, NetcdfType type);

// Converts a stored, big-endian element to an attribute value in native order, and back.
std::vector<std::byte> reversed_if_little(std::span<const std::byte> element);

}  // namespace windrow
