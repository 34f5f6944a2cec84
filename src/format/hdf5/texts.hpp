// SPDX-License-Identifier: BSD-3-Clause
// Texts of variable length and object references. HDF5 stores them apart from other elements, so they are read and
// written as a whole through the library.
#pragma once

#include <hdf5.h>

#include <functional>

#include "format/format.hpp"
#include "format/hdf5/dimensions.hpp"

namespace windrow {

// H5Aread or H5Dread of all elements of an object, as elements of the given type.
using ReadAll = std::function<herr_t(hid_t memory_type, void* elements)>;

// `path`: for messages. `ascii`: HDF5 does not convert character sets.
Result<std::vector<std::string>> read_variable_texts(hid_t space, size_t elements, bool ascii, const std::string& path,
                                                     const ReadAll& read);

// References to these paths, "" for none. `what` has them. Code::not_found: a path does not exist; bad_argument: it is
// relative, or refers to another file.
Result<std::vector<hobj_ref_t>> make_references(hid_t object, const std::string& what,
                                                const std::vector<std::string>& paths);

// For variables that is_moved_whole(). Code::unsupported: more than one message to all ranks can hold. `paths`: of all
// objects of the file, for references; one to nothing or to a removed object is "".
Result<std::vector<std::string>> read_variable(hid_t file, const std::string& path,
                                               const std::function<ObjectPaths()>& paths);
// `stored`: the stored places of the referenced objects.
Status write_variable(hid_t file, const std::string& path, const std::vector<std::string>& texts,
                      const std::function<std::vector<std::string>(const std::vector<std::string>&)>& stored);

}  // namespace windrow
