// SPDX-License-Identifier: BSD-3-Clause
// Types and dataspaces of HDF5, and ours.
#pragma once

#include <hdf5.h>

#include "format/format.hpp"
#include "format/hdf5/handle.hpp"

namespace windrow {

// Predefined, not to be closed.
hid_t stored_type(Type type, bool big_endian);
hid_t native_type(Type type);

struct TypeDescription {
  Type type = Type::none;
  bool big_endian = false;
  std::string unsupported;  // why it has no type
};
TypeDescription describe_type(hid_t type);

struct SpaceDescription {
  bool is_null = false;  // no elements at all, not even a shape
  std::vector<int64_t> shape;
  int64_t elements = 0;
};
// Code::bad_file: what no file of ours could hold.
Result<SpaceDescription> describe_space(hid_t space, const std::string& what);

Handle make_space(const std::vector<int64_t>& shape, bool extendible = false);  // extendible: the first dimension, without end

// H5T_CSET_UTF8 for names that need it; with old readers in mind ASCII else.
H5T_cset_t name_character_set(std::string_view name) noexcept;

}  // namespace windrow
