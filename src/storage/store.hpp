// SPDX-License-Identifier: BSD-3-Clause
// Store: bytes by offset. One of the three extension points (store, format, codec): a new kind of storage is a new
// folder here and one line in the table of store.cpp. Independent of MPI, exchange and formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace windrow {

enum class StoreMode {
  read,
  update,
  create
};  // create: creates or truncates; read and write access

// A piece of memory to be written to, or filled from, consecutive bytes of the store.
struct ConstSlice {
  const std::byte* data = nullptr;
  int64_t size = 0;
};
struct Slice {
  std::byte* data = nullptr;
  int64_t size = 0;
};

// Called before a store sleeps in a wait; true: it is to be called again soon.
using IdleCallback = std::function<bool()>;

struct ReadRequest {
  int64_t offset = 0;
  std::span<std::byte> bytes;
};

// Exact numbers of requests: one for each call that the storage sees. A continued short write counts twice; a long read
// that read_several() divides counts once.
struct StoreCounters {
  int64_t write_requests = 0;
  int64_t read_requests = 0;
  int64_t bytes_written = 0;
  int64_t bytes_read = 0;

  StoreCounters& operator+=(const StoreCounters& other) noexcept {
    write_requests += other.write_requests;
    read_requests += other.read_requests;
    bytes_written += other.bytes_written;
    bytes_read += other.bytes_read;
    return *this;
  }
};

// Messages name the operation, the bytes, the offset and the file: `write of 4.2 MB at offset 0 of "a.h5": no space
// left on device`.
class Store {
 public:
  virtual ~Store() = default;
  virtual Status write_at(int64_t offset, std::span<const std::byte> bytes) = 0;
  virtual Status read_at(int64_t offset, std::span<std::byte> bytes) = 0;  // beyond the end: Code::bad_file
  virtual Status write_slices_at(int64_t offset,
                                 std::span<const ConstSlice> slices) = 0;  // in as few requests as the store allows
  virtual Status read_slices_at(int64_t offset, std::span<const Slice> slices) = 0;
  // read_at() for each request, some concurrently if the store supports it and that is faster. Returns the first
  // failure; later requests may or may not be read.
  virtual Status read_several(std::span<const ReadRequest> requests, const IdleCallback& idle = {}) {
    (void)idle;
    for (const ReadRequest& request : requests)
      if (Status status = read_at(request.offset, request.bytes); !status.ok())
        return status;
    return {};
  }
  // Starts requests that a later read_several() with the same requests will finish. They and their memory must stay
  // valid until then, or until forget_ahead() or close().
  virtual void read_ahead(std::span<const ReadRequest>) {}
  virtual void forget_ahead() {}  // waits and ignores errors
  // A hint that all of these bytes will be written by later calls, so that a store can allocate their blocks at once.
  // It cannot fail. No bytes: ends the hint.
  virtual void expect(int64_t, int64_t) {}
  virtual Result<int64_t> size() = 0;
  virtual Status resize(int64_t size) = 0;
  virtual Status sync() = 0;   // on stable storage when it returns
  virtual Status close() = 0;  // called once, as the last call
  // An exclusive advisory lock on bytes, against other ranks and programs; unlock with the same range. Data sieving
  // without sole ownership needs it. unsupported: the file system has no locks. bad_state: this process has locked the
  // bytes by other means, so waiting would never end.
  virtual Status lock(int64_t offset, int64_t size) = 0;
  // The same for those who write without reading: many may hold such a lock, but nobody else an exclusive one.
  virtual Status lock_shared(int64_t offset, int64_t size) = 0;
  virtual Status unlock(int64_t offset, int64_t size) = 0;
  // Bytes [offset, offset + size) in the page cache, readable until unmap(), without copies and requests. unsupported:
  // not possible on this store or system.
  virtual Result<const std::byte*> map(int64_t, int64_t) { return Status(Code::unsupported, ""); }
  // After each successful map(). The status reports bytes that could not be read and were zeros.
  virtual Status unmap() { return {}; }
  // Whether the range is in the page cache of this host; determined from samples.
  virtual bool in_memory(int64_t, int64_t) { return false; }
  // The file descriptor, for locks of the whole file; -1: none. Owned by the store.
  virtual int descriptor() const noexcept { return -1; }
  const StoreCounters& counters() const noexcept { return counters_; }

 protected:
  StoreCounters counters_;
};

// `kind`: "posix", "memory" (this process only, for its lifetime), or "faulty" (posix that fails on command). `fault`:
// the plan of a faulty store, otherwise ""; e.g. "rank=1,operation=write,after=3,error=no_space". `rank`: of the
// caller.
struct StoreOptions {
  std::string kind = "posix";
  std::string fault;
  int rank = 0;
};
// Validates options before open_store(). bad_argument: a fault that no store would inject, or a malformed one;
// unsupported: unknown kind.
Status check_store_options(const StoreOptions& options);

Result<std::unique_ptr<Store>> open_store(const std::string& path, StoreMode mode, const StoreOptions& options);

// Number of stores that this thread has opened so far, for differences.
int64_t stores_opened() noexcept;

// Number of files that one kind of work may keep open: at most `most`, and at most a quarter of the descriptors that
// the process has left.
size_t files_kept_open(size_t most) noexcept;

// The names of the table, for windrow_has().
std::span<const std::string_view> store_kinds() noexcept;

}  // namespace windrow
