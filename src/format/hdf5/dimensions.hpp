// SPDX-License-Identifier: BSD-3-Clause
// Names of dimensions, as HDF5's dimension scales the way netCDF-4 has them: a dimension is named by the variable of its name, or by a
// dataset without data that says so of itself.
#pragma once

#include <hdf5.h>

#include "format/format.hpp"

namespace windrow {

// Code::unsupported: built without HDF5's high-level library.
Status create_dimension(hid_t file, const Dimension& dimension, hid_t links, hid_t creation);
Status attach_dimensions(hid_t file, const std::string& variable, const std::vector<std::string>& dimensions);

// Of a dataset and its attributes, as read: fills in Variable::dimensions, and takes those attributes away that say nothing else.
void take_dimensions(hid_t dataset, Variable& variable);
bool is_dimension_only(const Variable& variable);  // before take_dimensions(): it is a name and has no data

}  // namespace windrow
