// SPDX-License-Identifier: BSD-3-Clause
// What the last few files say of themselves, with all bytes that HDF5 has read to find it. A file that is as long and has the same bytes there says the same: HDF5 would
// read them again, one after the other, and nothing else. Files that change while HDF5 reads them are not kept.
#pragma once

#include <memory>

#include "format/format.hpp"
#include "format/hdf5/image.hpp"

namespace windrow {

struct KeptCatalog {
  Image read;
  Catalog catalog;
  bool locked = false;  // as HDF5 has asked for while the file is open
};

// `record`: of all that was read. Not all catalogs are kept: not large ones, and not those that tell of what cannot be read.
void keep_catalog(const ImageRecord& record, const Catalog& catalog) noexcept;

// Of the file, which is locked then as HDF5 would have it; nullptr: HDF5 has to be asked. May throw std::bad_alloc.
std::shared_ptr<const KeptCatalog> find_catalog(Store& file);

}  // namespace windrow
