// SPDX-License-Identifier: BSD-3-Clause
// Types and dataspaces of HDF5, and ours.
#pragma once

#include <hdf5.h>

#include "format/format.hpp"
#include "format/hdf5/handle.hpp"

namespace windrow {

// Of an integer or floating-point number. Predefined, not to be closed.
hid_t stored_number(Type type, bool big_endian);

// Of elements of any type, text of variable length included; invalid: HDF5 says why.
Handle make_type(Type type, bool big_endian, const Details& details);

struct TypeDescription {
  Type type = Type::none;
  bool big_endian = false;
  std::string unsupported;  // why it has no type
  Details details;
};
TypeDescription describe_type(hid_t type);
// The same for a type of another class than integers and floating-point numbers.
TypeDescription describe_element_type(hid_t type);

H5T_str_t stored_padding(TextPadding padding) noexcept;
TextPadding padding_of(hid_t type) noexcept;
// `size`: H5T_VARIABLE, or the bytes of each text. Invalid: HDF5 says why.
Handle make_text_type(size_t size, TextPadding padding, bool ascii);

struct SpaceDescription {
  bool is_null = false;  // no elements at all, not even a shape
  std::vector<int64_t> shape;
  int64_t elements = 0;
};
// Code::bad_file: what no file of ours could hold.
Result<SpaceDescription> describe_space(hid_t space, const std::string& what);

Handle make_space(const std::vector<int64_t>& shape,
                  bool extendible = false);  // extendible: the first dimension, without end
Handle make_null_space();

// H5T_CSET_UTF8 for names that need it; with old readers in mind ASCII else.
H5T_cset_t name_character_set(std::string_view name) noexcept;

}  // namespace windrow
