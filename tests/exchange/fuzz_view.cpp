// SPDX-License-Identifier: BSD-3-Clause
// Arbitrary bytes as what another rank says of its pieces: a description, or counts by window. What is understood must
// be good to work with, and say the same when it is said again. The first byte is even for a description.
#include <algorithm>
#include <vector>

#include "../fuzz/expect.hpp"
#include "exchange/view.hpp"

namespace {

using namespace windrow;

void parse_as_counts(std::span<const std::byte> bytes) {
  const auto counts = parse_counts(bytes);
  FUZZ_EXPECT(counts.ok() || counts.status().code() == Code::internal);
  if (!counts.ok())
    return;
  int64_t before = 0;
  for (const WindowBytes& count : counts.value()) {
    FUZZ_EXPECT(count.step >= before && count.bytes >= 0);
    before = count.step;
  }
  std::vector<std::byte> again;
  describe_counts(counts.value(), again);
  const auto same = parse_counts(again);
  FUZZ_EXPECT(same.ok() && std::equal(same.value().begin(), same.value().end(), counts.value().begin(),
                                      counts.value().end(), [](const WindowBytes& a, const WindowBytes& b) {
                                        return a.step == b.step && a.bytes == b.bytes;
                                      }));
}

// The first pieces of a part, as the copies see them: in order, inside the part, packed in the message.
void walk(const ViewPart& part) {
  constexpr int64_t k_window = 1 << 12;
  const Extent window{part.hull.begin,
                      std::min(part.hull.end, part.hull.begin + std::min(k_window, INT64_MAX - part.hull.begin))};
  int64_t at = 0, memory = 0, bytes = 0;
  for_each_in(std::span(&part, 1), Window(window),
              [&](const ViewPart&, int64_t in_message, int64_t in_slot, int64_t length) {
                FUZZ_EXPECT(length > 0 && in_slot >= at && in_slot + length <= window.size() && in_message == memory);
                at = in_slot + length;
                memory += length;
                bytes += length;
              });
  FUZZ_EXPECT(bytes == bytes_in(std::span(&part, 1), window) && bytes <= part.total);
  FUZZ_EXPECT((bytes == 0) == part.hull.empty());
}

// Said again as a rank says what it holds, and understood again.
void describe_again(const View& view) {
  std::vector<Item> items;
  for (const ViewPart& part : view.parts)
    if (!part.hull.empty())
      items.push_back({part.runs, part.hull, part.total, part.file_base, nullptr, 1});
  std::vector<std::byte> again;
  describe(items, {0, INT64_MAX}, again);
  const auto same = parse_description(again);
  FUZZ_EXPECT(same.ok() && same.value().parts.size() == items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const ViewPart& part = same.value().parts[i];
    FUZZ_EXPECT(part.hull == items[i].hull && part.total == items[i].total && part.file_base == items[i].file_base);
  }
}

void parse_as_description(std::span<const std::byte> bytes) {
  const auto view = parse_description(bytes);
  FUZZ_EXPECT(view.ok() || view.status().code() == Code::internal);
  if (!view.ok())
    return;
  for (const ViewPart& part : view.value().parts) {
    FUZZ_EXPECT(part.total >= 0 && part.hull.begin >= 0 && part.hull.end >= part.hull.begin &&
                part.total <= part.hull.size());
    walk(part);
  }
  describe_again(view.value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0)
    return 0;
  const auto bytes = std::as_bytes(std::span(data, size).subspan(1));
  if (data[0] % 2 == 0)
    parse_as_description(bytes);
  else
    parse_as_counts(bytes);
  return 0;
}
