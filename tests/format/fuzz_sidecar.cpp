// SPDX-License-Identifier: BSD-3-Clause
// Any text as the sidecar of a raw file: read or refused. What was read and is written again says the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "../fuzz/expect.hpp"
#include "format/raw/sidecar.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const int64_t file_bytes : {int64_t{0}, int64_t{1} << 40})
    for (const uint64_t file_number : {uint64_t{0}, uint64_t{7}}) {
      const auto read = windrow::parse_sidecar(text, "a file", file_bytes, file_number);
      if (!read.ok())
        continue;
      FUZZ_EXPECT(windrow::is_sidecar(text) && read.value().bytes <= file_bytes);
      const auto& found = read.value();
      const auto written = windrow::sidecar_text(found.catalog, found.texts, found.parts, found.bytes);
      FUZZ_EXPECT(written.ok());
      const auto again = windrow::parse_sidecar(written.value(), "a file", file_bytes, file_number);
      FUZZ_EXPECT(again.ok() && again.value().catalog == found.catalog && again.value().texts == found.texts &&
                  again.value().parts == found.parts && !again.value().is_interim);
    }
  (void)windrow::interim_sidecar_text({text, 1}, {text, 2});
  return 0;
}
