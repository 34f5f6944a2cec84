// SPDX-License-Identifier: BSD-3-Clause
#include "format/hdf5/hdf5_format.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "base/checked.hpp"
#include "format/check.hpp"
#include "format/hdf5/creation.hpp"
#include "format/hdf5/driver.hpp"
#include "format/hdf5/hdf5_class.hpp"
#include "format/hdf5/signature.hpp"
#include "format/hdf5/texts.hpp"
#include "format/hdf5/types.hpp"
#include "format/hdf5/verify.hpp"
#include "format/hdf5/version.hpp"
#include "format/hdf5/virtual.hpp"
#include "format/hdf5/walk.hpp"
#include "storage/store.hpp"
#include "storage/system_error.hpp"

namespace windrow {

Hdf5Format::~Hdf5Format() {
  if (file_ < 0)
    return;
  const Quiet quiet;
  last_group_ = {};
  chunks_.close();
  if (published_)
    windrow::drop_changes(file_);  // the files of a set change in turn, which only those who close it know
  H5Fclose(file_);
}

Status Hdf5Format::writable(const char* what, const std::string& path) const {
  if (file_ >= 0 && mode_ != FormatMode::read)
    return *failure_;
  return {Code::bad_state,
          fmt::format("{} \"{}\": the file is {}", what, path, file_ < 0 ? "closed" : "open for reading only")};
}

// Called before HDF5 allocates a place for elements other than chunks. Calls before may have freed what readers need.
Status Hdf5Format::can_place(const char* what, const std::string& path) {
  Status status = writable(what, path);
  return status.ok() ? chunks_.keep_freed() : status;
}

Status Hdf5Format::outcome(herr_t result, const char* what) const {
  if (!failure_->ok() || result >= 0)
    return *failure_;
  return hdf5_status(Code::io, what, path_);
}

// Called before a new file gets its name: a failed call of HDF5 can leave objects that HDF5 itself cannot read. If no
// call failed, nothing is read.
Status Hdf5Format::verify() {
  if (mode_ != FormatMode::create || published_ || !refused_)
    return {};
  Status status = read_all_headers(path_);
  refused_ = !status.ok();
  return status;
}

Result<int64_t> Hdf5Format::file_bytes() const {
  hsize_t bytes = 0;
  if (H5Fget_filesize(file_, &bytes) < 0)
    return hdf5_status(Code::io, "size of", path_);
  return static_cast<int64_t>(bytes);
}

// HDF5 extends the file to its variables when it flushes. Beyond the process's limit that would be a fatal signal.
Status Hdf5Format::check_room(int64_t bytes) const {
  const Result<int64_t> now = file_bytes();
  if (!now.ok())
    return now.status();
  const auto aligned = checked_add(now.value(), options_.alignment);
  const auto end = aligned ? checked_add(*aligned, bytes) : std::nullopt;
  if (!end)
    return {Code::bad_argument, fmt::format("\"{}\" would be larger than 2^63 bytes", path_)};
  return beyond_file_size_limit(*end) ? system_status("growing of", path_, EFBIG) : Status();
}

Result<std::vector<std::string>> Hdf5Format::read_texts(const std::string& path) {
  return guard([&]() -> Result<std::vector<std::string>> {
    const Quiet quiet;
    if (file_ < 0)
      return Status(Code::bad_state, fmt::format("\"{}\" is closed", path_));
    hand_over();
    auto texts = read_variable(file_, scales_.stored(path), [&] {
      ObjectPaths paths = paths_of_objects(file_);
      scales_.give_own_names(paths);
      return paths;
    });
    if (!texts.ok() && !failure_->ok())
      return *failure_;
    return texts;
  });
}

Status Hdf5Format::write_texts(const std::string& path, const std::vector<std::string>& texts) {
  return change([&] {
    const Quiet quiet;
    Status status = writable("texts of", path);
    if (!status.ok())
      return status;
    const DeferredElements held(file_);
    status =
        write_variable(file_, scales_.stored(path), texts, [this](const auto& paths) { return stored_paths(paths); });
    status.update(*failure_);
    return status;
  });
}

Result<Catalog> Hdf5Format::catalog() {
  return guard([&]() -> Result<Catalog> {
    const Quiet quiet;
    if (file_ < 0)
      return Status(Code::bad_state, fmt::format("\"{}\" is closed", path_));
    hand_over();
    const Result<int64_t> bytes = file_bytes();
    if (!bytes.ok())
      return bytes.status();
    scales_ = Scales(file_);
    auto catalog = walk_file(file_, path_, bytes.value(), scales_);
    if (!failure_->ok())
      return *failure_;  // the storage error is the reason for HDF5's result
    return catalog;
  });
}

namespace {

bool is_virtual(hid_t dataset) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  return creation.valid() && H5Pget_layout(creation.get()) == H5D_VIRTUAL;
}

}  // namespace

Status Hdf5Format::extend(const std::string& path, std::span<const int64_t> shape) {
  return change([&] {
    const Quiet quiet;
    if (Status ready = can_place("variable", path); !ready.ok())
      return ready;
    const Result<hid_t> dataset = chunks_.dataset(path);
    if (!dataset.ok())
      return dataset.status();
    const auto extents = coordinates(shape);
    if (H5Dset_extent(dataset.value(), extents.data()) >= 0) {
      Status status = is_virtual(dataset.value()) ? write_current_shape(dataset.value(), path, shape) : Status();
      status.update(*failure_);
      return status;
    }
    Status status = hdf5_status(Code::io, "extension of", path);
    chunks_.forget(path);  // HDF5 believes that the dataset has the requested length already
    return status;
  });
}

namespace {

// HDF5 allocates a dataset when something is written, and then fills it if the dataset has a fill value. So one element
// is written, with its old value.
Status write_one_unwritten(hid_t dataset, bool painted, const std::string& path) {
  const auto failed = [&path] { return hdf5_status(Code::io, "place of", path); };
  const Handle type(H5Dget_type(dataset), H5Tclose), creation(H5Dget_create_plist(dataset), H5Pclose);
  const Handle one(H5Screate(H5S_SCALAR), H5Sclose), all(H5Dget_space(dataset), H5Sclose);
  if (!type.valid() || !creation.valid() || !one.valid() || !all.valid())
    return failed();
  const std::array<hsize_t, k_most_dimensions> first{};
  if (H5Sget_simple_extent_ndims(all.get()) > 0 && H5Sselect_elements(all.get(), H5S_SELECT_SET, 1, first.data()) < 0)
    return failed();
  std::vector<std::byte> element(H5Tget_size(type.get()));
  if (painted && H5Pget_fill_value(creation.get(), type.get(), element.data()) < 0)
    return failed();
  return H5Dwrite(dataset, type.get(), one.get(), all.get(), H5P_DEFAULT, element.data()) >= 0 ? Status() : failed();
}

bool has_fill_value(hid_t dataset) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  return creation.valid() && H5Pfill_value_defined(creation.get(), &defined) >= 0 &&
         defined == H5D_FILL_VALUE_USER_DEFINED;
}

}  // namespace

// Without a fill value the place may be freed space with old contents.
Result<int64_t> Hdf5Format::give_place(const std::string& path) {
  Extent place;
  Status status = change([&]() -> Status {
    const Quiet quiet;
    if (Status ready = can_place("variable", path); !ready.ok())
      return ready;
    Handle dataset(H5Dopen2(file_, scales_.stored(path).c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.valid())
      return hdf5_status(Code::io, "open of", path);
    const bool is_new = H5Dget_storage_size(dataset.get()) == 0, painted = has_fill_value(dataset.get());
    if (is_new)
      if (Status written = write_one_unwritten(dataset.get(), painted, path); !written.ok())
        return written;
    const auto bytes = static_cast<int64_t>(H5Dget_storage_size(dataset.get()));
    const haddr_t found = H5Dget_offset(dataset.get());
    if (bytes == 0 || found > static_cast<haddr_t>(INT64_MAX - bytes))
      return hdf5_status(Code::io, "place of", path);
    place = {static_cast<int64_t>(found), static_cast<int64_t>(found) + bytes};
    dataset = Handle();  // HDF5 has written the element from its cache
    return take_place(file_, place, is_new && !painted);
  });
  status.update(*failure_);
  if (!status.ok())
    return status;
  return place.begin;
}

Status Hdf5Format::write_inline(const std::string& path, std::span<const std::byte> content) {
  Status status = change([&]() -> Status {
    const Quiet quiet;
    if (Status ready = writable("variable", path); !ready.ok())
      return ready;
    const Handle dataset(H5Dopen2(file_, scales_.stored(path).c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.valid())
      return hdf5_status(Code::io, "open of", path);
    if (H5Dget_storage_size(dataset.get()) != content.size())
      return {Code::internal, "\"" + path + "\" has another size than before"};
    const Handle type(H5Dget_type(dataset.get()), H5Tclose);
    if (!type.valid() || H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, content.data()) < 0)
      return hdf5_status(Code::io, "write of", path);
    return {};
  });
  status.update(*failure_);
  return status;
}

Result<PlacedChunk> Hdf5Format::find_room(const std::string& path, std::span<const int64_t> first,
                                          const ChunkRoom& room, bool ahead) {
  PlacedChunk chunk;
  is_placing_ = true;
  Status status = guard([&] {
    const Quiet quiet;
    if (Status ready = writable("chunk of", path); !ready.ok())
      return ready;
    if (Status enough = check_room(room.bytes); !enough.ok())
      return enough;
    const Result<PlacedChunk> placed = ahead ? chunks_.reserve(path, first, room) : chunks_.place(path, first, room);
    if (!placed.ok())
      return placed.status();
    chunk = placed.value();
    return *failure_;
  });
  if (!status.ok())
    return status;
  return chunk;
}

Result<PlacedChunk> Hdf5Format::place_chunk(const std::string& path, std::span<const int64_t> first, int64_t bytes,
                                            bool keep_old) {
  return find_room(
      path, first,
      {.bytes = bytes, .keeps_old = keep_old, .published = published_, .made_here = mode_ != FormatMode::update},
      false);
}

Result<int64_t> Hdf5Format::reserve_chunk(const std::string& path, std::span<const int64_t> first, int64_t bytes) {
  const auto placed =
      find_room(path, first, {.bytes = bytes, .published = published_, .made_here = mode_ != FormatMode::update}, true);
  if (!placed.ok())
    return placed.status();
  return placed.value().offset;
}

Status Hdf5Format::restore_chunk(const std::string& path, std::span<const int64_t> first) {
  return guard([&] {
    const Quiet quiet;
    Status status = writable("chunk of", path);
    return status.ok() ? chunks_.restore(path, first) : status;
  });
}

Status Hdf5Format::fill_chunk(const std::string& path, std::span<const int64_t> first,
                              std::span<const std::byte> bytes) {
  return guard([&] {
    const Quiet quiet;
    Status status = writable("chunk of", path);
    return status.ok() ? chunks_.fill(path, first, bytes) : status;
  });
}

void Hdf5Format::forget_moved_chunks() noexcept {
  const Quiet quiet;
  chunks_.forget_moved();
  is_placing_ = false;
}

Result<ChunkPlace> Hdf5Format::find_chunk(const std::string& path, std::span<const int64_t> first) {
  ChunkPlace place;
  Status status = guard([&] {
    const Quiet quiet;
    if (file_ < 0)
      return Status(Code::bad_state, fmt::format("\"{}\" is closed", path_));
    const Result<ChunkPlace> found = chunks_.find(path, first);
    if (!found.ok())
      return found.status();
    place = found.value();
    const Result<int64_t> end = file_bytes();
    if (!end.ok())
      return end.status();
    if (place.bytes <= 0 || (place.offset >= 0 && place.bytes <= end.value() - place.offset))
      return Status();
    return Status(Code::bad_file,
                  fmt::format("\"{}\": a chunk of \"{}\" lies outside the file: truncated or damaged", path_, path));
  });
  if (!status.ok())
    return status;
  return place;
}

Result<std::vector<int64_t>> Hdf5Format::stored_chunks(const std::string& path) {
  return guard([&]() -> Result<std::vector<int64_t>> {
    const Quiet quiet;
    if (file_ < 0)
      return Status(Code::bad_state, fmt::format("\"{}\" is closed", path_));
    auto chunks = chunks_.stored(path);
    if (!chunks.ok() && !failure_->ok())
      return *failure_;
    return chunks;
  });
}

void Hdf5Format::take_name(std::string) noexcept {
  const Quiet quiet;
  if (file_ >= 0)
    share_lock(file_);
}

void Hdf5Format::drop_changes() noexcept {
  if (file_ >= 0)
    windrow::drop_changes(file_);
}

Status Hdf5Format::refuse_others(bool on) {
  if (file_ < 0)
    return {Code::bad_state, fmt::format("\"{}\" is closed", path_)};
  return windrow::refuse_others(file_, on);
}

Status Hdf5Format::flush() {
  return guard([&] {
    const Quiet quiet;
    if (file_ < 0)
      return Status(Code::bad_state, fmt::format("flush: \"{}\" is closed", path_));
    Status status = scales_.write_lists();
    status.update(outcome(H5Fflush(file_, H5F_SCOPE_LOCAL), "flush of"));
    if (status.ok())
      status = verify();
    if (status.ok())
      status = publish(file_);
    if (status.ok())
      status = chunks_.let_go();
    is_placing_ = is_placing_ && !status.ok();
    published_ = true;
    return status;
  });
}

Status Hdf5Format::close() {
  return guard([&] {
    const Quiet quiet;
    if (file_ < 0)
      return Status(Code::bad_state, fmt::format("close: \"{}\" is closed", path_));
    last_group_ = {};
    Status status = mode_ == FormatMode::read ? Status() : guard([&] { return scales_.write_lists(); });
    chunks_.forget_all();
    if (chunks_.holds()) {  // HDF5 may reuse these places for what it writes while closing the file
      if (outcome(H5Fflush(file_, H5F_SCOPE_LOCAL), "flush of").ok())
        (void)publish(file_);
      (void)chunks_.let_go();
    }
    status.update(outcome(H5Fclose(std::exchange(file_, H5I_INVALID_HID)), "close of"));
    return status.ok() ? verify() : status;
  });
}

namespace {

Handle access_list(FormatMode mode, const FormatOptions& options, Opening& opening) {
  Handle list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // The driver accesses plain files and ignores HDF5_DRIVER, because other ranks write at offsets of this file. The
  // earliest format version lets old HDF5 read it (HDF5 2.0 has another default). A new file is not locked: no other
  // program knows its temporary name, and after a sync has published it, other programs may read it (share_lock()).
  // Aggregation of small data is off, because HDF5 would add freed space to its blocks unseen by kept_.
  const bool ok = set_driver(list.get(), opening) >= 0 && H5Pset_fclose_degree(list.get(), H5F_CLOSE_STRONG) >= 0 &&
                  H5Pset_small_data_block_size(list.get(), 0) >= 0 &&
                  H5Pset_libver_bounds(list.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST) >= 0 &&
                  H5Pset_alignment(list.get(), static_cast<hsize_t>(options.alignment_threshold),
                                   static_cast<hsize_t>(options.alignment)) >= 0;
  if (!ok)
    return {};
  set_file_locking(list.get(), mode != FormatMode::create);
  return list;
}

Handle creation_list() {
  Handle list(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  set_group_creation(list.get());
  return list;
}

// HDF5 allocates 512 KiB for the cache of each file that it opens, and by default frees them with each file that it
// closes, which costs page faults in every file. With this limit it keeps those of the last two. The other limits are
// HDF5's own.
void keep_memory_of_cache() {
  constexpr int k_kib = 1024, k_mib = 1024 * k_kib;
  [[maybe_unused]] static const herr_t once =
      H5set_free_list_limits(4 * k_mib, k_mib + k_mib / 4, 4 * k_mib, 256 * k_kib, 16 * k_mib, k_mib);
}

// Makes no HDF5 call after one that may fail, because that would clear HDF5's error stack.
Handle open_file(const std::string& path, FormatMode mode, hid_t creation, hid_t access) {
  if (mode != FormatMode::create)
    return {H5Fopen(path.c_str(), mode == FormatMode::read ? H5F_ACC_RDONLY : H5F_ACC_RDWR, access), H5Fclose};
  // Truncated, not created again, because a temporary keeps its mode.
  return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose};
}

// The file is locked by another program, the file system has no locks, or this process has it open without locks (HDF5
// requires all handles to agree).
bool is_about_locks(const Hdf5Error& error) {
  return error.text.find("lock") != std::string::npos;
}

// Reports missing files, missing permission and other formats before HDF5 does.
Result<std::unique_ptr<Store>> open_path(const std::string& path, FormatMode mode) {
  Result<std::unique_ptr<Store>> store = open_store(path, store_mode(mode), {});
  if (!store.ok() || mode == FormatMode::create)
    return store;
  const Result<bool> is_hdf5 = recognises_hdf5(path, *store.value());
  if (!is_hdf5.ok())
    return is_hdf5.status();
  if (!is_hdf5.value())
    return Status(Code::bad_file, fmt::format("\"{}\" is not an HDF5 file", path));
  return store;
}

Result<std::unique_ptr<Format>> make_format(const std::string& path, FormatMode mode, const FormatOptions& options,
                                            Opening opening) {
  const Quiet quiet;
  keep_memory_of_cache();
  const Handle creation = creation_list();
  const Handle access = access_list(mode, options, opening);
  if (!access.valid())
    return hdf5_status(Code::bad_argument, "settings of", path);
  Handle file = open_file(path, mode, creation.get(), access.get());
  Hdf5Error error = file.valid() ? Hdf5Error() : last_error();
  if (!file.valid() && is_about_locks(error)) {
    if (error.system_error == EAGAIN || error.system_error == EWOULDBLOCK)
      return Status(Code::bad_state,
                    fmt::format("\"{}\" is open in another program and locked by it (HDF5 file locking; "
                                "the environment variable HDF5_USE_FILE_LOCKING=FALSE turns it off)",
                                path));
    set_file_locking(access.get(), false);
    file = open_file(path, mode, creation.get(), access.get());
    if (!file.valid())
      error = last_error();
  }
  if (!file.valid() && mode == FormatMode::update &&
      error.text.find("read-only") != std::string::npos)  // HDF5 has one state per file for all its handles
    return Status(Code::bad_state,
                  fmt::format("\"{}\" is open for reading in this program; close it before changing it", path));
  if (!file.valid() && !opening.failure->ok())
    return *opening.failure;
  if (!file.valid())
    return hdf5_status(mode == FormatMode::create ? Code::io : Code::bad_file, "open of", path, error);
  auto format = std::make_unique<Hdf5Format>(path, mode, options, file.get());
  file.release();
  if (Status status = format->start(); !status.ok())
    return status;
  return std::unique_ptr<Format>(std::move(format));
}

}  // namespace

Result<std::unique_ptr<Format>> open_hdf5_format(const std::string& path, FormatMode mode, const FormatOptions& options,
                                                 std::unique_ptr<Store> opened) {
  if (!opened) {
    Result<std::unique_ptr<Store>> store = open_path(path, mode);
    if (!store.ok())
      return store.status();
    opened = std::move(store).value();
  }
  return make_format(path, mode, options, {std::move(opened), mode == FormatMode::create, options.durable});
}

}  // namespace windrow
