// SPDX-License-Identifier: BSD-3-Clause
// Hides the differences between HDF5 1.10 and 2.x. Unversioned names such as H5Oget_info are macros that may refer to
// any version, depending on the build of HDF5.
#pragma once

#include <hdf5.h>

#include <array>
#include <type_traits>

namespace windrow {

#if H5_VERSION_GE(1, 12, 0)

using LinkInfo = H5L_info2_t;

inline herr_t iterate_links(hid_t group, H5_index_t index, H5L_iterate2_t callback, void* data) {
  return H5Literate2(group, index, H5_ITER_INC, nullptr, callback, data);
}

inline herr_t reclaim_texts(hid_t type, hid_t space, void* buffer) {
  return H5Treclaim(type, space, H5P_DEFAULT, buffer);
}

// Address of an object's header. It identifies the object in its file, and object references store it. HADDR_UNDEF: it
// cannot be read.
inline haddr_t address_of(hid_t object) {
  H5O_info2_t info;
  haddr_t address = HADDR_UNDEF;
  const bool known =
      H5Oget_info3(object, &info, H5O_INFO_BASIC) >= 0 && H5VLnative_token_to_addr(object, info.token, &address) >= 0;
  return known ? address : HADDR_UNDEF;
}

// Bits H5O_HDR_ of an object's header; 0: it cannot be read.
inline unsigned header_flags_of(hid_t object) {
  H5O_native_info_t info;
  return H5Oget_native_info(object, &info, H5O_NATIVE_INFO_HDR) >= 0 ? info.hdr.flags : 0;
}

// address_of() the target of a hard link, without opening it.
inline haddr_t address_of(hid_t group, const LinkInfo& link) {
  haddr_t address = HADDR_UNDEF;
  return H5VLnative_token_to_addr(group, link.u.token, &address) >= 0 ? address : HADDR_UNDEF;
}

#else

using LinkInfo = H5L_info_t;

inline herr_t iterate_links(hid_t group, H5_index_t index, H5L_iterate_t callback, void* data) {
  return H5Literate(group, index, H5_ITER_INC, nullptr, callback, data);
}

inline herr_t reclaim_texts(hid_t type, hid_t space, void* buffer) {
  return H5Dvlen_reclaim(type, space, H5P_DEFAULT, buffer);
}

inline haddr_t address_of(hid_t object) {
  H5O_info_t info;
  return H5Oget_info2(object, &info, H5O_INFO_BASIC) >= 0 ? info.addr : HADDR_UNDEF;
}

inline unsigned header_flags_of(hid_t object) {
  H5O_info_t info;
  return H5Oget_info2(object, &info, H5O_INFO_HDR) >= 0 ? info.hdr.flags : 0;
}

inline haddr_t address_of(hid_t, const LinkInfo& link) {
  return link.u.address;
}

#endif

// Whether list_chunks() takes linear time. Before 1.14 HDF5 walks to each chunk from the beginning.
constexpr bool k_lists_fast = H5_VERSION_GE(1, 14, 0);

// Calls `take(first)`, which returns 0, for each stored chunk of a dataset.
template <class Take>
herr_t list_chunks(hid_t dataset, hsize_t chunks, Take&& take) {
#if H5_VERSION_GE(1, 14, 0)
  const auto each = [](const hsize_t* first, unsigned, haddr_t, hsize_t, void* data) {
    return (*static_cast<std::remove_reference_t<Take>*>(data))(first);
  };
  (void)chunks;
  return H5Dchunk_iter(dataset, H5P_DEFAULT, each, &take);
#elif H5_VERSION_GE(1, 10, 5)
  const hid_t space = H5Dget_space(dataset);
  std::array<hsize_t, H5S_MAX_RANK> first{};
  herr_t result = space < 0 ? -1 : 0;
  for (hsize_t i = 0; i < chunks && result >= 0; ++i) {
    unsigned skipped = 0;
    result = H5Dget_chunk_info(dataset, space, i, first.data(), &skipped, nullptr, nullptr);
    if (result >= 0)
      result = take(first.data());
  }
  if (space >= 0)
    H5Sclose(space);
  return result;
#else
  (void)dataset, (void)chunks, (void)take;
  return -1;
#endif
}

// Number of stored chunks of a dataset; negative: unknown.
inline int64_t count_chunks(hid_t dataset) {
#if H5_VERSION_GE(1, 10, 5)
  const hid_t space = H5Dget_space(dataset);
  hsize_t chunks = 0;
  const herr_t result = space < 0 ? -1 : H5Dget_num_chunks(dataset, space, &chunks);
  if (space >= 0)
    H5Sclose(space);
  return result < 0 ? -1 : static_cast<int64_t>(chunks);
#else
  (void)dataset;
  return -1;
#endif
}

// Available since HDF5 1.10.7 and 1.12.1. Before, only the environment variable HDF5_USE_FILE_LOCKING decides.
inline void set_file_locking([[maybe_unused]] hid_t access, [[maybe_unused]] bool use) {
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
  H5Pset_file_locking(access, use, true);
#endif
}

}  // namespace windrow
