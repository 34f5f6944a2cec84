// SPDX-License-Identifier: BSD-3-Clause
// Elements of variable length lie in heaps of the file, and their places where the elements of others are. HDF5 (1.10
// to 1.14) follows such a place
// whatever it says: one that is damaged makes it write past its memory, or loop.
#pragma once

#include <hdf5.h>

#include <string>

#include "format/hdf5/handle.hpp"
#include "format/hdf5/texts.hpp"

namespace windrow {

// Before HDF5 reads `elements` of variable length of an object of a file with our driver: whether each lies in a heap
// that is whole, and has as many bytes there as
// its place says. `type`: as it is stored, with items of `item_bytes`. `read`: of the object. bad_file: which does not;
// `what` names the object.
Status check_heap_places(hid_t object, hid_t type, size_t elements, size_t item_bytes, const std::string& what,
                         const ReadAll& read);

// Opens an object whose header lies there; invalid: HDF5 cannot. The mappings of a virtual dataset lie in a heap too,
// and HDF5 (1.10) follows the numbers in them before it looks at their checksum. bad_file: they are not what was
// written. The file has our driver.
Result<Handle> open_checked(hid_t file, hid_t group, const std::string& name, haddr_t header);

}  // namespace windrow
