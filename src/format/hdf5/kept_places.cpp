// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/kept_places.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "format/hdf5/creation.hpp"
#include "format/hdf5/driver.hpp"

namespace windrow {
namespace {

// maximum number of pieces to take: others of the same size may be taken first
constexpr int k_most_pieces = 10'000;

Status no_room() {
  return hdf5_status(Code::io, "space for a chunk in", "the file");
}

// An anonymous dataset with this many bytes of the file, which is never written.
Handle take(hid_t file, int64_t bytes) {
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const auto count = static_cast<hsize_t>(bytes);
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  if (!set_contiguous(creation.get()) || set_object_creation(creation.get()) < 0)
    return {};
  return {H5Dcreate_anon(file, H5T_STD_U8LE, space.get(), creation.get(), H5P_DEFAULT), H5Dclose};
}

bool take(hid_t file, int64_t bytes, std::vector<Handle>& taken) {
  Handle dataset = take(file, bytes);
  if (!dataset.valid())
    return false;
  taken.push_back(std::move(dataset));
  return true;
}

// What HDF5 believes to be free in the space for data, as offsets from the start of the file.
Result<std::vector<Extent>> free_pieces(hid_t file) {
  const Handle creation(H5Fget_create_plist(file), H5Pclose);
  hsize_t before = 0;
  const ssize_t count = H5Fget_free_sections(file, H5FD_MEM_DRAW, 0, nullptr);
  if (count < 0 || H5Pget_userblock(creation.get(), &before) < 0)
    return no_room();
  std::vector<H5F_sect_info_t> sections(static_cast<size_t>(count));
  if (count > 0 && H5Fget_free_sections(file, H5FD_MEM_DRAW, sections.size(), sections.data()) < 0)
    return no_room();
  std::vector<Extent> pieces;
  for (const H5F_sect_info_t& section : sections) {
    const auto begin = static_cast<int64_t>(section.addr + before);
    pieces.push_back({begin, begin + static_cast<int64_t>(section.size)});
  }
  return pieces;
}

bool touch(Extent left, Extent right) noexcept {
  return left.begin <= right.end && right.begin <= left.end;
}

int64_t largest_of(std::span<const Extent> pieces) noexcept {
  int64_t largest = 0;
  for (const Extent& free : pieces)
    largest = std::max(largest, free.size());
  return largest;
}

// More than any free piece has, so the space is at the end of the file.
Status take_end(hid_t file, int64_t least, std::vector<Handle>& taken) {
  const auto pieces = free_pieces(file);
  if (!pieces.ok())
    return pieces.status();
  return take(file, std::max(least, largest_of(pieces.value()) + 1), taken) ? Status() : no_room();
}

}  // namespace

// The largest request that HDF5 serves from this free space, or as much as requests can have that need not be aligned.
int64_t KeptPlaces::most_at_once(Extent free) const noexcept {
  if (alignment_ <= 1 || free.size() < threshold_)
    return free.size();
  const int64_t aligned = free.end - (free.begin + alignment_ - 1) / alignment_ * alignment_;
  return aligned > 0 && aligned >= threshold_ ? aligned : threshold_ - 1;
}

// Takes the free space for which `wanted` returns true. False: there is more than is taken at once.
Result<bool> KeptPlaces::take_all(hid_t file, const std::function<bool(Extent)>& wanted,
                                  std::vector<Handle>& taken) const {
  for (int left = k_most_pieces; left > 0;) {
    const auto pieces = free_pieces(file);
    if (!pieces.ok())
      return pieces.status();
    const int before = left;
    for (const Extent& free : pieces.value())
      if (left > 0 && most_at_once(free) > 0 && wanted(free)) {
        --left;
        if (!take(file, most_at_once(free), taken))
          return no_room();
      }
    if (left == before)
      return true;
  }
  return false;
}

Status KeptPlaces::set_published(hid_t file) {
  auto pieces = free_pieces(file);
  if (!pieces.ok())
    return pieces.status();
  free_ = std::move(pieces).value();
  std::sort(free_.begin(), free_.end(), [](Extent left, Extent right) { return left.begin < right.begin; });
  published_end_ = end_of_space(file);
  complete_ = true;
  return {};
}

bool KeptPlaces::is_published(Extent place) const noexcept {
  place.end = std::min(place.end, published_end_);
  if (place.empty())
    return false;
  const auto after =
      std::partition_point(free_.begin(), free_.end(), [&](Extent free) { return free.begin <= place.begin; });
  return after == free_.begin() || std::prev(after)->end < place.end;
}

Status KeptPlaces::keep_freed(hid_t file) {
  if (published_end_ == 0 || complete_)
    return {};
  // The end first: with an alignment HDF5 frees what is between the old end and the piece that it gives.
  if (const int64_t missing = published_end_ - end_of_space(file); missing > 0)
    if (Status status = take_end(file, missing, kept_); !status.ok())
      return status;
  const Result<bool> all = take_all(
      file, [&](Extent free) { return is_published(free); }, kept_);
  complete_ = all.ok() && all.value();
  return all.status();
}

Status KeptPlaces::make_room(hid_t file, int64_t bytes, Extent place) {
  walls_.clear();
  for (;;) {
    Handle room = take(file, bytes);
    if (!room.valid())
      return no_room();
    const auto begin = static_cast<int64_t>(H5Dget_offset(room.get()));
    const Extent extent{begin, begin + bytes};
    if (touch(extent, place)) {
      walls_.push_back(std::move(room));
      continue;
    }
    if (const Result<bool> all = take_all(
            file, [&](Extent free) { return touch(free, extent); }, walls_);
        !all.ok())
      return all.status();
    return take_end(file, 1, walls_);
  }
}

Status KeptPlaces::keep(hid_t file, Extent place) {
  return take_all(
             file, [&](Extent free) { return touch(free, place); }, kept_)
      .status();
}

// HDF5 gives the place, unless it has joined it with free space around it, or has other space of the same size.
Status KeptPlaces::keep_quickly(hid_t file, Extent place) {
  Handle taken = take(file, place.size());
  if (!taken.valid())
    return no_room();
  const auto begin = static_cast<int64_t>(H5Dget_offset(taken.get()));
  complete_ = complete_ && begin == place.begin;
  if (!intersect(place, {begin, begin + place.size()}).empty())
    kept_.push_back(std::move(taken));
  return {};
}

}  // namespace windrow
