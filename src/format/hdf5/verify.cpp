// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/verify.hpp"

#include <hdf5.h>

#include <fmt/format.h>

#include "format/hdf5/handle.hpp"
#include "format/hdf5/types.hpp"
#include "format/hdf5/version.hpp"

namespace windrow {
namespace {

herr_t open_attribute(hid_t object, const char* name, const H5A_info_t*, void*) noexcept {
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Handle type(attribute.valid() ? H5Aget_type(attribute.get()) : H5I_INVALID_HID, H5Tclose);
  const Handle space(type.valid() ? H5Aget_space(attribute.get()) : H5I_INVALID_HID, H5Sclose);
  return space.valid() ? 0 : -1;
}

// `kept`: receives the name of the object that is being opened, for the message.
herr_t open_object(hid_t root, const char* name, const H5O_info_t*, void* kept) noexcept {
  const Status status = guard([&] { return static_cast<std::string*>(kept)->assign(name), Status(); });
  const Handle object(H5Oopen(root, name, H5P_DEFAULT), H5Oclose);
  const bool is_whole = status.ok() && object.valid() &&
                        H5Aiterate2(object.get(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, open_attribute, nullptr) >= 0;
  return is_whole ? 0 : -1;
}

herr_t visit(hid_t file, std::string& name) {
#if H5_VERSION_GE(1, 12, 0)
  return H5Ovisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, open_object, &name, H5O_INFO_BASIC);
#else
  return H5Ovisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, open_object, &name);
#endif
}

}  // namespace

Status read_all_headers(const std::string& path) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_sec2(access.get());
  set_file_locking(access.get(), false);
  std::string name = "/";
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
  if (file.valid() && visit(file.get(), name) >= 0)
    return {};
  return hdf5_status(Code::io, "a call failed, and HDF5 cannot read what it wrote: object", name == "." ? "/" : name);
}

}  // namespace windrow
