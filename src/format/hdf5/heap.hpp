// SPDX-License-Identifier: BSD-3-Clause
// Elements and fill values of variable length are stored in heaps of the file, and the dataset stores their places.
// HDF5 1.10 to 1.14 trusts these places: a damaged one makes it write beyond its memory, or loop.
#pragma once

#include <hdf5.h>

#include <string>

#include "format/hdf5/handle.hpp"
#include "format/hdf5/texts.hpp"

namespace windrow {

// Called before HDF5 reads `elements` of variable length of an object, in a file with our driver: checks that each is
// in a valid heap and has the size that its place states. `type`: as stored, with items of `item_bytes`. `read`: reads
// the object. Code::bad_file: which element is not; `what` names the object.
Status check_heap_places(hid_t object, hid_t type, size_t elements, size_t item_bytes, const std::string& what,
                         const ReadAll& read);

// Opens an object by the address of its header. Invalid handle: HDF5 cannot. Before, its layout is checked, because
// HDF5 1.10 divides by the lengths of chunks, and uses the mappings of a virtual dataset, which are in a heap too,
// before it compares their checksum. Code::bad_file: a length is 0, or the checksum is wrong. The file uses our driver.
Result<Handle> open_checked(hid_t file, hid_t group, const std::string& name, haddr_t header);

// H5Dget_create_plist() of a dataset. `type`: as stored; HDF5 must not convert fill values of nested types of variable
// length. It trusts the stored size of a fill value and, for text of variable length, its place in a heap.
// Code::bad_file: one of them is wrong. The file uses our driver, and HDF5 has not changed the dataset since its last
// flush.
Result<Handle> checked_creation(hid_t dataset, hid_t type, const std::string& path);

}  // namespace windrow
