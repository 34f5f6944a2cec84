// SPDX-License-Identifier: BSD-3-Clause
#include "storage/posix/posix_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "storage/file_system.hpp"
#include "storage/posix/call_sequence.hpp"
#include "storage/slices.hpp"
#include "storage/system_error.hpp"

namespace windrow {
namespace {

static_assert(sizeof(off_t) == 8, "file offsets need 64 bits");

// Largest write to a local disk; longer ones save nothing. For longer writes ext4 and XFS allocate pages of 2 MiB,
// which a virtual machine may have to get back from its host first. Over a network longer calls may be faster.
constexpr int64_t k_local_call_bytes = 1 << 20;
constexpr uint64_t k_zfs_magic = 0x2fc12fc1;
// From this size on it pays to allocate blocks by one fallocate() before a write on ext4; otherwise the write allocates
// block by block (docs/internals/notes/2026-11-30-numbers-from-comments.md).
constexpr int64_t k_least_reserved_bytes = 1 << 18;
// Largest allocation of expected bytes at a time: other writes to the file wait for it.
constexpr int64_t k_most_reserved_bytes = int64_t{64} << 20;
constexpr size_t k_front_bytes = 64 << 10;  // the first part of a long request, which shows whether the storage is slow

const char* verb_of(Operation operation) noexcept {
  return operation == Operation::write ? "write" : "read";
}

Status failure(const char* verb, int64_t bytes, int64_t offset, const std::string& path, int error) noexcept {
  return guard([&] {
    return system_status(fmt::format("{} of {} at offset {} of", verb, format_bytes(bytes), offset), path, error);
  });
}

// An invalid range is an error of the caller, not of the storage.
Status check_range(const char* verb, int64_t offset, std::optional<int64_t> bytes, const std::string& path) noexcept {
  if (bytes && *bytes >= 0 && offset >= 0 && checked_add(offset, *bytes))
    return {};
  return guard([&] {
    return Status(Code::bad_argument,
                  fmt::format("{} at offset {} of \"{}\": not a range of a file", verb, offset, path));
  });
}

// Serializes long writes to one file of a local disk. The kernel admits one write at a time, and alternating calls
// would spend much time on wake-ups. Uses an open file description lock on a byte beyond any file; it ends with the
// open file.
class Turn {
 public:
  explicit Turn(int descriptor) noexcept : descriptor_(descriptor) {
    // Does not wait for other programs, which may have locked the whole file.
    struct flock other = range(F_WRLCK);
    const bool known = ::fcntl(descriptor_, F_OFD_GETLK, &other) == 0 &&
                       (other.l_type == F_UNLCK || (other.l_start == k_byte && other.l_len == 1));
    if (known)
      set(F_WRLCK);
  }
  ~Turn() { set(F_UNLCK); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  static constexpr off_t k_byte = INT64_MAX - 1;
  static struct flock range(short type) noexcept {
    struct flock byte {};
    byte.l_type = type;
    byte.l_whence = SEEK_SET;
    byte.l_start = k_byte;
    byte.l_len = 1;
    return byte;
  }
  // Without locks there is no waiting.
  void set(short type) const noexcept {
    struct flock byte = range(type);
    while (::fcntl(descriptor_, F_OFD_SETLKW, &byte) != 0 && errno == EINTR)
      continue;
  }

  int descriptor_;
};

// Whether the range conflicts with a lock that was set by F_SETLK anywhere in this process.
bool is_locked_by_this_process(int descriptor, struct flock range) noexcept {
  return ::fcntl(descriptor, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK && range.l_pid == ::getpid();
}

}  // namespace

PosixStore::PosixStore(std::string path, int descriptor, StoreMode mode, Hook hook) noexcept
    : path_(std::move(path)),
      descriptor_(descriptor),
      mode_(mode),
      hook_(std::move(hook)),
      write_call_bytes_(k_call_bytes) {
  struct statfs about {};
  if (hook_ || ::fstatfs(descriptor_, &about) != 0 ||
      file_system_of_type(static_cast<uint64_t>(about.f_type)) != FileSystem::local)
    return;
  write_call_bytes_ = k_local_call_bytes;
  reserves_ = static_cast<uint64_t>(about.f_type) == EXT4_SUPER_MAGIC;
  // ZFS runs disjoint writes concurrently
  takes_turns_ = static_cast<uint64_t>(about.f_type) != k_zfs_magic;
}

PosixStore::~PosixStore() {
  lanes_.reset();
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

Status PosixStore::usable(const char* verb, bool writes) const noexcept {
  if (descriptor_ >= 0 && !(writes && mode_ == StoreMode::read))
    return {};
  return guard([&] {
    return Status(Code::bad_state, fmt::format("{} of \"{}\": the file is {}", verb, path_,
                                               descriptor_ < 0 ? "closed" : "open for reading only"));
  });
}

// Allocates blocks for bytes that are about to be written. The length and the content of the file stay. Errors are
// ignored: the write reports them.
void PosixStore::reserve(int64_t offset, int64_t bytes) noexcept {
  const auto holds = [&](Range range) { return offset >= range.begin && offset + bytes <= range.end; };
  if (holds(reserved_))
    return;
  struct stat about {};
  if (::fstat(descriptor_, &about) != 0)
    return;
  constexpr int64_t k_block_bytes = 512;  // unit of st_blocks on every file system
  const bool has_holes = about.st_blocks < about.st_size / k_block_bytes;
  if (offset + bytes <= about.st_size && !has_holes)
    return;
  if (holds(expected_))
    bytes = std::max(bytes, std::min(k_most_reserved_bytes, expected_.end - offset));
  int failed = 0;
  while ((failed = ::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, offset, bytes)) != 0 && errno == EINTR)
    continue;
  reserves_ = failed == 0 || errno == ENOSPC || errno == EDQUOT;
  if (failed == 0)
    reserved_ = {offset, offset + bytes};
  else
    expected_ = {};
}

void PosixStore::expect(int64_t offset, int64_t bytes) {
  expected_ = {offset, offset + bytes};
  if (reserves_ && bytes >= k_least_reserved_bytes)
    reserve(offset, std::min(bytes, k_least_reserved_bytes));
}

// `counts`: this is a request; otherwise the rest of one.
ssize_t PosixStore::call(Operation operation, std::span<iovec> batch, int64_t offset, bool counts,
                         StoreCounters& counters) {
  const Intervention instead = intervention(operation);
  if (instead.short_transfer)
    batch = first_half(batch);
  const bool writes = operation == Operation::write;
  ssize_t moved = -1;
  if (instead.error != 0)
    errno = instead.error;
  else if (writes)
    moved = ::pwritev(descriptor_, batch.data(), static_cast<int>(batch.size()), offset);
  else
    moved = ::preadv(descriptor_, batch.data(), static_cast<int>(batch.size()), offset);
  if (moved < 0 && errno == EINTR)
    return moved;  // interrupted by a signal before the storage received the call
  if (counts)
    ++(writes ? counters.write_requests : counters.read_requests);
  if (moved > 0)
    (writes ? counters.bytes_written : counters.bytes_read) += moved;
  return moved;
}

// `bytes`: see total_bytes().
Status PosixStore::check_request(Operation operation, int64_t offset, std::optional<int64_t> bytes) const noexcept {
  const char* verb = verb_of(operation);
  const bool writes = operation == Operation::write;
  Status status = usable(verb, writes);
  status.update(check_range(verb, offset, bytes, path_));
  if (status.ok() && writes && *bytes > 0 && beyond_file_size_limit(offset + *bytes))
    status = failure(verb, *bytes, offset, path_, EFBIG);
  return status;
}

template <class SliceType>
Status PosixStore::move(Operation operation, int64_t offset, std::span<const SliceType> slices,
                        StoreCounters& counters) {
  const char* verb = verb_of(operation);
  const bool writes = operation == Operation::write;
  const std::optional<int64_t> total = total_bytes(slices);
  if (Status status = check_request(operation, offset, total); !status.ok())
    return status;
  std::optional<Turn> turn;
  if (writes && takes_turns_ && *total > write_call_bytes_)
    turn.emplace(descriptor_);
  if (writes && reserves_ && *total >= k_least_reserved_bytes)
    reserve(offset, *total);
  CallSequence<SliceType> calls(slices, offset, writes ? write_call_bytes_ : k_call_bytes, !hook_);
  while (calls.done() < *total) {
    const std::span<iovec> batch = calls.next();
    const ssize_t moved = call(operation, batch, offset + calls.done(), calls.counts(), counters);
    if (moved < 0 && errno == EINTR)
      continue;
    if (moved < 0)
      return failure(verb, *total, offset, path_, errno);
    if (moved == 0 && writes)
      return failure(verb, *total, offset, path_, EIO);  // otherwise this loop would never end
    if (moved == 0)
      return ends_early(*total, offset, size().ok() ? size().value() : -1);
    calls.advance(moved);
  }
  return {};
}

Status PosixStore::write_at(int64_t offset, std::span<const std::byte> bytes) {
  const ConstSlice slice{bytes.data(), static_cast<int64_t>(bytes.size())};
  return move<ConstSlice>(Operation::write, offset, {&slice, 1}, counters_);
}

Status PosixStore::read_at(int64_t offset, std::span<std::byte> bytes) {
  const Slice slice{bytes.data(), static_cast<int64_t>(bytes.size())};
  return move<Slice>(Operation::read, offset, {&slice, 1}, counters_);
}

// Cached data is read fastest sequentially. If the storage is slow, requests run concurrently; the beginning of a long
// one shows which case it is.
Status PosixStore::read_several(std::span<const ReadRequest> requests, const IdleCallback& idle) {
  if (lanes_ && lanes_->has_begun(requests))
    return finish(requests, idle);
  for (; !requests.empty(); requests = requests.subspan(1)) {
    if (slow_ && !hook_)
      return read_in_lanes(requests, 0, idle);
    const ReadRequest& request = requests.front();
    const size_t front = hook_ || timed_ ? request.bytes.size() : std::min(piece_at(request, 0), k_front_bytes);
    const auto begin = std::chrono::steady_clock::now();
    if (Status status = read_at(request.offset, request.bytes.first(front)); !status.ok())
      return status;
    slow_ = is_slow(std::chrono::steady_clock::now() - begin, front);
    timed_ = true;
    if (front == request.bytes.size())
      continue;
    if (slow_)
      return read_in_lanes(requests, front, idle);
    StoreCounters rest;
    const Slice slice{request.bytes.data() + front, static_cast<int64_t>(request.bytes.size() - front)};
    if (Status status = move<Slice>(Operation::read, request.offset + static_cast<int64_t>(front), {&slice, 1}, rest);
        !status.ok())
      return status;
    counters_.bytes_read += rest.bytes_read;
  }
  return {};
}

void PosixStore::read_ahead(std::span<const ReadRequest> requests) {
  if (slow_ && !hook_ && !requests.empty() && !lanes().has_begun(requests))
    (void)lanes().begin(requests);
}

void PosixStore::forget_ahead() {
  if (lanes_)
    lanes_->finish_all(counters_);
}

ReadLanes& PosixStore::lanes() {
  if (!lanes_)
    lanes_ = std::make_unique<ReadLanes>([this](const ReadRequest& piece, StoreCounters& counters) {
      const Slice slice{piece.bytes.data(), static_cast<int64_t>(piece.bytes.size())};
      return move<Slice>(Operation::read, piece.offset, {&slice, 1}, counters);
    });
  return *lanes_;
}

Status PosixStore::read_in_lanes(std::span<const ReadRequest> requests, size_t taken, const IdleCallback& idle) {
  if (requests.empty())
    return {};
  if (!lanes().begin(requests, taken))
    return {Code::internal, "internal error: more concurrent reads than reserved"};
  return finish(requests, idle);
}

Status PosixStore::finish(std::span<const ReadRequest> requests, const IdleCallback& idle) {
  Status status = lanes_->finish(requests, counters_, idle);
  slow_ = lanes_->was_slow();
  return status;
}

Status PosixStore::write_slices_at(int64_t offset, std::span<const ConstSlice> slices) {
  return move<ConstSlice>(Operation::write, offset, slices, counters_);
}

Status PosixStore::read_slices_at(int64_t offset, std::span<const Slice> slices) {
  return move<Slice>(Operation::read, offset, slices, counters_);
}

Result<int64_t> PosixStore::size() {
  Status status = usable("size", false);
  if (!status.ok())
    return status;
  struct stat about {};
  if (::fstat(descriptor_, &about) != 0)
    return system_status("size of", path_, errno);
  return int64_t{about.st_size};
}

Status PosixStore::resize(int64_t size) {
  Status status = usable("resize", true);
  status.update(check_range("resize", 0, size, path_));
  if (!status.ok())
    return status;
  int error = intervention(Operation::resize).error;
  if (error == 0 && beyond_file_size_limit(size))
    error = EFBIG;
  while (error == 0 && ::ftruncate(descriptor_, size) != 0)
    if (errno != EINTR)
      error = errno;
  if (error == 0)
    return {};
  return guard([&] { return system_status(fmt::format("resize to {} of", format_bytes(size)), path_, error); });
}

Status PosixStore::sync() {
  Status status = usable("sync", false);
  if (!status.ok())
    return status;
  int error = intervention(Operation::sync).error;
  // fdatasync also stores the file size; times and mode are not needed.
  while (error == 0 && ::fdatasync(descriptor_) != 0)
    if (errno != EINTR)
      error = errno;
  return error == 0 ? Status() : system_status("sync of", path_, error);
}

Status PosixStore::close() {
  lanes_.reset();
  Status status = usable("close", false);
  if (!status.ok())
    return status;
  const int descriptor = std::exchange(descriptor_, -1);
  // On Linux the descriptor is closed even if close() returns EINTR. Network file systems report failed writes here.
  if (::close(descriptor) != 0 && errno != EINTR)
    return system_status("close of", path_, errno);
  return {};
}

Status PosixStore::set_lock(short type, const char* verb, int64_t offset, int64_t size) {
  Status status = usable(verb, true);
  status.update(check_range(verb, offset, size, path_));
  if (!status.ok() || size == 0)
    return status;  // a length of 0 would mean "to the end"
  // Open file description locks, not process locks: two handles of one process exclude each other too, and closing
  // another handle does not drop them (fcntl(2), "Open file description locks").
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = offset;
  range.l_len = size;
  // The first attempt does not wait: nobody would give back a lock that this process holds by other means.
  int command = F_OFD_SETLK;
  while (::fcntl(descriptor_, command, &range) != 0) {
    const int error = errno;
    if (error == EINTR)
      continue;
    if (command == F_OFD_SETLK && (error == EAGAIN || error == EACCES)) {
      if (is_locked_by_this_process(descriptor_, range))
        return guard([&] {
          return Status(Code::bad_state, fmt::format("{} of {} at offset {} of \"{}\": this process holds a lock of "
                                                     "them itself (fcntl F_SETLK), which must end before the call",
                                                     verb, format_bytes(size), offset, path_));
        });
      command = F_OFD_SETLKW;
      continue;
    }
    if (means_no_locks(error))
      return guard([&] {
        return Status(Code::unsupported, fmt::format("{} of \"{}\": this file system has no locks: {}", verb, path_,
                                                     text_of_errno(error)));
      });
    return failure(verb, size, offset, path_, error);
  }
  return {};
}

Status PosixStore::lock(int64_t offset, int64_t size) {
  return set_lock(F_WRLCK, "lock", offset, size);
}
Status PosixStore::lock_shared(int64_t offset, int64_t size) {
  return set_lock(F_RDLCK, "lock", offset, size);
}
Status PosixStore::unlock(int64_t offset, int64_t size) {
  return set_lock(F_UNLCK, "unlock", offset, size);
}

Status PosixStore::ends_early(int64_t bytes, int64_t offset, int64_t end) const noexcept {
  return guard([&] {
    return Status(Code::bad_file, fmt::format("read of {} at offset {} of \"{}\": the file ends at byte {}",
                                              format_bytes(bytes), offset, path_, end));
  });
}

Result<const std::byte*> PosixStore::map(int64_t offset, int64_t size) {
  Status status = usable("read", false);
  status.update(check_range("read", offset, size, path_));
  if (!status.ok())
    return status;
  if (const int error = intervention(Operation::read).error; error != 0)
    return failure("read", size, offset, path_, error);
  auto length = this->size();
  if (!length.ok())
    return length.status();
  if (length.value() < offset + size)
    return ends_early(size, offset, length.value());
  if (!mapping_.cover(descriptor_, offset, offset + size))
    return Status(Code::unsupported, "");
  bus_errors_.emplace(mapping_);
  if (!bus_errors_->holds()) {
    bus_errors_.reset();
    return Status(Code::unsupported, "");
  }
  mapped_begin_ = offset;
  mapped_end_ = offset + size;
  return mapping_.at(offset);
}

Status PosixStore::unmap() {
  const bool failed = bus_errors_->failed();
  bus_errors_.reset();
  if (!failed)
    return {};
  mapping_.drop();  // the mapping has zeros in place of unreadable pages
  const auto length = size();
  const int64_t bytes = mapped_end_ - mapped_begin_;
  if (length.ok() && length.value() < mapped_end_)
    return ends_early(bytes, mapped_begin_, length.value());
  return failure("read", bytes, mapped_begin_, path_, EIO);
}

bool PosixStore::in_memory(int64_t offset, int64_t size) {
  constexpr int64_t k_most = 16,
                    k_apart = int64_t{1} << 20;  // a small file is not worth 16 calls, for which all ranks wait
  if (descriptor_ < 0 || size <= 0)
    return false;
  struct statfs about {};
  if (::fstatfs(descriptor_, &about) == 0 && (about.f_type == TMPFS_MAGIC || about.f_type == RAMFS_MAGIC))
    return true;
  const int64_t samples = std::clamp<int64_t>(size / k_apart, 2, k_most);
  for (int64_t i = 0; i < samples; ++i) {
    std::byte byte{};
    iovec one{&byte, 1};
    if (::preadv2(descriptor_, &one, 1, offset + (size - 1) / (samples - 1) * i, RWF_NOWAIT) < 0)
      return false;
  }
  return true;
}

namespace {

// Does not block on a pipe without another end, but waits for a file that another machine has leased. Afterwards
// O_NONBLOCK is cleared: with it, some file systems fail when storage is slow.
int open_at_once(const char* path, int flags) noexcept {
  int descriptor = -1;
  do
    descriptor = ::open(path, flags, 0666);
  while (descriptor < 0 &&
         (errno == EINTR || (errno == EWOULDBLOCK && (flags & O_NONBLOCK) != 0 && (flags &= ~O_NONBLOCK, true))));
  if (descriptor >= 0 && (flags & O_NONBLOCK) != 0)
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
  return descriptor;
}

}  // namespace

Result<std::unique_ptr<Store>> open_hooked_posix_store(const std::string& path, StoreMode mode, Hook hook) {
  int flags = O_CLOEXEC | (mode == StoreMode::read ? O_RDONLY : O_RDWR);
  if (mode == StoreMode::create)
    flags |= O_CREAT;
  const char* what = mode == StoreMode::create ? "create" : "open of";
  if (const int error = hook ? hook(Operation::open).error : 0; error != 0)
    return system_status(what, path, error);
  const int descriptor = open_at_once(path.c_str(), flags | O_NONBLOCK);
  if (descriptor < 0)
    return system_status(what, path, errno);
  std::unique_ptr<Store> store = std::make_unique<PosixStore>(path, descriptor, mode, std::move(hook));
  struct stat about {};
  const bool known = ::fstat(descriptor, &about) == 0;
  if (known && S_ISDIR(about.st_mode))  // read mode opens directories without an error
    return system_status(what, path, EISDIR);
  if (known && S_ISFIFO(about.st_mode))
    return Status(Code::bad_file, fmt::format("{} \"{}\": it is a pipe, not a file", what, path));
  // Not O_TRUNC: even on an empty file it makes ext4 write everything back at close ("auto_da_alloc", Linux,
  // Documentation/admin-guide/ext4.rst), for which a checkpoint would wait.
  if (mode == StoreMode::create && about.st_size > 0 && ::ftruncate(descriptor, 0) != 0)
    return system_status(what, path, errno);
  return store;
}

Result<std::unique_ptr<Store>> open_posix_store(const std::string& path, StoreMode mode, const StoreOptions&) {
  return open_hooked_posix_store(path, mode, nullptr);
}

}  // namespace windrow
