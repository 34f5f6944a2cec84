// SPDX-License-Identifier: BSD-3-Clause
// Properties of all objects that are created in an HDF5 file.
#pragma once

#include <string>

#include "format/hdf5/handle.hpp"
#include "format/hdf5/types.hpp"

namespace windrow {

// Makes files reproducible, and gives objects headers of HDF5 1.8 and later, which allow attributes of more than 64
// KiB. Up to a thousand attributes stay in the header, where they need the least space.
inline herr_t set_object_creation(hid_t creation) {
  constexpr unsigned k_in_header = 1000;
  const bool ok = H5Pset_obj_track_times(creation, false) >= 0 &&
                  H5Pset_attr_creation_order(creation, H5P_CRT_ORDER_TRACKED) >= 0 &&
                  H5Pset_attr_phase_change(creation, k_in_header, 0) >= 0;
  return ok ? 0 : -1;
}

// netCDF-4 changes only files whose groups track creation order.
inline herr_t set_group_creation(hid_t creation) {
  const bool ok = set_object_creation(creation) >= 0 &&
                  H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0;
  return ok ? 0 : -1;
}

// Early allocation: the place is known at once. Never filled, because HDF5 would write every byte once more, on one
// rank. See take_place() in driver.hpp.
inline bool set_contiguous(hid_t creation) {
  return H5Pset_layout(creation, H5D_CONTIGUOUS) >= 0 && H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY) >= 0 &&
         H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER) >= 0;
}

inline Handle link_creation(const std::string& path) {
  Handle list(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_char_encoding(list.get(), name_character_set(path));
  return list;
}

}  // namespace windrow
