// SPDX-License-Identifier: BSD-3-Clause
// Texts of variable length and object references: HDF5 keeps them away from where the other elements lie, so they are
// read and written as a whole through the library.
#pragma once

#include <hdf5.h>

#include <functional>

#include "format/format.hpp"
#include "format/hdf5/dimensions.hpp"

namespace windrow {

// H5Aread or H5Dread of all elements of an object, as elements of the type given.
using ReadAll = std::function<herr_t(hid_t memory_type, void* elements)>;

// `path`: for the message. `ascii`: HDF5 does not turn one character set into the other.
Result<std::vector<std::string>> read_variable_texts(hid_t space, size_t elements, bool ascii, const std::string& path,
                                                     const ReadAll& read);

// The references that these paths are, "" to nothing. `what` has them. Code::not_found: nothing is at a path;
// bad_argument: it is relative, or leads to another file.
Result<std::vector<hobj_ref_t>> make_references(hid_t object, const std::string& what,
                                                const std::vector<std::string>& paths);

// Of a variable that is_moved_whole(). As many as one message to all ranks holds, else Code::unsupported. `paths`: of
// all objects of the file, for references: one to nothing, or to what is gone, is "".
Result<std::vector<std::string>> read_variable(hid_t file, const std::string& path,
                                               const std::function<ObjectPaths()>& paths);
// `stored`: where the objects are that references lead to.
Status write_variable(hid_t file, const std::string& path, const std::vector<std::string>& texts,
                      const std::function<std::vector<std::string>(const std::vector<std::string>&)>& stored);

}  // namespace windrow
