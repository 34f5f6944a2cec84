// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as the header of a netCDF classic file: decoded or refused. What was decoded and is encoded has the same
// length and says the same.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

#include "../fuzz/expect.hpp"
#include "format/netcdf/header.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const int64_t file_bytes : {static_cast<int64_t>(size), int64_t{1} << 40}) {
    const auto header = windrow::decode_header(bytes, file_bytes, "a file");
    if (!header.ok())
      continue;
    const int64_t length = header.value().bytes;
    FUZZ_EXPECT(length >= 0 && length <= static_cast<int64_t>(size));
    // A complete header is complete with any bytes after it, and is encoded as it was.
    if (length > 0) {
      const auto again = windrow::decode_header(bytes.first(static_cast<size_t>(length)), file_bytes, "a file");
      FUZZ_EXPECT(again.ok() && again.value().bytes == length);
      const auto encoded = windrow::encode_header(header.value().contents);
      FUZZ_EXPECT(std::ssize(encoded) == length && windrow::header_bytes_of(header.value().contents) == length);
      const auto decoded = windrow::decode_header(encoded, file_bytes, "a file");
      FUZZ_EXPECT(decoded.ok() && windrow::encode_header(decoded.value().contents) == encoded);
    }
  }
  return 0;
}
