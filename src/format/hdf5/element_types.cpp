// SPDX-License-Identifier: BSD-3-Clause
// Types of HDF5 other than plain numbers: text, booleans, complex numbers, opaque bytes, enumerations, object
// references.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "format/enumeration.hpp"
#include "format/hdf5/types.hpp"

namespace windrow {
namespace {

constexpr std::string_view k_boolean = "FALSE=0\nTRUE=1";  // over int8, as h5py stores numpy's booleans

struct FreeByHdf5 {
  void operator()(char* text) const noexcept { H5free_memory(text); }
};
using Hdf5Text = std::unique_ptr<char, FreeByHdf5>;

TypeDescription unsupported(std::string why) {
  return {Type::none, false, std::move(why), {}};
}

// Bytes of an integer of `size` in a given order, and back.
std::array<unsigned char, 8> bytes_of(uint64_t value, size_t size, bool big_endian) {
  std::array<unsigned char, 8> bytes{};
  for (size_t i = 0; i < size; ++i)
    bytes[big_endian ? size - 1 - i : i] = static_cast<unsigned char>(value >> (8 * i));
  return bytes;
}

uint64_t value_of(const unsigned char* bytes, size_t size, bool big_endian, bool is_signed) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i)
    value |= uint64_t{bytes[big_endian ? size - 1 - i : i]} << (8 * i);
  const uint64_t sign = uint64_t{1} << (8 * size - 1);
  return is_signed && (value & sign) != 0 ? value | ~(sign | (sign - 1)) : value;
}

Handle make_enumeration(Type type, bool big_endian, std::string_view text) {
  const auto members = parse_enumeration(type, text);
  if (!members.ok())
    return {};
  Handle made(H5Tenum_create(stored_number(type, big_endian)), H5Tclose);
  for (const EnumerationMember& member : members.value()) {
    const auto bytes = bytes_of(member.value, static_cast<size_t>(type_size(type)), big_endian);
    if (!made.valid() || H5Tenum_insert(made.get(), member.name.c_str(), bytes.data()) < 0)
      return {};
  }
  return made;
}

Handle make_complex(Type type, bool big_endian) {
  const auto half = static_cast<size_t>(component_size(type));
  const hid_t component = stored_number(type == Type::complex64 ? Type::float32 : Type::float64, big_endian);
  Handle made(H5Tcreate(H5T_COMPOUND, 2 * half), H5Tclose);
  if (!made.valid() || H5Tinsert(made.get(), "r", 0, component) < 0 || H5Tinsert(made.get(), "i", half, component) < 0)
    return {};
  return made;
}

Handle make_opaque(const Details& details) {
  Handle made(H5Tcreate(H5T_OPAQUE, static_cast<size_t>(details.bytes)), H5Tclose);
  if (!made.valid() || H5Tset_tag(made.get(), details.tag.c_str()) < 0)
    return {};
  return made;
}

// Values in the file's order of members. Names that contain a line end cannot be represented in our text.
TypeDescription describe_enumeration(hid_t type) {
  const Handle base(H5Tget_super(type), H5Tclose);
  TypeDescription description = base.valid() ? describe_type(base.get()) : unsupported("");
  if (description.type < Type::int8 || description.type > Type::uint64)
    return unsupported(fmt::format("enumeration type of an {}",
                                   description.unsupported.empty() ? "unknown type" : description.unsupported));
  const auto size = static_cast<size_t>(type_size(description.type));
  const bool is_signed = static_cast<int>(description.type) % 2 == 1;
  const int count = H5Tget_nmembers(type);
  std::string& text = description.details.enumeration;
  for (int i = 0; i < count; ++i) {
    const Hdf5Text name(H5Tget_member_name(type, static_cast<unsigned>(i)));
    std::array<unsigned char, 8> bytes{};
    if (!name || H5Tget_member_value(type, static_cast<unsigned>(i), bytes.data()) < 0)
      return unsupported("enumeration type that cannot be read");
    const uint64_t value = value_of(bytes.data(), size, description.big_endian, is_signed);
    text += (i == 0 ? "" : "\n") + member_text(description.type, {name.get(), value});
  }
  if (text.empty())
    return unsupported("enumeration type without names");
  if (description.type == Type::int8 && text == k_boolean)
    return {Type::boolean, description.big_endian, "", {}};
  const auto members = parse_enumeration(description.type, text);
  if (!members.ok() || std::cmp_not_equal(members.value().size(), count))
    return unsupported("enumeration type with invalid names");
  return description;
}

// The type of one component of a complex number; the type none if the compound is not a complex number.
TypeDescription describe_component(hid_t compound, unsigned number) {
  const Hdf5Text name(H5Tget_member_name(compound, number));
  const Handle member(H5Tget_member_type(compound, number), H5Tclose);
  const H5T_class_t kind = member.valid() ? H5Tget_class(member.get()) : H5T_NO_CLASS;
  const char* wanted = number == 0 ? "r" : "i";
  if (!name || std::strcmp(name.get(), wanted) != 0 || kind != H5T_FLOAT)
    return {};
  TypeDescription component = describe_type(member.get());
  const bool has_type = component.type == Type::float32 || component.type == Type::float64;
  const size_t offset = number * static_cast<size_t>(type_size(component.type));
  if (!has_type || H5Tget_member_offset(compound, number) != offset)
    return {};
  return component;
}

// A complex number as h5py stores it: contiguous r and i of one floating-point type.
TypeDescription describe_compound(hid_t type) {
  if (H5Tget_nmembers(type) != 2)
    return unsupported("compound type");
  const TypeDescription real = describe_component(type, 0), imaginary = describe_component(type, 1);
  const bool are_alike = real.type == imaginary.type && real.big_endian == imaginary.big_endian;
  const auto component_bytes = static_cast<size_t>(type_size(real.type));
  if (real.type == Type::none || !are_alike || H5Tget_size(type) != 2 * component_bytes)
    return unsupported("compound type");
  return {real.type == Type::float32 ? Type::complex64 : Type::complex128, real.big_endian, "", {}};
}

TypeDescription describe_text(hid_t type) {
  TypeDescription description{Type::text, false, "", {}};
  description.details.text_ascii = H5Tget_cset(type) == H5T_CSET_ASCII;
  description.details.text_padding = padding_of(type);
  if (H5Tis_variable_str(type) <= 0)
    description.details.bytes = static_cast<int64_t>(H5Tget_size(type));
  return description;
}

TypeDescription describe_opaque(hid_t type) {
  TypeDescription description{Type::opaque, false, "", {}};
  description.details.bytes = static_cast<int64_t>(H5Tget_size(type));
  const Hdf5Text tag(H5Tget_tag(type));
  if (tag)
    description.details.tag = tag.get();
  return description;
}

}  // namespace

H5T_str_t stored_padding(TextPadding padding) noexcept {
  return padding == TextPadding::null_terminated ? H5T_STR_NULLTERM
         : padding == TextPadding::null_padded   ? H5T_STR_NULLPAD
                                                 : H5T_STR_SPACEPAD;
}

TextPadding padding_of(hid_t type) noexcept {
  const H5T_str_t padding = H5Tget_strpad(type);
  return padding == H5T_STR_NULLPAD    ? TextPadding::null_padded
         : padding == H5T_STR_SPACEPAD ? TextPadding::space_padded
                                       : TextPadding::null_terminated;
}

Handle make_text_type(size_t size, TextPadding padding, bool ascii) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  if (H5Tset_size(type.get(), size) < 0 || H5Tset_strpad(type.get(), stored_padding(padding)) < 0 ||
      H5Tset_cset(type.get(), ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8) < 0)
    return {};
  return type;
}

Handle make_type(Type type, bool big_endian, const Details& details) {
  switch (type) {
    case Type::none:
      return {};
    case Type::text:
      return make_text_type(details.bytes == 0 ? H5T_VARIABLE : static_cast<size_t>(details.bytes),
                            details.bytes == 0 ? TextPadding::null_terminated : details.text_padding,
                            details.text_ascii);
    case Type::boolean:
      return make_enumeration(Type::int8, big_endian, k_boolean);
    case Type::complex64:
    case Type::complex128:
      return make_complex(type, big_endian);
    case Type::opaque:
      return make_opaque(details);
    case Type::reference:
      return {H5Tcopy(H5T_STD_REF_OBJ), H5Tclose};
    default:
      break;
  }
  if (!details.enumeration.empty())
    return make_enumeration(type, big_endian, details.enumeration);
  return {H5Tcopy(stored_number(type, big_endian)), H5Tclose};
}

TypeDescription describe_element_type(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_TIME:
      return unsupported("time type");
    case H5T_STRING:
      return describe_text(type);
    case H5T_BITFIELD:
      return unsupported("bit field type");
    case H5T_OPAQUE:
      return describe_opaque(type);
    case H5T_COMPOUND:
      return describe_compound(type);
    case H5T_REFERENCE: {
      if (H5Tequal(type, H5T_STD_REF_OBJ) > 0)
        return {Type::reference, false, "", {}};
      return unsupported("reference type");
    }
    case H5T_ENUM:
      return describe_enumeration(type);
    case H5T_VLEN:
      return unsupported("variable-length type");
    case H5T_ARRAY:
      return unsupported("array type");
    default:
      return unsupported("type of an unknown class");
  }
}

}  // namespace windrow
