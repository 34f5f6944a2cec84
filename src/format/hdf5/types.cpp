// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/units.hpp"
#include "format/check.hpp"

namespace windrow {

namespace {

constexpr std::array k_numbers{Type::int8,  Type::uint8,  Type::int16,   Type::uint16,  Type::int32,  Type::uint32,
                               Type::int64, Type::uint64, Type::float16, Type::float32, Type::float64};

// As h5py makes it. HDF5 has an equal type since 1.14.4. Never closed, like HDF5's own types.
hid_t make_half(hid_t wider) {
  const hid_t made = H5Tcopy(wider);
  if (H5Tset_fields(made, 15, 10, 5, 0, 10) < 0 || H5Tset_size(made, 2) < 0 || H5Tset_ebias(made, 15) < 0)
    return H5I_INVALID_HID;
  return made;
}

struct ByteOrders {
  hid_t little = H5I_INVALID_HID;
  hid_t big = H5I_INVALID_HID;
};

ByteOrders stored_halves() {
  static const ByteOrders halves{make_half(H5T_IEEE_F32LE), make_half(H5T_IEEE_F32BE)};
  return halves;
}

// Why a number type is unsupported.
std::string odd_number(hid_t type, H5T_class_t kind) {
  const size_t bytes = H5Tget_size(type), bits = H5Tget_precision(type);
  const bool is_float = kind == H5T_FLOAT;
  std::string text = fmt::format("{} type of {}", is_float ? "floating-point" : "integer", counted(bits, "bit"));
  const H5T_order_t order = H5Tget_order(type);
  if (bits != 8 * bytes)
    text += fmt::format(" in {}", counted(bytes, "byte"));
  if (const int offset = H5Tget_offset(type); offset != 0)
    text += fmt::format(", the first is bit {}", offset);
  if (order != H5T_ORDER_LE && order != H5T_ORDER_BE && bytes > 1)
    text += ", neither little- nor big-endian";
  size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  if (is_float && H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0)
    text += fmt::format(", {} of the exponent (bias {}) and {} of the mantissa", exponent_bits, H5Tget_ebias(type),
                        mantissa_bits);
  return text;
}

ByteOrders stored_orders(Type type) {
  switch (type) {
    case Type::int8:
      return {H5T_STD_I8LE, H5T_STD_I8BE};
    case Type::uint8:
      return {H5T_STD_U8LE, H5T_STD_U8BE};
    case Type::int16:
      return {H5T_STD_I16LE, H5T_STD_I16BE};
    case Type::uint16:
      return {H5T_STD_U16LE, H5T_STD_U16BE};
    case Type::int32:
      return {H5T_STD_I32LE, H5T_STD_I32BE};
    case Type::uint32:
      return {H5T_STD_U32LE, H5T_STD_U32BE};
    case Type::int64:
      return {H5T_STD_I64LE, H5T_STD_I64BE};
    case Type::uint64:
      return {H5T_STD_U64LE, H5T_STD_U64BE};
    case Type::float16:
      return stored_halves();
    case Type::float32:
      return {H5T_IEEE_F32LE, H5T_IEEE_F32BE};
    case Type::float64:
      return {H5T_IEEE_F64LE, H5T_IEEE_F64BE};
    default:
      return {};
  }
}

}  // namespace

hid_t stored_number(Type type, bool big_endian) {
  const ByteOrders stored = stored_orders(type);
  return big_endian ? stored.big : stored.little;
}

TypeDescription describe_type(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_INTEGER || kind == H5T_FLOAT) {
    // Equality covers precision, offset, padding, mantissa and similar properties.
    for (const Type each : k_numbers)
      for (const bool big_endian : {false, true})
        if (H5Tequal(type, stored_number(each, big_endian)) > 0)
          return {each, big_endian, "", {}};
    return {Type::none, false, odd_number(type, kind), {}};
  }
  return describe_element_type(type);
}

Result<SpaceDescription> describe_space(hid_t space, const std::string& what) {
  const H5S_class_t kind = H5Sget_simple_extent_type(space);
  if (kind == H5S_NULL)
    return SpaceDescription{true, {}, 0};
  const int dimensions = H5Sget_simple_extent_ndims(space);
  std::array<hsize_t, k_most_dimensions> extents{};
  if (kind == H5S_NO_CLASS || dimensions < 0 || dimensions > static_cast<int>(k_most_dimensions) ||
      H5Sget_simple_extent_dims(space, extents.data(), nullptr) < 0)
    return Status(Code::bad_file, fmt::format("{}: its shape is invalid read", what));
  SpaceDescription description;
  for (int i = 0; i < dimensions; ++i)
    description.shape.push_back(static_cast<int64_t>(std::min<hsize_t>(extents[static_cast<size_t>(i)], INT64_MAX)));
  // An extent above 2^63 was reduced to INT64_MAX above. Multiplied with anything but 0 or 1 it is refused here; alone
  // it exceeds every file.
  const auto elements = element_count(description.shape);
  if (!elements)
    return Status(Code::bad_file, fmt::format("{}: its shape is too large", what));
  description.elements = *elements;
  return description;
}

Handle make_null_space() {
  return {H5Screate(H5S_NULL), H5Sclose};
}

Handle make_space(const std::vector<int64_t>& shape, bool extendible) {
  if (shape.empty())
    return {H5Screate(H5S_SCALAR), H5Sclose};
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  std::vector<hsize_t> most = extents;
  if (extendible)
    most.front() = H5S_UNLIMITED;
  return {H5Screate_simple(static_cast<int>(extents.size()), extents.data(), most.data()), H5Sclose};
}

H5T_cset_t name_character_set(std::string_view name) noexcept {
  const bool ascii =
      std::all_of(name.begin(), name.end(), [](char each) { return static_cast<unsigned char>(each) < 128; });
  return ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8;
}

}  // namespace windrow
