// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/image.hpp"

#include <algorithm>

#include "extent/extent.hpp"

namespace windrow {
namespace {

constexpr int64_t k_most_bytes = int64_t{256} << 10;

int64_t end_of(const Image::Stretch& stretch) noexcept { return stretch.offset + static_cast<int64_t>(stretch.bytes.size()); }

// The stretches of the file that were noted, with nothing in them yet.
std::vector<Image::Stretch> stretches_of(const std::vector<Image::Stretch>& noted) {
  std::vector<Extent> extents;
  for (const Image::Stretch& each : noted) extents.push_back({each.offset, end_of(each)});
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  std::vector<Extent> apart;
  for (const Extent& each : extents)
    if (!apart.empty() && each.begin <= apart.back().end)
      apart.back().end = std::max(apart.back().end, each.end);
    else
      apart.push_back(each);
  std::vector<Image::Stretch> stretches;
  for (const Extent& each : apart) stretches.push_back({each.begin, std::vector<std::byte>(static_cast<size_t>(each.size()))});
  return stretches;
}

}  // namespace

Status write_image(Store& store, const Image& image) {
  for (const Image::Stretch& each : image.stretches)
    if (Status status = store.write_at(each.offset, each.bytes); !status.ok()) return status;
  const Result<int64_t> now = store.size();
  if (!now.ok()) return now.status();
  return now.value() < image.end ? store.resize(image.end) : Status();
}

Result<bool> matches(Store& store, const Image& image) {
  const Result<int64_t> now = store.size();
  if (!now.ok()) return now.status();
  if (now.value() != image.end) return false;
  std::vector<std::byte> there;
  for (const Image::Stretch& each : image.stretches) {
    there.resize(each.bytes.size());
    if (Status status = store.read_at(each.offset, there); !status.ok()) return status;
    if (there != each.bytes) return false;
  }
  return true;
}

void ImageRecord::note(int64_t offset, std::span<const std::byte> bytes) noexcept {
  bytes_ += static_cast<int64_t>(bytes.size());
  if (bytes_ > k_most_bytes) spoil();
  if (is_spoiled_ || bytes.empty()) return;
  if (!guard([&] {
         noted_.push_back({offset, {bytes.begin(), bytes.end()}});
         return Status();
       }).ok())
    spoil();
}

void ImageRecord::spoil() noexcept {
  is_spoiled_ = true;
  noted_ = {};
}

void ImageRecord::end(int64_t length) noexcept { end_ = length; }

std::optional<Image> ImageRecord::image() const {
  if (is_spoiled_ || end_ < 0) return std::nullopt;
  Image image{.stretches = stretches_of(noted_), .end = end_};
  std::vector<std::vector<char>> known;  // of each stretch
  for (const Image::Stretch& each : image.stretches) known.emplace_back(is_of_reads() ? each.bytes.size() : 0);
  for (const Image::Stretch& each : noted_) {
    auto place = std::upper_bound(image.stretches.begin(), image.stretches.end(), each.offset, [](int64_t offset, const Image::Stretch& stretch) { return offset < stretch.offset; });
    --place;
    const auto begin = static_cast<size_t>(each.offset - place->offset);
    std::vector<char>& there = known[static_cast<size_t>(place - image.stretches.begin())];
    for (size_t i = 0; is_of_reads() && i < each.bytes.size(); ++i) {
      if (there[begin + i] != 0 && place->bytes[begin + i] != each.bytes[i]) return std::nullopt;  // somebody has changed it meanwhile
      there[begin + i] = 1;
    }
    std::copy(each.bytes.begin(), each.bytes.end(), place->bytes.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  return image;
}

}  // namespace windrow
