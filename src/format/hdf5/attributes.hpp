// SPDX-License-Identifier: BSD-3-Clause
// Attributes of an open HDF5 object. Their values go through the HDF5 library: they are metadata.
#pragma once

#include <hdf5.h>

#include "format/format.hpp"
#include "format/hdf5/handle.hpp"

namespace windrow {

// By name, or in the order of their creation, which the object has to know. What cannot be read yet says so in
// Attribute::unsupported. `file_bytes`: no attribute is larger than its file. References are as stored, in
// Attribute::data: what they lead to is known when the file has been walked.
Result<std::vector<Attribute>> read_attributes(hid_t object, H5_index_t index, const std::string& path,
                                               int64_t file_bytes);

// Replaces one of that name; when the new one cannot be written, the old one stays. Has been through check_attribute().
Status write_attribute(hid_t object, const std::string& path, const Attribute& attribute);

}  // namespace windrow
