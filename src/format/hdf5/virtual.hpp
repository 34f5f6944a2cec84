// SPDX-License-Identifier: BSD-3-Clause
// Virtual datasets: HDF5's readers see one array whose elements are in other files. If one of these cannot be read,
// HDF5 silently returns the fill value, so this is a conspicuous value.
#pragma once

#include <hdf5.h>

#include <span>
#include <string>
#include <vector>

#include "format/format.hpp"

namespace windrow {

// `place`: free path of the variable in this file; in the other files it has its own path. An extendible dataset maps
// to all elements of its files; its parts are those of one index of the first dimension.
Status create_virtual(hid_t file, const std::string& place, const VariableDefinition& definition,
                      std::span<const Part> parts);

// Code::bad_file: the dataset is not virtual, or maps something other than whole datasets of its own path to boxes.
// Parts as above.
Result<std::vector<Part>> read_virtual(hid_t file, const std::string& place, const std::string& path);

// The shape of an extendible virtual dataset, from an attribute; empty if the dataset has no valid attribute. HDF5
// would find the shape by opening all mapped files, which are untrusted.
std::vector<int64_t> read_current_shape(hid_t dataset);
Status write_current_shape(hid_t dataset, const std::string& path, std::span<const int64_t> shape);

// A value that is clearly not data, as stored: NaN, the smallest signed integer, the largest unsigned one, all bits
// set, or "?" for text.
std::vector<std::byte> missing_value(const VariableDefinition& definition);

}  // namespace windrow
