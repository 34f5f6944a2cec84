// SPDX-License-Identifier: BSD-3-Clause
// The differences between HDF5 1.10 and 2.x, under one set of names. Unversioned names such as H5Oget_info are macros that
// a build of HDF5 may point at any version.
#pragma once

#include <hdf5.h>

#include <array>
#include <cstring>

namespace windrow {

// Tells objects of one file apart.
using ObjectKey = std::array<unsigned char, 16>;

#if H5_VERSION_GE(1, 12, 0)

using LinkInfo = H5L_info2_t;

inline herr_t iterate_links(hid_t group, H5L_iterate2_t callback, void* data) {
  return H5Literate2(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, callback, data);
}

inline herr_t reclaim_texts(hid_t type, hid_t space, void* buffer) { return H5Treclaim(type, space, H5P_DEFAULT, buffer); }

inline herr_t key_of(hid_t object, ObjectKey& key) {
  H5O_info2_t info;
  const herr_t result = H5Oget_info3(object, &info, H5O_INFO_BASIC);
  if (result >= 0) std::memcpy(key.data(), &info.token, key.size());
  return result;
}

#else

using LinkInfo = H5L_info_t;

inline herr_t iterate_links(hid_t group, H5L_iterate_t callback, void* data) {
  return H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, callback, data);
}

inline herr_t reclaim_texts(hid_t type, hid_t space, void* buffer) {
  return H5Dvlen_reclaim(type, space, H5P_DEFAULT, buffer);
}

inline herr_t key_of(hid_t object, ObjectKey& key) {
  H5O_info_t info;
  const herr_t result = H5Oget_info2(object, &info, H5O_INFO_BASIC);
  key = {};
  if (result >= 0) std::memcpy(key.data(), &info.addr, sizeof info.addr);
  return result;
}

#endif

// HDF5 got this call in 1.10.7 and 1.12.1; before, only the environment variable HDF5_USE_FILE_LOCKING decides.
inline void set_file_locking([[maybe_unused]] hid_t access, [[maybe_unused]] bool use) {
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
  H5Pset_file_locking(access, use, true);
#endif
}

}  // namespace windrow
