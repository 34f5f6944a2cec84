// SPDX-License-Identifier: BSD-3-Clause
// Conversion of types and dataspaces of HDF5.
#pragma once

#include <hdf5.h>

#include "format/format.hpp"
#include "format/hdf5/handle.hpp"

namespace windrow {

// Predefined type of an integer or floating-point number; must not be closed.
hid_t stored_number(Type type, bool big_endian);

// Type of any elements, text of variable length included. Invalid handle: HDF5's error says why.
Handle make_type(Type type, bool big_endian, const Details& details);

struct TypeDescription {
  Type type = Type::none;
  bool big_endian = false;
  std::string unsupported;  // why it is not supported
  Details details;
};
TypeDescription describe_type(hid_t type);
// The same for a type of another class than integers and floating-point numbers.
TypeDescription describe_element_type(hid_t type);

H5T_str_t stored_padding(TextPadding padding) noexcept;
TextPadding padding_of(hid_t type) noexcept;
// `size`: H5T_VARIABLE, or bytes per text. Invalid handle: HDF5's error says why.
Handle make_text_type(size_t size, TextPadding padding, bool ascii);

struct SpaceDescription {
  bool is_null = false;  // neither elements nor a shape
  std::vector<int64_t> shape;
  int64_t elements = 0;
};
// Code::bad_file: no file could contain it.
Result<SpaceDescription> describe_space(hid_t space, const std::string& what);

Handle make_space(const std::vector<int64_t>& shape,
                  bool extendible = false);  // extendible: the first dimension is unlimited
Handle make_null_space();

// H5T_CSET_UTF8 for names that need it; otherwise ASCII, for old readers.
H5T_cset_t name_character_set(std::string_view name) noexcept;

}  // namespace windrow
