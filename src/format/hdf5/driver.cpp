// SPDX-License-Identifier: BSD-3-Clause
// Reasons for a driver instead of H5FD_SEC2:
// - If a write fails inside H5Fclose (disk full), HDF5 1.10 frees the file but keeps its identifier, and follows it
// into freed memory at exit. Here writes never fail for HDF5. The first error is recorded, nothing is written after it,
// and the close of the lost file succeeds.
// - H5FD_SEC2 empties a file only with O_TRUNC (see posix_store.cpp), or would have to create it again with another
// mode.
// - HDF5 overwrites published data whenever its cache is full, in the order of addresses. If the disk fills up or the
// process is killed meanwhile, objects are lost that were not changed. Here such writes stay in memory until HDF5 has
// flushed the file, and are then written together (storage/overwrite.hpp).
#include "format/hdf5/driver.hpp"

#if __has_include(<H5FDdevelop.h>)  // since HDF5 1.14
#include <H5FDdevelop.h>
#endif
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <compare>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "format/hdf5/pending_writes.hpp"
#include "format/hdf5/signature.hpp"
#include "format/hdf5/superblock.hpp"
#include "storage/file_system.hpp"
#include "storage/overwrite.hpp"
#include "storage/store.hpp"
#include "storage/system_error.hpp"

namespace windrow {
namespace {

constexpr haddr_t k_last_address = std::numeric_limits<int64_t>::max();

struct DriverFile : H5FD_t {
  std::shared_ptr<void> heap_cache = nullptr;  // see cache_until_written()
  std::unique_ptr<Store> store;
  std::pair<dev_t, ino_t> identity;
  haddr_t end_of_addresses = 0;
  haddr_t used_end = 0;         // nothing was ever written after this address, by any rank
  haddr_t published_end = 0;    // readers find what is before this address
  PendingWrites pending;        // later writes of HDF5 before published_end, or all writes after an error
  UndoLog undo;                 // of a file opened read-only
  int64_t mark_at = k_no_mark;  // see storage/overwrite.hpp
  bool is_interrupted = false;  // there was an undo log, or the mark, when it was opened
  bool is_half_changed = false;
  bool is_dropped = false;  // see drop_changes()
  bool changes = false;     // it is open for writing
  bool durable = false;
  bool holds_elements = false;
  int64_t chunk_offset = -1;
  haddr_t marked = HADDR_UNDEF;  // address of a superblock with HDF5's mark
  haddr_t end_of_file = 0;       // according to HDF5; others may have extended it
  std::shared_ptr<Status> failure = std::make_shared<Status>();

  DriverFile() : H5FD_t{} {}
};

// HDF5 copies this together with a property list.
struct Settings {
  Opening* opening = nullptr;
};

DriverFile& of(H5FD_t* file) noexcept {
  return *static_cast<DriverFile*>(file);
}
const DriverFile& of(const H5FD_t* file) noexcept {
  return *static_cast<const DriverFile*>(file);
}

// Pushes onto HDF5's error stack, where last_error() finds the number.
herr_t complain(hid_t minor, const char* what, int error) noexcept {
  H5Epush2(H5E_DEFAULT, __FILE__, what, __LINE__, H5E_ERR_CLS, H5E_VFL, minor, "unable to %s: errno = %d", what, error);
  return -1;
}

// Bytes after the end of the file read as zeros.
Status read_bytes(Store& store, haddr_t address, std::span<std::byte> bytes) {
  const Result<int64_t> end = store.size();
  if (!end.ok())
    return end.status();
  const auto size = static_cast<int64_t>(bytes.size());
  const int64_t there = std::clamp<int64_t>(end.value() - static_cast<int64_t>(address), 0, size);
  std::memset(bytes.data() + there, 0, static_cast<size_t>(size - there));
  return store.read_at(static_cast<int64_t>(address), bytes.first(static_cast<size_t>(there)));
}

// Undoes what a killed process left half written. Readers find the state before. A process that holds the file's lock
// may be undoing it itself.
Status end_interrupted_flush(DriverFile& file, StoreMode mode, std::string_view path) {
  const Result<int64_t> mark_at = find_mark_of_hdf5(*file.store);
  if (!mark_at.ok())
    return mark_at.status();
  file.mark_at = mark_at.value();
  auto log = find_undo_log(*file.store, path, file.mark_at);
  if (!log.ok())
    return log.status();
  file.is_interrupted = log.value().found || log.value().marked;
  if (!log.value().found)
    return {};  // the mark alone stays: the subfiles of a base file may be half changed
  if (mode != StoreMode::update) {
    file.undo = std::move(log).value();
    return {};
  }
  if (::flock(file.store->descriptor(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return {Code::bad_state, fmt::format("\"{}\" is half changed, and open in another program and locked by it", path)};
  return roll_back(*file.store, path, file.durable, file.mark_at);  // also where the file system has no locks
}

Status open_driver_file(const char* name, unsigned flags, Opening* opening, DriverFile& file) {
  const StoreMode mode = (flags & H5F_ACC_TRUNC) != 0  ? StoreMode::create
                         : (flags & H5F_ACC_RDWR) != 0 ? StoreMode::update
                                                       : StoreMode::read;
  if (opening != nullptr && opening->store) {
    file.store = std::move(opening->store);
  } else {
    auto store = open_store(name, mode, {});
    if (!store.ok())
      return store.status();
    file.store = std::move(store).value();
  }
  struct stat about {};
  if (::fstat(file.store->descriptor(), &about) != 0)
    return system_status("open of", name, errno);
  file.identity = {about.st_dev, about.st_ino};
  if (opening != nullptr)
    file.durable = opening->durable;
  file.changes = mode != StoreMode::read;
  if (Status status = end_interrupted_flush(file, mode, name); !status.ok())
    return status;
  if (::fstat(file.store->descriptor(), &about) != 0)
    return system_status("open of", name, errno);
  file.end_of_file = file.used_end = file.published_end =
      static_cast<haddr_t>(file.undo.found ? file.undo.end : about.st_size);
  return {};
}

H5FD_t* open(const char* name, unsigned flags, hid_t access, haddr_t) noexcept {
  const auto* settings = static_cast<const Settings*>(H5Pget_driver_info(access));
  Opening* const opening = settings != nullptr ? settings->opening : nullptr;
  // HDF5 first opens a file that it is to create without changing it, to see whether it is already open, and then
  // again. A temporary never is.
  if (opening != nullptr && opening->create && (flags & H5F_ACC_TRUNC) == 0)
    return nullptr;
  std::unique_ptr<DriverFile> file;
  const Status status = guard([&] {
    file = std::make_unique<DriverFile>();
    if (opening != nullptr)
      file->failure = opening->failure;
    return open_driver_file(name, flags, opening, *file);
  });
  if (status.ok())
    return file.release();
  if (opening != nullptr)
    opening->failure->update(Status(status));
  if (status.code() == Code::out_of_memory)
    return complain(H5E_CANTOPENFILE, "open file", ENOMEM), nullptr;
  H5Epush2(H5E_DEFAULT, __FILE__, "open", __LINE__, H5E_ERR_CLS, H5E_VFL, H5E_CANTOPENFILE, "%s",
           status.message().c_str());
  return nullptr;
}

int compare(const H5FD_t* left, const H5FD_t* right) noexcept {
  const auto order = of(left).identity <=> of(right).identity;
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

// As H5FD_SEC2, without H5FD_FEAT_POSIX_COMPAT_HANDLE, because our handle is not a descriptor.
herr_t query(const H5FD_t*, unsigned long* flags) noexcept {
  if (flags)
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_SUPPORTS_SWMR_IO | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t end_of_addresses(const H5FD_t* file, H5FD_mem_t) noexcept {
  return of(file).end_of_addresses;
}
haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t) noexcept {
  return of(file).end_of_file;
}

herr_t set_end_of_addresses(H5FD_t* file, H5FD_mem_t, haddr_t address) noexcept {
  of(file).end_of_addresses = address;
  return 0;
}

herr_t handle_of(H5FD_t* file, hid_t, void** handle) noexcept {
  *handle = &of(file);
  return 0;
}

bool is_range(haddr_t address, size_t size) noexcept {
  return address <= k_last_address && size <= k_last_address - address;
}

void keep_failure(DriverFile& file, Status status) noexcept {
  file.failure->update(std::move(status));
}

// A file that was created here has its superblock when HDF5 has flushed it.
Status find_mark(DriverFile& file) {
  if (file.mark_at != k_no_mark)
    return {};
  const Result<int64_t> found = find_mark_of_hdf5(*file.store);
  if (found.ok())
    file.mark_at = found.value();
  return found.status();
}

// The file stays as it was when it was flushed last.
void accept_others(DriverFile& file) noexcept {
  if (!file.is_dropped && !file.is_half_changed)
    (void)set_mark(*file.store, file.mark_at, false);
}

// HDF5 has flushed the file: writes the buffered bytes, which readers find from now on. Code::out_of_memory: nothing
// was written, and it can be tried again.
Status commit(DriverFile& file) noexcept {
  if (!file.changes)
    return *file.failure;
  if (!file.failure->ok()) {
    accept_others(file);
    return *file.failure;
  }
  Status status;
  if (file.published_end > 0)
    status = guard([&] {
      std::vector<Overwrite> changes;
      for (const auto& [address, bytes] : file.pending.pieces())
        changes.push_back({static_cast<int64_t>(address), bytes});
      if (Status found = find_mark(file); !found.ok())
        return found;
      return overwrite(*file.store, changes, static_cast<int64_t>(std::max(file.end_of_addresses, file.end_of_file)),
                       file.durable, file.mark_at);
    });
  if (!status.ok()) {
    const Result<bool> marked = is_marked(*file.store, file.mark_at);
    file.is_half_changed = !marked.ok() || marked.value();
    if (status.code() != Code::out_of_memory)
      keep_failure(file, status);
    return status;
  }
  file.pending.clear();
  file.published_end = file.end_of_addresses;
  return status;
}

herr_t close(H5FD_t* base) noexcept {
  const std::unique_ptr<DriverFile> file(&of(base));
  keep_failure(*file, commit(*file));
  file->failure->update(file->store->close());
  return 0;
}

// HDF5 calls collections of the global heap raw data, too.
bool is_heap_collection(std::span<const std::byte> bytes) noexcept {
  constexpr std::string_view k_signature = "GCOL";
  return bytes.size() >= k_signature.size() && std::memcmp(bytes.data(), k_signature.data(), k_signature.size()) == 0;
}

herr_t read(H5FD_t* base, H5FD_mem_t type, hid_t, haddr_t address, size_t size, void* data) noexcept {
  DriverFile& file = of(base);
  if (!is_range(address, size))
    return complain(H5E_OVERFLOW, "read", EOVERFLOW);
  if (data == chunk_marker()) {
    file.chunk_offset = static_cast<int64_t>(address);
    return 0;
  }
  const std::span bytes(static_cast<std::byte*>(data), size);
  Status status = guard([&] { return read_bytes(*file.store, address, bytes); });
  // it counts as lost, but HDF5 leaves files half closed if it cannot read, so it gets a second try
  if (!status.ok()) {
    keep_failure(file, status);
    status = guard([&] { return read_bytes(*file.store, address, bytes); });
  }
  if (status.ok())
    apply(file.undo, static_cast<int64_t>(address), bytes);
  if (status.ok()) {
    hide_mark(file.mark_at, static_cast<int64_t>(address), bytes);
    file.pending.show(address, bytes);
  }
  if (status.ok() && type == H5FD_MEM_SUPER && has_write_mark(bytes))
    file.marked = address;
  if (status.ok())
    return 0;
  return complain(H5E_READERROR, "read", status.code() == Code::out_of_memory ? ENOMEM : EIO);
}

// After the first error the file stays unchanged, and HDF5 continues in memory: it reads back what it wrote. Elements
// are written at once, because the aggregators write elements too, and buffered bytes would later replace theirs. The
// exception are elements that refer to heaps, which are buffered.
Status write_bytes(DriverFile& file, H5FD_mem_t type, haddr_t address, std::span<const std::byte> bytes) {
  std::vector<std::byte> cleared;
  if (file.marked >= address && file.marked < address + bytes.size()) {
    cleared.assign(bytes.begin(), bytes.end());
    clear_write_mark(std::span(cleared).subspan(file.marked - address));
    bytes = cleared;
  }
  if (type == H5FD_MEM_DRAW && !is_heap_collection(bytes) && !file.holds_elements && file.failure->ok()) {
    file.pending.drop(address, bytes.size());
    return file.store->write_at(static_cast<int64_t>(address), bytes);
  }
  const size_t over =
      file.failure->ok()
          ? std::min(bytes.size(), static_cast<size_t>(file.published_end - std::min(file.published_end, address)))
          : bytes.size();
  if (over > 0)
    file.pending.add(address, bytes.first(over));
  if (over == bytes.size())
    return {};
  Status status = file.store->write_at(static_cast<int64_t>(address + over), bytes.subspan(over));
  if (!status.ok())
    (void)guard([&] { return file.pending.add(address + over, bytes.subspan(over)), Status(); });
  return status;
}

// Others write a marked chunk, if at all: HDF5 has not extended the file that far.
herr_t write(H5FD_t* base, H5FD_mem_t type, hid_t, haddr_t address, size_t size, const void* data) noexcept {
  DriverFile& file = of(base);
  file.heap_cache.reset();
  file.used_end = std::max(file.used_end, address + size);
  if (data == chunk_marker() && is_range(address, size)) {
    keep_failure(file, guard([&] { return file.pending.drop(address, size), Status(); }));
    file.chunk_offset = static_cast<int64_t>(address);
    return 0;
  }
  keep_failure(file, guard([&] {
                 if (!is_range(address, size))
                   return Status(Code::internal, "HDF5 writes beyond the maximum size of a file");
                 return write_bytes(file, type, address, std::span(static_cast<const std::byte*>(data), size));
               }));
  file.end_of_file = std::max(file.end_of_file, address + size);
  return 0;
}

// A published file is truncated when it is committed: until then readers find data there.
herr_t resize(H5FD_t* base, hid_t, hbool_t) noexcept {
  DriverFile& file = of(base);
  if (!file.failure->ok() || file.end_of_file == file.end_of_addresses)
    return 0;
  const bool waits = file.published_end > 0 && file.end_of_addresses < file.end_of_file;
  if (!waits)
    keep_failure(file, guard([&] { return file.store->resize(static_cast<int64_t>(file.end_of_addresses)); }));
  if (file.failure->ok())
    file.used_end = std::min(file.used_end, file.end_of_addresses);
  file.end_of_file = file.end_of_addresses;
  return 0;
}

herr_t lock(H5FD_t* file, hbool_t exclusive) noexcept {
  if (::flock(of(file).store->descriptor(), (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 || errno == ENOSYS)
    return 0;
  return complain(H5E_CANTLOCKFILE, "lock file", errno);
}

herr_t unlock(H5FD_t* file) noexcept {
  if (::flock(of(file).store->descriptor(), LOCK_UN) == 0 || errno == ENOSYS)
    return 0;
  return complain(H5E_CANTUNLOCKFILE, "unlock file", errno);
}

// H5Close makes HDF5 forget its drivers. HDF5 compares only files of the same registration.
hid_t registered = H5I_INVALID_HID;

herr_t terminate() noexcept {
  registered = H5I_INVALID_HID;
  return 0;
}

const H5FD_class_t& driver_class() noexcept {
  static const H5FD_class_t instance = [] {
    H5FD_class_t made{};
#ifdef H5FD_CLASS_VERSION
    made.version = H5FD_CLASS_VERSION;
    made.value = 31977;  // one of the numbers for general use (from 512); not stored in files
#endif
    made.name = "windrow";
    made.maxaddr = k_last_address;
    made.fc_degree = H5F_CLOSE_WEAK;
    made.fapl_size = sizeof(Settings);
    made.terminate = terminate;
    made.open = open;
    made.close = close;
    made.cmp = compare;
    made.query = query;
    made.get_eoa = end_of_addresses;
    made.set_eoa = set_end_of_addresses;
    made.get_eof = end_of_file;
    made.get_handle = handle_of;
    made.read = read;
    made.write = write;
    made.truncate = resize;
    made.lock = lock;
    made.unlock = unlock;
    constexpr H5FD_mem_t k_free_lists[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(k_free_lists), std::end(k_free_lists), made.fl_map);
    return made;
  }();
  return instance;
}

DriverFile* driver_of(hid_t file) noexcept {
  void* handle = nullptr;
  return H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0 ? nullptr : static_cast<DriverFile*>(handle);
}

}  // namespace

herr_t set_driver(hid_t access, Opening& opening) {
  if (registered < 0)
    registered = H5FDregister(&driver_class());
  const Settings settings{&opening};
  return registered < 0 ? -1 : H5Pset_driver(access, registered, &settings);
}

std::shared_ptr<const Status> driver_failure(hid_t file) {
  const DriverFile* driver = driver_of(file);
  return driver != nullptr ? driver->failure : nullptr;
}

void* chunk_marker() noexcept {
  static std::byte marker{};
  return &marker;
}

int64_t take_chunk_offset(hid_t file) {
  DriverFile* driver = driver_of(file);
  return driver != nullptr ? std::exchange(driver->chunk_offset, -1) : -1;
}

Status take_place(hid_t file, Extent bytes, bool zeros) {
  constexpr int64_t k_at_once = int64_t{1} << 20;
  DriverFile* driver = driver_of(file);
  if (driver == nullptr)
    return {Code::internal, "a file with another driver"};
  const Extent used = intersect(bytes, {0, static_cast<int64_t>(driver->used_end)});
  driver->used_end = std::max(driver->used_end, static_cast<haddr_t>(bytes.end));
  if (driver->failure->ok())
    driver->pending.drop(static_cast<haddr_t>(bytes.begin), static_cast<size_t>(bytes.size()));
  if (!zeros || used.empty())
    return {};
  const std::vector<std::byte> none(static_cast<size_t>(std::min(used.size(), k_at_once)));
  for (int64_t at = used.begin; at < used.end && driver->failure->ok(); at += k_at_once)
    keep_failure(*driver, driver->store->write_at(
                              at, std::span(none).first(static_cast<size_t>(std::min(used.end - at, k_at_once)))));
  return *driver->failure;
}

int64_t end_of_space(hid_t file) noexcept {
  const DriverFile* driver = driver_of(file);
  return driver != nullptr ? static_cast<int64_t>(driver->end_of_addresses) : 0;
}

Status copy_bytes(hid_t file, Extent bytes, int64_t to) {
  constexpr int64_t k_at_once = int64_t{1} << 20;
  DriverFile* driver = driver_of(file);
  if (driver == nullptr)
    return {Code::internal, "a file with another driver"};
  std::vector<std::byte> room(static_cast<size_t>(std::min(bytes.size(), k_at_once)));
  for (int64_t done = 0; done < bytes.size() && driver->failure->ok(); done += k_at_once) {
    const std::span part = std::span(room).first(static_cast<size_t>(std::min(bytes.size() - done, k_at_once)));
    Status status = read_bytes(*driver->store, static_cast<haddr_t>(bytes.begin + done), part);
    if (status.ok())
      status = driver->store->write_at(to + done, part);
    keep_failure(*driver, std::move(status));
  }
  return *driver->failure;
}

Status write_past(hid_t file, std::span<const std::byte> bytes, int64_t to) {
  DriverFile* driver = driver_of(file);
  if (driver == nullptr)
    return {Code::internal, "a file with another driver"};
  return driver->store->write_at(to, bytes);
}

Status read_place(hid_t file, int64_t offset, std::span<std::byte> bytes) {
  DriverFile* driver = driver_of(file);
  if (driver == nullptr)
    return {Code::internal, "a file with another driver"};
  const auto address = static_cast<haddr_t>(offset);
  if (read(driver, H5FD_MEM_DEFAULT, H5P_DEFAULT, address, bytes.size(), bytes.data()) >= 0)
    return {};
  return driver->failure->ok()
             ? Status(Code::bad_file, fmt::format("{} at {} exceed the file", counted(bytes.size(), "byte"), offset))
             : *driver->failure;
}

DeferredElements::DeferredElements(hid_t file) noexcept : file_(file) {
  if (DriverFile* driver = driver_of(file_))
    driver->holds_elements = true;
}

DeferredElements::~DeferredElements() {
  if (DriverFile* driver = driver_of(file_))
    driver->holds_elements = false;
}

std::shared_ptr<void>* cache_until_written(hid_t file) noexcept {
  DriverFile* driver = driver_of(file);
  return driver != nullptr ? &driver->heap_cache : nullptr;
}

void give_place_back(hid_t file, Extent bytes) noexcept {
  DriverFile* driver = driver_of(file);
  if (driver != nullptr && driver->used_end == static_cast<haddr_t>(bytes.end))
    driver->used_end = static_cast<haddr_t>(bytes.begin);
}

Status publish(hid_t file) noexcept {
  DriverFile* driver = driver_of(file);
  return driver == nullptr ? Status() : commit(*driver);
}

bool is_interrupted(hid_t file) noexcept {
  const DriverFile* const driver = driver_of(file);
  return driver != nullptr && driver->is_interrupted;
}

Status refuse_others(hid_t file, bool on) noexcept {
  DriverFile* const driver = driver_of(file);
  if (driver == nullptr || !driver->changes || driver->is_half_changed)
    return {};
  return guard([&] {
    Status status = find_mark(*driver);
    if (status.ok())
      status = set_mark(*driver->store, driver->mark_at, on);
    return status.ok() && on && driver->durable ? driver->store->sync() : status;
  });
}

void share_lock(hid_t file) noexcept {
  const char* const use = std::getenv("HDF5_USE_FILE_LOCKING");
  const bool is_off = use != nullptr && (std::string_view(use) == "FALSE" || std::string_view(use) == "0");
  DriverFile* const driver = driver_of(file);
  struct statfs about {};
  if (driver != nullptr && !is_off && ::fstatfs(driver->store->descriptor(), &about) == 0 &&
      file_system_of_type(static_cast<uint64_t>(about.f_type)) == FileSystem::local)
    (void)::flock(driver->store->descriptor(), LOCK_SH | LOCK_NB);
}

void drop_changes(hid_t file) noexcept {
  DriverFile* const driver = driver_of(file);
  if (driver == nullptr)
    return;
  driver->is_dropped = true;
  keep_failure(*driver, guard([] { return Status(Code::bad_state, "the changes of this file were discarded"); }));
}

}  // namespace windrow
