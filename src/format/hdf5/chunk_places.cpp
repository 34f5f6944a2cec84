// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/chunk_places.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "extent/chunks.hpp"
#include "extent/extent.hpp"
#include "format/hdf5/driver.hpp"
#include "format/hdf5/version.hpp"

namespace windrow {

std::array<hsize_t, k_most_dimensions> coordinates(std::span<const int64_t> first) {
  std::array<hsize_t, k_most_dimensions> result{};
  std::copy(first.begin(), first.end(), result.begin());
  return result;
}

Result<hid_t> ChunkPlaces::dataset(const std::string& variable) {
  if (const auto known = datasets_.find(variable); known != datasets_.end())
    return known->second.get();
  const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  H5Pset_chunk_cache(access.get(), 1, 0, 0);  // chunks never pass through HDF5
  Handle dataset(H5Dopen2(file_, scales_.stored(variable).c_str(), access.get()), H5Dclose);
  if (!dataset.valid())
    return hdf5_status(Code::io, "open of", variable);
  const hid_t opened = dataset.get();
  datasets_.emplace(variable, std::move(dataset));
  return opened;
}

namespace {

Result<ChunkGrid> grid_of(hid_t dataset, const std::string& variable) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose), space(H5Dget_space(dataset), H5Sclose);
  std::array<hsize_t, k_most_dimensions> shape{}, chunk{};
  const int dimensions = H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);
  if (dimensions <= 0 || H5Pget_chunk(creation.get(), dimensions, chunk.data()) != dimensions)
    return Status(Code::unsupported, fmt::format("\"{}\" has no chunks", variable));
  const std::vector<int64_t> extents(shape.begin(), shape.begin() + dimensions),
      edges(chunk.begin(), chunk.begin() + dimensions);
  return ChunkGrid::make(extents, edges);
}

}  // namespace

// If a chunk does not exist, newer versions return 0 and older ones an error of their own, without one of the index or
// of the storage below it.
Result<int64_t> ChunkPlaces::stored_bytes(const std::string& variable, std::span<const int64_t> first) {
  constexpr ssize_t k_most_own_errors = 2;
  const Result<hid_t> dataset = this->dataset(variable);
  if (!dataset.ok())
    return dataset.status();
  const auto at = coordinates(first);
  hsize_t bytes = 0;
  if (H5Dget_chunk_storage_size(dataset.value(), at.data(), &bytes) >= 0)
    return static_cast<int64_t>(bytes);
  if (H5Eget_num(H5E_DEFAULT) <= k_most_own_errors)
    return 0;
  return hdf5_status(Code::bad_file, "index of the chunks of", variable);
}

// The place according to the index, inside the file or not.
Result<ChunkPlace> ChunkPlaces::find(const std::string& variable, std::span<const int64_t> first) {
  const Result<hid_t> dataset = this->dataset(variable);
  if (!dataset.ok())
    return dataset.status();
  const Result<int64_t> bytes = stored_bytes(variable, first);
  if (!bytes.ok())
    return bytes.status();
  if (bytes.value() == 0 || reserved_.contains(name_of(variable, first)))
    return ChunkPlace{};
  const auto at = coordinates(first);
  take_chunk_offset(file_);
  uint32_t skipped = 0;
  if (H5Dread_chunk(dataset.value(), H5P_DEFAULT, at.data(), &skipped, chunk_marker()) < 0)
    return hdf5_status(Code::bad_file, "address of a chunk of", variable);
  return ChunkPlace{take_chunk_offset(file_), bytes.value(), skipped};
}

// HDF5 before 1.14 lists chunks in quadratic time, but looks up a single chunk fast. One lookup takes as long as
// k_steps_of_find steps of the list. HDF5 before 1.10.5 can only look up.
Result<std::vector<int64_t>> ChunkPlaces::stored(const std::string& variable) {
  constexpr int64_t k_steps_of_find = 50;
  const Result<hid_t> dataset = this->dataset(variable);
  if (!dataset.ok())
    return dataset.status();
  const Result<ChunkGrid> made = grid_of(dataset.value(), variable);
  if (!made.ok())
    return made.status();
  const ChunkGrid& grid = made.value();
  std::vector<int64_t> firsts;
  const int64_t count = count_chunks(dataset.value());
  if (count == 0)
    return firsts;
  if (count > 0 && (k_lists_fast || count / 2 <= grid.count() / count * k_steps_of_find)) {
    Status taken;
    const auto take = [&](const hsize_t* first) {
      taken = guard([&] {
        firsts.insert(firsts.end(), first, first + grid.shape().size());
        return Status();
      });
      return taken.ok() ? 0 : -1;
    };
    if (list_chunks(dataset.value(), static_cast<hsize_t>(count), take) < 0)
      return taken.ok() ? hdf5_status(Code::bad_file, "index of the chunks of", variable) : taken;
    return firsts;
  }
  for (int64_t number = 0; number < grid.count(); ++number) {
    const std::vector<int64_t> first = grid.first_element(number);
    const Result<int64_t> bytes = stored_bytes(variable, first);
    if (!bytes.ok())
      return bytes.status();
    if (bytes.value() > 0)
      firsts.insert(firsts.end(), first.begin(), first.end());
  }
  return firsts;
}

Result<int64_t> ChunkPlaces::insert(const std::string& variable, std::span<const int64_t> first, int64_t bytes,
                                    uint32_t skipped) {
  const Result<hid_t> dataset = this->dataset(variable);
  if (!dataset.ok())
    return dataset.status();
  const auto at = coordinates(first);
  take_chunk_offset(file_);
  if (H5Dwrite_chunk(dataset.value(), H5P_DEFAULT, skipped, at.data(), static_cast<size_t>(bytes), chunk_marker()) < 0)
    return hdf5_status(Code::io, "space for a chunk of", variable);
  const int64_t offset = take_chunk_offset(file_);
  if (offset < 0)
    return Status(Code::internal,
                  fmt::format("internal error: HDF5 wrote a chunk of \"{}\" in an unexpected way", variable));
  return offset;
}

// As insert(), but places that readers need remain unchanged.
Result<int64_t> ChunkPlaces::replace(const std::string& variable, std::span<const int64_t> first, int64_t bytes) {
  if (!kept_.has_published())
    return insert(variable, first, bytes);
  const Result<ChunkPlace> found = find(variable, first);
  if (!found.ok())
    return found.status();
  const ChunkPlace& old = found.value();
  if (old.bytes == bytes)
    return insert(variable, first, bytes);
  if (old.bytes > 0 && kept_.is_published({old.offset, old.offset + old.bytes}))
    return move(variable, first, bytes, old);
  if (kept_.has_spare())
    if (Status status = kept_.make_room(bytes, {}); !status.ok())
      return status;
  const Result<int64_t> placed = insert(variable, first, bytes);
  if (!placed.ok() || !kept_.is_published({placed.value(), placed.value() + bytes}))
    return placed;
  kept_.expect_freed();
  return move(variable, first, bytes, {.offset = placed.value(), .bytes = bytes});
}

Result<bool> ChunkPlaces::has_filters(const std::string& variable) {
  const Result<hid_t> dataset = this->dataset(variable);
  if (!dataset.ok())
    return dataset.status();
  const Handle creation(H5Dget_create_plist(dataset.value()), H5Pclose);
  if (!creation.valid())
    return hdf5_status(Code::io, "filters of", variable);
  return H5Pget_nfilters(creation.get()) > 0;
}

// In datasets made by newer versions HDF5 stores only the place of the single chunk, and no index.
Result<bool> ChunkPlaces::has_one_chunk(const std::string& variable) {
  const Result<hid_t> dataset = this->dataset(variable);
  if (!dataset.ok())
    return dataset.status();
  const Handle creation(H5Dget_create_plist(dataset.value()), H5Pclose), space(H5Dget_space(dataset.value()), H5Sclose);
  std::array<hsize_t, H5S_MAX_RANK> chunk{}, shape{};
  const int ndims = space.valid() ? H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr) : -1;
  if (ndims < 0 || !creation.valid() || H5Pget_chunk(creation.get(), H5S_MAX_RANK, chunk.data()) != ndims)
    return hdf5_status(Code::io, "chunks of", variable);
  return std::equal(shape.begin(), shape.begin() + ndims, chunk.begin(),
                    [](hsize_t extent, hsize_t length) { return extent <= length; });
}

// Nothing of the index is written before the flush, even if it is large, because it would refer to places without data.
Status ChunkPlaces::hold_index(bool held) {
  H5AC_cache_config_t settings{};
  settings.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  if (held == index_held_)
    return {};
  if (H5Fget_mdc_config(file_, &settings) < 0)
    return hdf5_status(Code::io, "index of", path_);
  settings.evictions_enabled = !held;
  settings.incr_mode = held ? H5C_incr__off : H5C_incr__threshold;
  settings.flash_incr_mode = held ? H5C_flash_incr__off : H5C_flash_incr__add_space;
  settings.decr_mode = held ? H5C_decr__off : H5C_decr__age_out_with_threshold;
  if (H5Fset_mdc_config(file_, &settings) < 0)
    return hdf5_status(Code::io, "index of", path_);
  index_held_ = held;
  return {};
}

// Moves a chunk to a place that does not overlap the old one, which stays as it is. HDF5 frees the old place first, and
// allocates only if the size changes. So the chunk first gets a size for which its old place is too small. After an
// error it has its old elements, if that is still possible.
Result<int64_t> ChunkPlaces::move(const std::string& variable, std::span<const int64_t> first, int64_t bytes,
                                  const ChunkPlace& old) {
  const Extent before{old.offset, old.offset + old.bytes};
  const int64_t larger = std::max(old.bytes + 1, bytes);
  Status status = hold_index(true);
  if (status.ok())
    status = kept_.make_room(larger, before);
  if (!status.ok())
    return status;
  status = insert(variable, first, larger).status();
  if (status.ok())
    status = kept_.keep(before);
  Result<int64_t> placed = status.ok() ? insert(variable, first, bytes) : Result<int64_t>(status);
  if (placed.ok()) {
    const Extent place{placed.value(), placed.value() + bytes};
    if (intersect(place, before).empty() && !kept_.is_published(place))
      return placed;
    placed =
        Status(Code::internal, fmt::format("internal error: HDF5 placed a chunk of \"{}\" over another", variable));
  }
  kept_.expect_freed();
  (void)put_back(variable, first, old);
  return placed;
}

// The index only accepts a size, so the old bytes are copied to where HDF5 then places the chunk.
Status ChunkPlaces::put_back(const std::string& variable, std::span<const int64_t> first, const ChunkPlace& old) {
  const Result<ChunkPlace> now = find(variable, first);
  if (!now.ok() || (now.value().offset == old.offset && now.value().bytes == old.bytes))
    return now.status();
  if (old.skipped != 0)  // it is recorded only with another size
    if (const Result<int64_t> other = insert(variable, first, old.bytes + 1); !other.ok())
      return other.status();
  const Result<int64_t> placed = insert(variable, first, old.bytes, old.skipped);
  if (old.skipped != 0)
    forget(variable);
  if (!placed.ok())
    return placed.status();
  const Extent from{old.offset, old.offset + old.bytes};
  if (placed.value() != old.offset && !intersect(from, {placed.value(), placed.value() + old.bytes}).empty())
    return {Code::internal, fmt::format("internal error: HDF5 placed a chunk of \"{}\" over another", variable)};
  return copy_bytes(file_, from, placed.value());
}

// The place of an existing chunk if the new place depends on it; otherwise an empty place.
Result<ChunkPlace> ChunkPlaces::old_place(const std::string& variable, std::span<const int64_t> first,
                                          const ChunkRoom& room) {
  const bool must_stay = room.published && room.keeps_old;
  if (room.made_here && !must_stay)
    return ChunkPlace();
  return find(variable, first);
}

// Enters a chunk into the index. A chunk that is partially overwritten moves, so that its old bytes stay readable; one
// with skipped filters moves because these are recorded only with another size.
Result<int64_t> ChunkPlaces::enter(const std::string& variable, std::span<const int64_t> first, const ChunkRoom& room,
                                   const ChunkPlace& old) {
  const bool stays = room.keeps_old && old.bytes > 0, same_size = old.skipped != 0 && old.bytes == room.bytes;
  const Result<bool> filtered = stays || same_size ? has_filters(variable) : Result<bool>(false);
  if (!filtered.ok())
    return filtered.status();
  if (!filtered.value())  // unfiltered: the other bytes of the chunk remain
    return replace(variable, first, room.bytes);
  if (stays)
    moved_.try_emplace(name_of(variable, first), old);
  return move(variable, first, room.bytes, old);
}

// HDF5 records skipped filters when it enters a chunk into its index, and it enters nothing if the size stays the same.
// Readers would then apply the wrong filters. HDF5 also caches the old record of the chunk that it looked up last,
// until the dataset is closed. HDF5 1.10 assumes of a new chunk of a dataset without an index that all filters were
// skipped.
Result<PlacedChunk> ChunkPlaces::place(const std::string& variable, std::span<const int64_t> first,
                                       const ChunkRoom& room) {
  if (const auto reserved = reserved_.extract(name_of(variable, first)))
    return PlacedChunk{reserved.mapped(), true};
  const Result<int64_t> stored = stored_bytes(variable, first);
  if (!stored.ok())
    return stored.status();
  const bool is_new = stored.value() == 0;
  const Result<ChunkPlace> old = is_new ? Result<ChunkPlace>(ChunkPlace()) : old_place(variable, first, room);
  if (!old.ok())
    return old.status();
  const Result<int64_t> placed = enter(variable, first, room, old.value());
  if (old.value().skipped != 0)
    forget(variable);
  if (!placed.ok())
    return placed.status();
  const bool can_be_alone = !room.made_here && old.value().bytes == 0;
  const Result<bool> alone = can_be_alone ? has_one_chunk(variable) : Result<bool>(false);
  if (!alone.ok())
    return alone.status();
  if (alone.value())
    forget(variable);
  return PlacedChunk{placed.value(), is_new};
}

// Memory first: an allocated chunk that is not recorded would be taken for an existing one.
Result<PlacedChunk> ChunkPlaces::reserve(const std::string& variable, std::span<const int64_t> first,
                                         const ChunkRoom& room) {
  const auto [known, fresh] = reserved_.try_emplace(name_of(variable, first));
  if (!fresh)
    return PlacedChunk{known->second, true};
  auto reserved = reserved_.extract(known);
  const Result<PlacedChunk> placed = place(variable, first, room);
  if (!placed.ok())
    return placed.status();
  reserved.mapped() = placed.value().offset;
  reserved_.insert(std::move(reserved));
  return placed;
}

// The old place is kept until the index is written.
Status ChunkPlaces::restore(const std::string& variable, std::span<const int64_t> first) {
  const auto found = moved_.find(name_of(variable, first));
  if (found == moved_.end())
    return {};
  Status status = kept_.keep_freed();
  return status.ok() ? put_back(variable, first, found->second) : status;
}

// Bypasses HDF5, which would mistake a storage error for the end of the file.
Status ChunkPlaces::fill(const std::string& variable, std::span<const int64_t> first,
                         std::span<const std::byte> bytes) {
  const Result<int64_t> placed = replace(variable, first, static_cast<int64_t>(bytes.size()));
  forget(variable);
  reserved_.erase(name_of(variable, first));
  if (!placed.ok())
    return placed.status();
  return write_past(file_, bytes, placed.value());
}

Status ChunkPlaces::let_go() {
  forget_moved();
  kept_.let_go();
  Status status = set_published();
  status.update(hold_index(false));
  return status;
}

}  // namespace windrow
