// SPDX-License-Identifier: BSD-3-Clause
// What netCDF classic calls our types and attributes, and what of them it has.
#pragma once

#include <optional>
#include <string>

#include "format/format.hpp"
#include "format/netcdf/header.hpp"

namespace windrow {

inline constexpr const char* k_fill_attribute = "_FillValue";

NetcdfType netcdf_type(Type type) noexcept;  // none: there is no such type in any version
Type type_of_netcdf(NetcdfType type) noexcept;
int version_for(NetcdfType type) noexcept;  // the lowest that has it: 1 or 5

// netCDF's rules for names of dimensions, variables and attributes. Code::bad_argument. `what` names the object.
Status check_netcdf_name(const std::string& what, std::string_view name);
// The same for a name that is to be written, which has to be in Unicode's normal form C besides: other libraries look
// names up in it.
Status check_new_netcdf_name(const std::string& what, const std::string& name);

// Code::unsupported: what is a list of one dimension of numbers, or one text, can be an attribute; why this cannot.
Result<NetcdfAttribute> to_netcdf(const std::string& object, const Attribute& attribute);
Attribute from_netcdf(const NetcdfAttribute& attribute);

// The attribute _FillValue as a variable of `type` has it: one value of its type. Of another type it is the same
// number, or of floating-point ones the nearest. Nothing: the type has no such value.
std::optional<NetcdfAttribute> fill_of_type(const NetcdfAttribute& fill, NetcdfType type);

// An element as it is stored, big-endian, becomes one value of an attribute in native order, and back.
std::vector<std::byte> reversed_if_little(std::span<const std::byte> element);

}  // namespace windrow
