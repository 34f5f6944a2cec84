// SPDX-License-Identifier: BSD-3-Clause
// Machine files with arbitrary content: an error that names the file, or a machine that is unchanged after it was
// written and read.
#include <cstdint>
#include <string_view>

#include "../fuzz/expect.hpp"
#include "model/machine.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto machine = windrow::parse_machine(text, "fuzz.json");
  if (!machine.ok()) {
    FUZZ_EXPECT(machine.status().message().find("fuzz.json") != std::string::npos);
    return 0;
  }
  const std::string written = windrow::machine_text(machine.value());
  const auto again = windrow::parse_machine(written, "again.json");
  FUZZ_EXPECT(again.ok());
  FUZZ_EXPECT(windrow::machine_text(again.value()) == written);
  FUZZ_EXPECT(windrow::rate_at(machine.value().writes, 4096, 2) >= 0);
  return 0;
}
