// SPDX-License-Identifier: BSD-3-Clause
// Virtual datasets: one array to every reader of HDF5, whose elements lie in other files. HDF5 says nothing where one of those cannot be read, and
// hands out the fill value: so that is one that shows.
#pragma once

#include <hdf5.h>

#include <span>
#include <vector>

#include "format/format.hpp"

namespace windrow {

// `definition.path` is not taken.
Status create_virtual(hid_t file, const VariableDefinition& definition, std::span<const Part> parts);

// Code::bad_file: the dataset is not virtual, or maps something else than whole datasets of its own path to boxes.
Result<std::vector<Part>> read_virtual(hid_t file, const std::string& path);

// An element that nobody takes for data, as stored: NaN, the smallest of signed integers, the largest of unsigned ones, all bits set or, of text, "?".
std::vector<std::byte> loud_value(const VariableDefinition& definition);

}  // namespace windrow
