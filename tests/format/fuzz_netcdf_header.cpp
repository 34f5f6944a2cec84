// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as the header of a netCDF classic file: measured or refused, before PnetCDF sees them.
#include <cstddef>
#include <cstdint>
#include <span>

#include "../fuzz/expect.hpp"
#include "format/netcdf/inspect.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const int64_t file_bytes : {static_cast<int64_t>(size), int64_t{1} << 40}) {
    const auto header = windrow::inspect_header(bytes, file_bytes, "a file");
    if (!header.ok()) continue;
    FUZZ_EXPECT(header.value() >= 0 && header.value() <= static_cast<int64_t>(size));
    // What is whole is so whatever comes behind it, and says so again.
    if (header.value() > 0) {
      const auto again = windrow::inspect_header(bytes.first(static_cast<size_t>(header.value())), file_bytes, "a file");
      FUZZ_EXPECT(again.ok() && again.value() == header.value());
    }
  }
  return 0;
}
