// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as the message with the catalog of a file: decoded or refused. What was decoded is encoded to an equal
// catalog.
#include <cstddef>
#include <cstdint>
#include <span>

#include "../fuzz/expect.hpp"
#include "format/catalog.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto read = windrow::deserialize(std::as_bytes(std::span(data, size)));
  if (!read.ok())
    return 0;
  const auto again = windrow::deserialize(windrow::serialize(read.value()));
  FUZZ_EXPECT(again.ok() && again.value() == read.value());
  return 0;
}
