// SPDX-License-Identifier: BSD-3-Clause
// Attributes of an open HDF5 object. Values go through the HDF5 library, because they are metadata.
#pragma once

#include <hdf5.h>

#include "format/format.hpp"
#include "format/hdf5/handle.hpp"

namespace windrow {

// By name, or in creation order if the object tracks it. Attribute::unsupported gives the reason if one cannot be read.
// `file_bytes`: no attribute is larger than its file. References are returned as stored, in Attribute::data; their
// targets are known when the whole file has been walked.
Result<std::vector<Attribute>> read_attributes(hid_t object, H5_index_t index, const std::string& path,
                                               int64_t file_bytes);

// Replaces an attribute of that name; if writing fails, the old one stays. The attribute has passed check_attribute().
Status write_attribute(hid_t object, const std::string& path, const Attribute& attribute);

}  // namespace windrow
