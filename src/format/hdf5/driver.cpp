// SPDX-License-Identifier: BSD-3-Clause
// Why not H5FD_SEC2: when a write fails inside H5Fclose (the disk is full), HDF5 1.10 frees the file but keeps its identifier, and
// follows it at the program's exit, into freed memory. Here writes never fail for HDF5: the first failure is kept, nothing is
// written after it, and the closing of a file that is lost anyway goes through. And: H5FD_SEC2 empties a file only by O_TRUNC
// (see posix_store.cpp), or would have to make it anew, with another mode than it was given. And: HDF5 writes over what it has published, in the
// order of addresses; when the disk fills up in the midst of that, objects that nobody touched are lost. Here what was there is put back, which
// takes no room.
#include "format/hdf5/driver.hpp"

#if __has_include(<H5FDdevelop.h>)  // since HDF5 1.14
#include <H5FDdevelop.h>
#endif
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <compare>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "format/hdf5/superblock.hpp"
#include "storage/store.hpp"
#include "storage/system_error.hpp"

namespace windrow {
namespace {

constexpr haddr_t k_last_address = std::numeric_limits<int64_t>::max();

struct DriverFile : H5FD_t {
  std::shared_ptr<void> learnt = nullptr;  // see kept_until_written()
  std::unique_ptr<Store> store;
  std::pair<dev_t, ino_t> identity;
  haddr_t end_of_addresses = 0;
  haddr_t used_end = 0;  // nothing was ever written behind it, by whomever
  haddr_t published_end = 0;  // what lies before is what others find
  std::map<haddr_t, std::vector<std::byte>> published;  // of that, what was written over since: apart from one another
  bool is_restored = false;  // after a failure: others find what they found before
  int64_t chunk_offset = -1;
  haddr_t marked = HADDR_UNDEF;  // where a superblock lies that HDF5 marks
  haddr_t end_of_file = 0;  // as far as HDF5 has made it; others may have made it longer
  std::shared_ptr<Status> failure = std::make_shared<Status>();

  DriverFile() : H5FD_t{} {}
};

// What HDF5 copies with a list of settings.
struct Settings {
  Opening* opening = nullptr;
};

DriverFile& of(H5FD_t* file) noexcept { return *static_cast<DriverFile*>(file); }
const DriverFile& of(const H5FD_t* file) noexcept { return *static_cast<const DriverFile*>(file); }

// Onto HDF5's stack of errors, where last_error() finds the number.
herr_t complain(hid_t minor, const char* what, int error) noexcept {
  H5Epush2(H5E_DEFAULT, __FILE__, what, __LINE__, H5E_ERR_CLS, H5E_VFL, minor, "unable to %s: errno = %d", what, error);
  return -1;
}

// What is behind the file's end reads as zeros.
Status read_bytes(Store& store, haddr_t address, std::span<std::byte> bytes) {
  const Result<int64_t> end = store.size();
  if (!end.ok()) return end.status();
  const auto size = static_cast<int64_t>(bytes.size());
  const int64_t there = std::clamp<int64_t>(end.value() - static_cast<int64_t>(address), 0, size);
  std::memset(bytes.data() + there, 0, static_cast<size_t>(size - there));
  return store.read_at(static_cast<int64_t>(address), bytes.first(static_cast<size_t>(there)));
}

Status open_driver_file(const char* name, unsigned flags, Opening* opening, DriverFile& file) {
  const StoreMode mode = (flags & H5F_ACC_TRUNC) != 0  ? StoreMode::create
                         : (flags & H5F_ACC_RDWR) != 0 ? StoreMode::update
                                                       : StoreMode::read;
  if (opening != nullptr && opening->store) {
    file.store = std::move(opening->store);
  } else {
    auto store = open_store(name, mode, {});
    if (!store.ok()) return store.status();
    file.store = std::move(store).value();
  }
  struct stat about {};
  if (::fstat(file.store->descriptor(), &about) != 0) return system_status("open of", name, errno);
  file.identity = {about.st_dev, about.st_ino};
  file.end_of_file = file.used_end = file.published_end = static_cast<haddr_t>(about.st_size);
  return {};
}

H5FD_t* open(const char* name, unsigned flags, hid_t access, haddr_t) noexcept {
  const auto* settings = static_cast<const Settings*>(H5Pget_driver_info(access));
  Opening* const opening = settings != nullptr ? settings->opening : nullptr;
  // HDF5 first opens what it is to create without changing it, to see whether it has it open already, and then once more. A draft it
  // has not.
  if (opening != nullptr && opening->create && (flags & H5F_ACC_TRUNC) == 0) return nullptr;
  std::unique_ptr<DriverFile> file;
  const Status status = guard([&] {
    file = std::make_unique<DriverFile>();
    return open_driver_file(name, flags, opening, *file);
  });
  if (status.ok()) return file.release();
  if (status.code() == Code::out_of_memory) return complain(H5E_CANTOPENFILE, "open file", ENOMEM), nullptr;
  H5Epush2(H5E_DEFAULT, __FILE__, "open", __LINE__, H5E_ERR_CLS, H5E_VFL, H5E_CANTOPENFILE, "%s", status.message().c_str());
  return nullptr;
}

herr_t close(H5FD_t* base) noexcept {
  const std::unique_ptr<DriverFile> file(&of(base));
  file->failure->update(file->store->close());
  return 0;
}

int compare(const H5FD_t* left, const H5FD_t* right) noexcept {
  const auto order = of(left).identity <=> of(right).identity;
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

// As H5FD_SEC2, but for H5FD_FEAT_POSIX_COMPAT_HANDLE: our handle is not a descriptor.
herr_t query(const H5FD_t*, unsigned long* flags) noexcept {
  if (flags)
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
             H5FD_FEAT_SUPPORTS_SWMR_IO | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t end_of_addresses(const H5FD_t* file, H5FD_mem_t) noexcept { return of(file).end_of_addresses; }
haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t) noexcept { return of(file).end_of_file; }

herr_t set_end_of_addresses(H5FD_t* file, H5FD_mem_t, haddr_t address) noexcept {
  of(file).end_of_addresses = address;
  return 0;
}

herr_t handle_of(H5FD_t* file, hid_t, void** handle) noexcept {
  *handle = &of(file);
  return 0;
}

bool is_range(haddr_t address, size_t size) noexcept { return address <= k_last_address && size <= k_last_address - address; }

// Keeps what was published in [begin, end) and is kept not yet.
Status keep_published(DriverFile& file, haddr_t begin, haddr_t end) {
  end = std::min(end, file.published_end);
  auto next = file.published.upper_bound(begin);
  if (next != file.published.begin()) begin = std::max(begin, std::prev(next)->first + std::prev(next)->second.size());
  while (begin < end) {
    const haddr_t until = next == file.published.end() ? end : std::min(end, next->first);
    if (begin < until) {
      std::vector<std::byte> bytes(until - begin);
      if (Status status = read_bytes(*file.store, begin, bytes); !status.ok()) return status;
      file.published.emplace_hint(next, begin, std::move(bytes));
    }
    if (until == end) break;
    begin = next->first + next->second.size();
    ++next;
  }
  return {};
}

// After the first failure nothing is written but what was published.
void refuse(DriverFile& file, Status status) noexcept {
  if (status.ok() || !file.failure->ok()) return;
  file.failure->update(std::move(status));
  file.is_restored = true;
  for (const auto& [address, bytes] : file.published)
    file.is_restored &= guard([&] { return file.store->write_at(static_cast<int64_t>(address), bytes); }).ok();
  file.published.clear();
}

herr_t read(H5FD_t* base, H5FD_mem_t type, hid_t, haddr_t address, size_t size, void* data) noexcept {
  DriverFile& file = of(base);
  if (!is_range(address, size)) return complain(H5E_OVERFLOW, "read", EOVERFLOW);
  if (data == chunk_marker()) {
    file.chunk_offset = static_cast<int64_t>(address);
    return 0;
  }
  const std::span bytes(static_cast<std::byte*>(data), size);
  const Status status = guard([&] { return read_bytes(*file.store, address, bytes); });
  if (status.ok() && type == H5FD_MEM_SUPER && has_write_mark(bytes)) file.marked = address;
  if (status.ok()) return 0;
  refuse(file, status);
  return complain(H5E_READERROR, "read", status.code() == Code::out_of_memory ? ENOMEM : EIO);
}

Status write_bytes(DriverFile& file, haddr_t address, std::span<const std::byte> bytes) {
  if (Status kept = keep_published(file, address, address + bytes.size()); !kept.ok()) return kept;
  const bool with_mark = file.marked >= address && file.marked < address + bytes.size();
  if (!with_mark) return file.store->write_at(static_cast<int64_t>(address), bytes);
  std::vector<std::byte> cleared(bytes.begin(), bytes.end());
  clear_write_mark(std::span(cleared).subspan(file.marked - address));
  return file.store->write_at(static_cast<int64_t>(address), cleared);
}

// A marked chunk is written by others, if at all: HDF5 has not made the file that long.
herr_t write(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, size_t size, const void* data) noexcept {
  DriverFile& file = of(base);
  file.learnt.reset();
  file.used_end = std::max(file.used_end, address + size);
  if (data == chunk_marker() && is_range(address, size)) {
    file.chunk_offset = static_cast<int64_t>(address);
    return 0;
  }
  if (file.failure->ok())
    refuse(file, guard([&] {
      if (!is_range(address, size)) return Status(Code::internal, "HDF5 writes outside what a file can be");
      return write_bytes(file, address, std::span(static_cast<const std::byte*>(data), size));
    }));
  file.end_of_file = std::max(file.end_of_file, address + size);
  return 0;
}

// After a failure too where the old state is not in the file again, but then nothing is cut off: a file that is shorter than its superblock says
// opens no more, with all that was in it before.
herr_t resize(H5FD_t* base, hid_t, hbool_t) noexcept {
  DriverFile& file = of(base);
  const bool failed = !file.failure->ok();
  if (failed ? file.is_restored : file.end_of_file == file.end_of_addresses) return 0;
  refuse(file, guard([&] {
    const auto wanted = static_cast<int64_t>(file.end_of_addresses);
    if (failed) {
      const Result<int64_t> end = file.store->size();
      if (end.ok() && end.value() >= wanted) return Status();
    }
    return file.store->resize(wanted);
  }));
  if (file.failure->ok()) file.used_end = std::min(file.used_end, file.end_of_addresses);
  file.end_of_file = file.end_of_addresses;
  return 0;
}

herr_t lock(H5FD_t* file, hbool_t exclusive) noexcept {
  if (::flock(of(file).store->descriptor(), (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 || errno == ENOSYS) return 0;
  return complain(H5E_CANTLOCKFILE, "lock file", errno);
}

herr_t unlock(H5FD_t* file) noexcept {
  if (::flock(of(file).store->descriptor(), LOCK_UN) == 0 || errno == ENOSYS) return 0;
  return complain(H5E_CANTUNLOCKFILE, "unlock file", errno);
}

// HDF5 forgets its drivers when a program calls H5Close; and only files of one registration are compared with one another.
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
    made.value = 31977;  // of those that HDF5 leaves to everybody (from 512 on); files do not hold it
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
  if (registered < 0) registered = H5FDregister(&driver_class());
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
  if (driver == nullptr) return {Code::internal, "a file with another driver"};
  const Extent used = intersect(bytes, {0, static_cast<int64_t>(driver->used_end)});
  driver->used_end = std::max(driver->used_end, static_cast<haddr_t>(bytes.end));
  if (!zeros || used.empty()) return {};
  const std::vector<std::byte> none(static_cast<size_t>(std::min(used.size(), k_at_once)));
  for (int64_t at = used.begin; at < used.end && driver->failure->ok(); at += k_at_once)
    refuse(*driver, driver->store->write_at(at, std::span(none).first(static_cast<size_t>(std::min(used.end - at, k_at_once)))));
  return *driver->failure;
}

Status copy_bytes(hid_t file, Extent bytes, int64_t to) {
  constexpr int64_t k_at_once = int64_t{1} << 20;
  DriverFile* driver = driver_of(file);
  if (driver == nullptr) return {Code::internal, "a file with another driver"};
  std::vector<std::byte> room(static_cast<size_t>(std::min(bytes.size(), k_at_once)));
  for (int64_t done = 0; done < bytes.size() && driver->failure->ok(); done += k_at_once) {
    const std::span part = std::span(room).first(static_cast<size_t>(std::min(bytes.size() - done, k_at_once)));
    Status status = read_bytes(*driver->store, static_cast<haddr_t>(bytes.begin + done), part);
    if (status.ok()) status = driver->store->write_at(to + done, part);
    refuse(*driver, std::move(status));
  }
  return *driver->failure;
}

Status write_past(hid_t file, std::span<const std::byte> bytes, int64_t to) {
  DriverFile* driver = driver_of(file);
  if (driver == nullptr) return {Code::internal, "a file with another driver"};
  return driver->store->write_at(to, bytes);
}

Status read_place(hid_t file, int64_t offset, std::span<std::byte> bytes) {
  DriverFile* driver = driver_of(file);
  if (driver == nullptr) return {Code::internal, "a file with another driver"};
  if (read(driver, H5FD_MEM_GHEAP, H5P_DEFAULT, static_cast<haddr_t>(offset), bytes.size(), bytes.data()) >= 0) return {};
  return driver->failure->ok() ? Status(Code::bad_file, fmt::format("{} bytes at {} lie outside the file", bytes.size(), offset)) : *driver->failure;
}

std::shared_ptr<void>* kept_until_written(hid_t file) noexcept {
  DriverFile* driver = driver_of(file);
  return driver != nullptr ? &driver->learnt : nullptr;
}

void give_place_back(hid_t file, Extent bytes) noexcept {
  DriverFile* driver = driver_of(file);
  if (driver != nullptr && driver->used_end == static_cast<haddr_t>(bytes.end)) driver->used_end = static_cast<haddr_t>(bytes.begin);
}

void publish(hid_t file) noexcept {
  DriverFile* driver = driver_of(file);
  if (driver == nullptr) return;
  driver->published.clear();
  driver->published_end = driver->end_of_addresses;
}

}  // namespace windrow
