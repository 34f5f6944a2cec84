// SPDX-License-Identifier: BSD-3-Clause
// Layouts from file systems, other ranks and options, with arbitrary content: an error, or a valid layout that finds
// the stripe of every byte and arrives complete at other ranks.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "../fuzz/expect.hpp"
#include "layout/parse.hpp"
#include "layout/stripes.hpp"

namespace {

void expect_sound(const windrow::StorageLayout& layout) {
  FUZZ_EXPECT(windrow::check_layout(layout).ok());
  FUZZ_EXPECT(!windrow::layout_text(layout).empty());
  FUZZ_EXPECT(windrow::lock_unit(layout) >= 1);
  for (const windrow::LayoutComponent& component : layout.components)
    for (const int64_t offset :
         {component.bytes.begin, component.bytes.begin + (component.bytes.end - component.bytes.begin) / 3,
          component.bytes.end - 1}) {
      const windrow::Stripe stripe = windrow::stripe_at(layout, offset);
      FUZZ_EXPECT(stripe.bytes.begin <= offset && offset < stripe.bytes.end);
      FUZZ_EXPECT(stripe.bytes.begin >= component.bytes.begin && stripe.bytes.end <= component.bytes.end);
      FUZZ_EXPECT(stripe.column < component.stripe_count || component.stripe_count == 0);
      FUZZ_EXPECT(windrow::stripe_at(layout, stripe.bytes.begin).bytes == stripe.bytes);
    }
  std::vector<std::byte> bytes;
  windrow::append_layout(bytes, layout);
  size_t position = 0;
  const auto again = windrow::read_layout(bytes, position);
  FUZZ_EXPECT(again.ok() && again.value() == layout && position == bytes.size());
}

windrow::Result<windrow::StorageLayout> parse(uint8_t kind, std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  size_t position = 0;
  switch (kind % 5) {
    case 0:
      return windrow::parse_lustre(bytes);
    case 1:
      return windrow::parse_cephfs(text);
    case 2:
      return windrow::parse_beegfs(bytes, std::vector<int64_t>(kind / 5, 3));
    case 3:
      return windrow::parse_mock(text);
    default:
      return windrow::read_layout(bytes, position);
  }
}

}  // namespace

// The first byte: what the others are.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0)
    return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  const auto layout = parse(data[0], bytes);
  if (layout.ok() && layout.value().known())
    expect_sound(layout.value());
  (void)windrow::parse_stripes({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return 0;
}
