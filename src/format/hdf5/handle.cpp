// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/handle.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "storage/system_error.hpp"

namespace windrow {

// Equivalent to H5E_BEGIN_TRY and H5E_END_TRY, which are two halves of a macro.
Quiet::Quiet() noexcept {
#ifndef H5_NO_DEPRECATED_SYMBOLS
  H5Eauto_is_v2(H5E_DEFAULT, &is_second_);
  if (is_second_ == 0) {
    H5Eget_auto1(&first_, &data_);
    H5Eset_auto1(nullptr, nullptr);
    return;
  }
#endif
  H5Eget_auto2(H5E_DEFAULT, &second_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Quiet::~Quiet() {
#ifndef H5_NO_DEPRECATED_SYMBOLS
  if (is_second_ == 0) {
    H5Eset_auto1(first_, data_);
    return;
  }
#endif
  H5Eset_auto2(H5E_DEFAULT, second_, data_);
}

Hdf5Error last_error() {
  Hdf5Error error;
  // Upward begins at the innermost error. A C callback must not throw.
  const auto take_first = [](unsigned number, const H5E_error2_t* entry, void* data) noexcept -> herr_t {
    if (number != 0 || !entry->desc)
      return 0;
    auto& first = *static_cast<Hdf5Error*>(data);
    constexpr std::string_view k_mark = "errno = ";
    if (const char* at = std::strstr(entry->desc, k_mark.data()))
      first.system_error = std::atoi(at + k_mark.size());
    const Status taken = guard([&] {
      first.text = entry->desc;
      return Status();
    });
    if (!taken.ok() && first.system_error == 0)
      first.system_error = ENOMEM;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &error);
  return error;
}

Status hdf5_status(Code otherwise, std::string_view what, std::string_view path, const Hdf5Error& error) {
  if (error.system_error != 0)
    return system_status(what, path, error.system_error);
  return {otherwise,
          fmt::format("{} \"{}\": HDF5: {}", what, path, error.text.empty() ? "no reason given" : error.text)};
}

Status hdf5_status(Code otherwise, std::string_view what, std::string_view path) {
  return hdf5_status(otherwise, what, path, last_error());
}

}  // namespace windrow
