// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf/signature.hpp"

#include <array>
#include <cstring>

#include "storage/overwrite.hpp"

namespace windrow {

// Source: NetCDF Classic Format Specification: "CDF" and the version, 1, 2 or 5.
Result<bool> recognises_netcdf(const std::string&, Store& file) {
  std::array<std::byte, 4> read{};
  const Result<int64_t> size = file.size();
  if (!size.ok())
    return size.status();
  if (size.value() < int64_t{read.size()})
    return false;
  if (Status status = file.read_at(0, read); !status.ok())
    return status;
  hide_mark(k_mark_of_netcdf, 0, read);
  const auto version = static_cast<int>(read[3]);
  return std::memcmp(read.data(), "CDF", 3) == 0 && (version == 1 || version == 2 || version == 5);
}

}  // namespace windrow
