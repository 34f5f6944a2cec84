// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/kept_places.hpp"

#include <algorithm>

#include "format/hdf5/creation.hpp"

namespace windrow {
namespace {

// maximum number of pieces to take for one place: others of the same size may be taken first
constexpr int k_most_pieces = 1000;

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

// Takes the free space that touches the place.
Status take_around(hid_t file, Extent place, std::vector<Handle>& taken) {
  for (int piece = 0; piece < k_most_pieces; ++piece) {
    const auto pieces = free_pieces(file);
    if (!pieces.ok())
      return pieces.status();
    const auto found =
        std::find_if(pieces.value().begin(), pieces.value().end(), [&](Extent free) { return touch(free, place); });
    if (found == pieces.value().end())
      return {};
    if (!take(file, found->size(), taken))
      return no_room();
  }
  return {};
}

// More than any free piece has, so the space is at the end of the file.
Status take_end(hid_t file, std::vector<Handle>& taken) {
  const auto pieces = free_pieces(file);
  if (!pieces.ok())
    return pieces.status();
  int64_t largest = 0;
  for (const Extent& free : pieces.value())
    largest = std::max(largest, free.size());
  return take(file, largest + 1, taken) ? Status() : no_room();
}

}  // namespace

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
    if (Status status = take_around(file, extent, walls_); !status.ok())
      return status;
    return take_end(file, walls_);
  }
}

Status KeptPlaces::keep(hid_t file, Extent place) {
  return take_around(file, place, kept_);
}

}  // namespace windrow
