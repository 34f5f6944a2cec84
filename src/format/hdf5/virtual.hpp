// SPDX-License-Identifier: BSD-3-Clause
// Virtual datasets: one array to every reader of HDF5, whose elements lie in other files. HDF5 says nothing where one
// of those cannot be read, and hands out the fill value: so that is one that shows.
#pragma once

#include <hdf5.h>

#include <span>
#include <string>
#include <vector>

#include "format/format.hpp"

namespace windrow {

// `place`: where in this file the variable lies, which is not taken; in the others it is at its path. What grows leads
// to all that its files have: its parts are of one index of the first dimension.
Status create_virtual(hid_t file, const std::string& place, const VariableDefinition& definition,
                      std::span<const Part> parts);

// Code::bad_file: the dataset is not virtual, or maps something else than whole datasets of its own path to boxes.
// Parts as above.
Result<std::vector<Part>> read_virtual(hid_t file, const std::string& place, const std::string& path);

// The shape of a virtual dataset that grows. HDF5 finds it by opening all files that it leads to, whatever they are: so
// ours say it in an attribute. Empty: the dataset has none that could be one.
std::vector<int64_t> read_current_shape(hid_t dataset);
Status write_current_shape(hid_t dataset, const std::string& path, std::span<const int64_t> shape);

// An element that nobody takes for data, as stored: NaN, the smallest of signed integers, the largest of unsigned ones,
// all bits set or, of text, "?".
std::vector<std::byte> loud_value(const VariableDefinition& definition);

}  // namespace windrow
