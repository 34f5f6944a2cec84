// SPDX-License-Identifier: BSD-3-Clause
#include "planning/sampled_ratio.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "codec/codec.hpp"
#include "plan/plan.hpp"

namespace windrow {
namespace {

constexpr int k_places = 4;
constexpr size_t k_compressors = 2;  // the fastest of each kind: one for numbers and one for bytes
constexpr int64_t k_place_bytes = static_cast<int64_t>(CodecWorkspace::k_sample_bytes) / k_places;

// Collects pieces in the order of a message, from a position of the item to at most the next. Positions are fractions
// of the sample from its first to its last byte.
void gather(const Item& item, double fraction, double next, std::vector<std::byte>& bytes) {
  constexpr int k_most_samples = 64;
  const int64_t first = item.hull.begin - item.file_base;
  const auto size = static_cast<double>(item.hull.size());
  const int64_t end = std::min(first + static_cast<int64_t>(size * next), item.hull.end - item.file_base);
  int64_t at = first + static_cast<int64_t>(size * fraction), room = k_place_bytes;
  for (int sample = 0; sample < k_most_samples && room > 0 && at < end; ++sample) {
    const int64_t begin = next_offset(item.runs, at);
    if (begin >= end)
      return;
    at = std::min(begin + room, end);  // at most `room` bytes, even if the pieces are far apart
    for_each_piece(item.runs, {begin, at}, [&](const Piece& piece) {
      const std::byte* from = item.memory + piece.memory;
      bytes.insert(bytes.end(), from, from + piece.length);
      room -= piece.length;
    });
  }
}

// A sample of the items with memory, which have `total` bytes together.
std::vector<std::byte> sample_of(std::span<const Item> items, double total) {
  std::vector<std::byte> bytes;
  bytes.reserve(CodecWorkspace::k_sample_bytes);
  double before = 0;
  int place = 0;
  for (const Item& item : items) {
    if (item.memory == nullptr || item.total < 1)
      continue;
    const auto of_item = static_cast<double>(item.total);
    const auto place_of = [&](int number) { return (total * number / k_places - before) / of_item; };
    for (; place < k_places && place_of(place) < 1; ++place)
      gather(item, std::max(0.0, place_of(place)), std::min(1.0, place_of(place + 1)), bytes);
    before += of_item;
  }
  return bytes;
}

// The bytes of the sample after the best of the fastest codecs; nullopt without memory.
std::optional<int64_t> compressed_bytes(std::span<const std::byte> sample, int element_bytes) {
  const auto fastest = compressors().first(std::min(k_compressors, compressors().size()));
  const auto workspace = CodecWorkspace::make(static_cast<int64_t>(CodecWorkspace::k_sample_bytes), fastest);
  if (!workspace.ok())
    return std::nullopt;
  auto left = static_cast<int64_t>(sample.size());
  for (const Compressor* compressor : fastest)
    for (const bool shuffle : {false, true}) {
      const CodecChoice choice{
          .compressor = compressor, .level = 0, .shuffle = shuffle, .element_bytes = std::clamp(element_bytes, 1, 255)};
      if (!shuffle || compressor->shuffles())
        left = std::min(left, sample_frame(sample, choice, *workspace.value()).bytes);
    }
  return left;
}

}  // namespace

int64_t SampledRatio::of_64() const noexcept {
  return bytes > 0 ? ratio_of_64(static_cast<double>(left) / static_cast<double>(bytes)) : 0;
}

SampledRatio sampled_ratio_of(std::span<const Item> items) {
  double total = 0;
  const Item* most = nullptr;
  for (const Item& item : items) {
    if (item.memory == nullptr)
      continue;
    total += static_cast<double>(item.total);
    if (most == nullptr || item.total > most->total)
      most = &item;
  }
  if (compressors().empty() || most == nullptr || most->total < 1)
    return {};
  const std::vector<std::byte> bytes = sample_of(items, total);
  const std::optional<int64_t> left = bytes.empty() ? std::nullopt : compressed_bytes(bytes, most->element_bytes);
  if (!left)
    return {};
  // Weighted by the bytes to send, so that a rank with little data has little influence.
  constexpr double k_most = 1e13;  // the sum over very many ranks stays exact
  total = std::min(total, k_most);
  return {.bytes = static_cast<int64_t>(total),
          .left = static_cast<int64_t>(total * static_cast<double>(*left) / static_cast<double>(bytes.size()))};
}

}  // namespace windrow
