// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/kept_places.hpp"

#include <algorithm>
#include <iterator>

#include "format/hdf5/creation.hpp"
#include "format/hdf5/driver.hpp"

namespace windrow {
namespace {

// maximum number of times to list the free space: what is taken may be another piece of the same size
constexpr int k_most_lists = 10'000;

// bytes of a chunk of an Occupant, by its definition: the index then records sizes of up to 5 bytes
constexpr hsize_t k_nominal = hsize_t{1} << 30;

Status no_room() {
  return hdf5_status(Code::io, "space for a chunk in", "the file");
}

bool touch(Extent left, Extent right) noexcept {
  return left.begin <= right.end && right.begin <= left.end;
}

}  // namespace

// Makes room for more chunks. Without a filter HDF5 would ignore their sizes.
Status Occupant::grow(hid_t file) {
  constexpr hsize_t k_first = 64, k_unlimited = H5S_UNLIMITED;
  const auto room = std::max(k_first, 2 * static_cast<hsize_t>(room_));
  const hsize_t length = room * k_nominal;
  if (!dataset_.valid()) {
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const Handle space(H5Screate_simple(1, &length, &k_unlimited), H5Sclose);
    if (H5Pset_chunk(creation.get(), 1, &k_nominal) < 0 || H5Pset_shuffle(creation.get()) < 0 ||
        H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER) < 0 || set_object_creation(creation.get()) < 0)
      return no_room();
    const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    H5Pset_chunk_cache(access.get(), 1, 0, 0);
    dataset_ = Handle(H5Dcreate_anon(file, H5T_STD_U8LE, space.get(), creation.get(), access.get()), H5Dclose);
    if (!dataset_.valid())
      return no_room();
  } else if (H5Dset_extent(dataset_.get(), &length) < 0) {
    return no_room();
  }
  room_ = static_cast<int64_t>(room);
  return {};
}

Result<Extent> Occupant::enter(hid_t file, int64_t number, int64_t bytes) {
  const auto first = static_cast<hsize_t>(number) * k_nominal;
  take_chunk_offset(file);
  if (H5Dwrite_chunk(dataset_.get(), H5P_DEFAULT, 0, &first, static_cast<size_t>(bytes), chunk_marker()) < 0)
    return no_room();
  const int64_t begin = take_chunk_offset(file);
  return begin < 0 ? Result<Extent>(no_room()) : Extent{begin, begin + bytes};
}

Result<Extent> Occupant::take(hid_t file, int64_t bytes) {
  if (count_ == room_)
    if (Status status = grow(file); !status.ok())
      return status;
  auto place = enter(file, count_, bytes);
  count_ += place.ok() ? 1 : 0;
  return place;
}

Status Occupant::shrink(hid_t file, int64_t number) {
  return enter(file, number, 1).status();
}

// A place of more bytes than any free piece has, so it is at the end of the file.
Status KeptPlaces::take_end(int64_t least, Handle& end) {
  const auto pieces = free_pieces();
  if (!pieces.ok())
    return pieces.status();
  for (const Extent& free : pieces.value())
    least = std::max(least, free.size() + 1);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const auto count = static_cast<hsize_t>(least);
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  if (!set_contiguous(creation.get()) || set_object_creation(creation.get()) < 0)
    return no_room();
  end = Handle(H5Dcreate_anon(file_, H5T_STD_U8LE, space.get(), creation.get(), H5P_DEFAULT), H5Dclose);
  return end.valid() ? Status() : no_room();
}

// What HDF5 believes to be free in the space for data, as offsets from the start of the file.
Result<std::vector<Extent>> KeptPlaces::free_pieces() {
  if (base_ < 0) {
    const Handle creation(H5Fget_create_plist(file_), H5Pclose);
    hsize_t before = 0;
    if (H5Pget_userblock(creation.get(), &before) < 0)
      return no_room();
    base_ = static_cast<int64_t>(before);
  }
  std::vector<H5F_sect_info_t> sections(8);
  ssize_t count = H5Fget_free_sections(file_, H5FD_MEM_DRAW, sections.size(), sections.data());
  if (count > static_cast<ssize_t>(sections.size())) {
    sections.resize(static_cast<size_t>(count));
    count = H5Fget_free_sections(file_, H5FD_MEM_DRAW, sections.size(), sections.data());
  }
  if (count < 0)
    return no_room();
  sections.resize(std::min(sections.size(), static_cast<size_t>(count)));
  std::vector<Extent> pieces;
  for (const H5F_sect_info_t& section : sections) {
    const int64_t begin = static_cast<int64_t>(section.addr) + base_;
    pieces.push_back({begin, begin + static_cast<int64_t>(section.size)});
  }
  return pieces;
}

// The largest request that HDF5 serves from this free space, or as much as requests can have that need not be aligned.
int64_t KeptPlaces::most_at_once(Extent free) const noexcept {
  if (alignment_ <= 1 || free.size() < threshold_)
    return free.size();
  const int64_t aligned = free.end - (free.begin + alignment_ - 1) / alignment_ * alignment_;
  return aligned > 0 && aligned >= threshold_ ? aligned : threshold_ - 1;
}

// Occupies the free space for which `wanted` returns true. False: there is more than is taken at once. HDF5 may give
// another piece of the same size, which is then occupied too.
Result<bool> KeptPlaces::take_all(const std::function<bool(Extent)>& wanted, Occupant& occupant) {
  for (int lists = 0; lists < k_most_lists; ++lists) {
    const auto pieces = free_pieces();
    if (!pieces.ok())
      return pieces.status();
    bool any = false;
    for (const Extent& free : pieces.value()) {
      const int64_t bytes = std::min(most_at_once(free), Occupant::k_most_bytes), number = occupant.count();
      if (bytes <= 0 || !wanted(free))
        continue;
      any = true;
      const auto place = occupant.take(file_, bytes);
      if (!place.ok())
        return place.status();
      if (&occupant == &others_)
        spare_.emplace(most_at_once({place.value().begin + 1, place.value().end}), Spare{place.value(), number});
    }
    if (!any)
      return true;
  }
  return false;
}

Status KeptPlaces::set_published() {
  auto pieces = free_pieces();
  if (!pieces.ok())
    return pieces.status();
  free_ = std::move(pieces).value();
  std::sort(free_.begin(), free_.end(), [](Extent left, Extent right) { return left.begin < right.begin; });
  published_end_ = end_of_space(file_);
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

// First of all: with an alignment HDF5 frees what is between the old end and the piece that it gives.
Status KeptPlaces::keep_end() {
  const int64_t missing = published_end_ - end_of_space(file_);
  if (missing <= 0)
    return {};
  Handle end;
  Status status = take_end(missing, end);
  if (status.ok())
    ends_.push_back(std::move(end));
  return status;
}

Status KeptPlaces::keep_freed() {
  if (published_end_ == 0 || complete_)
    return {};
  if (Status status = keep_end(); !status.ok())
    return status;
  const Result<bool> all = take_all([&](Extent free) { return is_published(free); }, kept_);
  complete_ = all.ok() && all.value();
  return all.status();
}

// Occupies all free space. Now and then the places are freed for it, since HDF5 joins those that are adjacent.
Status KeptPlaces::occupy() {
  if (Status status = keep_freed(); !status.ok())
    return status;
  const bool joins = spare_.size() > most_spare_;
  if (joins)
    spare_.clear(), others_.clear();
  const Result<bool> all = take_all([](Extent) { return true; }, others_);
  if (joins)
    most_spare_ = 16 + 2 * spare_.size();
  return all.status();
}

// Frees the smallest place that serves this request and does not touch `place`, if there is one.
Status KeptPlaces::free_one(int64_t bytes, Extent place) {
  auto room = spare_.lower_bound(bytes);
  while (room != spare_.end() && touch(room->second.place, place))
    ++room;
  if (room == spare_.end())
    return {};
  const int64_t number = room->second.number;
  spare_.erase(room);
  return others_.shrink(file_, number);
}

Status KeptPlaces::make_room(int64_t bytes, Extent place) {
  const auto pieces = free_pieces();
  if (!pieces.ok())
    return pieces.status();
  const bool is_there = complete_ && pieces.value().size() == 1 && most_at_once(pieces.value()[0]) >= bytes &&
                        !touch(pieces.value()[0], place);
  Status status = is_there ? Status() : occupy();
  if (status.ok() && !is_there)
    status = free_one(bytes, place);
  // if the place ended the file, HDF5 would shorten the file and give the place again
  return status.ok() && place.end >= end_of_space(file_) ? take_end(1, wall_) : status;
}

Status KeptPlaces::keep(Extent place) {
  Occupant& occupant = is_published(place) ? kept_ : moved_;
  Status status = take_all([&](Extent free) { return !intersect(free, place).empty(); }, occupant).status();
  wall_ = Handle();
  return status;
}

void KeptPlaces::let_go() noexcept {
  for (Occupant* each : {&kept_, &moved_, &others_})
    each->clear();
  ends_.clear();
  wall_ = Handle();
  spare_.clear();
}

}  // namespace windrow
