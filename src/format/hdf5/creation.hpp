// SPDX-License-Identifier: BSD-3-Clause
// What all objects that we make in an HDF5 file have in common.
#pragma once

#include <string>

#include "format/hdf5/handle.hpp"
#include "format/hdf5/types.hpp"

namespace windrow {

// The same bytes for the same program; and a header, of HDF5 1.8 and later, that has room for attributes of more than
// 64 KiB. Up to a thousand attributes stay in the header, where they take least.
inline herr_t set_object_creation(hid_t creation) {
  constexpr unsigned k_in_header = 1000;
  const bool ok = H5Pset_obj_track_times(creation, false) >= 0 &&
                  H5Pset_attr_creation_order(creation, H5P_CRT_ORDER_TRACKED) >= 0 &&
                  H5Pset_attr_phase_change(creation, k_in_header, 0) >= 0;
  return ok ? 0 : -1;
}

// netCDF-4 changes files only whose groups know in which order they were filled.
inline herr_t set_group_creation(hid_t creation) {
  const bool ok = set_object_creation(creation) >= 0 &&
                  H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0;
  return ok ? 0 : -1;
}

// Early: the place is known at once. Never filled: HDF5 would write every byte once more, on one rank. See take_place()
// of driver.hpp.
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
