// SPDX-License-Identifier: BSD-3-Clause
// Store: bytes by offset. One of the three seams (store, format, codec): a new kind of storage is a new folder here and
// one line in the table of store.cpp. Knows nothing of MPI, exchange or formats.
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
};  // create: make it, or empty what is there; read and write

// A piece of memory, to be written to or filled from consecutive bytes of the store.
struct ConstSlice {
  const std::byte* data = nullptr;
  int64_t size = 0;
};
struct Slice {
  std::byte* data = nullptr;
  int64_t size = 0;
};

// What is done while nothing is left but to wait; true: it is to be asked again, in a moment.
using Meanwhile = std::function<bool()>;

struct ReadRequest {
  int64_t offset = 0;
  std::span<std::byte> bytes;
};

// Requests are exact: one counter step for each call the storage sees (a short write that is continued counts twice; a
// long reading that read_several() has cut counts once).
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
  virtual Status read_at(int64_t offset, std::span<std::byte> bytes) = 0;  // past the end: Code::bad_file
  virtual Status write_slices_at(int64_t offset,
                                 std::span<const ConstSlice> slices) = 0;  // as few requests as the store allows
  virtual Status read_slices_at(int64_t offset, std::span<const Slice> slices) = 0;
  // As read_at() for each, some of them at the same time where that is quicker and the store can. The first failure is
  // told; what follows it may be read or not.
  virtual Status read_several(std::span<const ReadRequest> requests, const Meanwhile& meanwhile = {}) {
    (void)meanwhile;
    for (const ReadRequest& request : requests)
      if (Status status = read_at(request.offset, request.bytes); !status.ok())
        return status;
    return {};
  }
  // Begins what a later read_several(), of these very requests, is to finish; the requests and their memory have to
  // live until then, or until forget_ahead() or close().
  virtual void read_ahead(std::span<const ReadRequest>) {}
  virtual void forget_ahead() {}  // waits, and tells nothing
  // All of these bytes are about to be written, with other calls: a store that finds room for them at once may. Nothing
  // is promised, and nothing fails. No bytes: none are.
  virtual void expect(int64_t, int64_t) {}
  virtual Result<int64_t> size() = 0;
  virtual Status resize(int64_t size) = 0;
  virtual Status sync() = 0;   // on stable storage when it returns
  virtual Status close() = 0;  // once; nothing else may follow
  // Exclusive advisory lock on bytes, against other ranks and programs; unlock with the same range. Needed by data
  // sieving without sole ownership.
  virtual Status lock(int64_t offset, int64_t size) = 0;
  virtual Status unlock(int64_t offset, int64_t size) = 0;
  // Bytes [offset, offset + size) where the system keeps them, to be read until unmap(): no copy, no request.
  // unsupported: this store, or this system, cannot.
  virtual Result<const std::byte*> map(int64_t, int64_t) { return Status(Code::unsupported, ""); }
  // Once after each map() that went well. What could not be read was zeros, and the status says so.
  virtual Status unmap() { return {}; }
  // Whether the range is in this host's memory, so that reading it needs no disk; sampled here and there.
  virtual bool in_memory(int64_t, int64_t) { return false; }
  // The operating system's number of the file, for locks of all of it; -1: there is none. The store's own.
  virtual int descriptor() const noexcept { return -1; }
  const StoreCounters& counters() const noexcept { return counters_; }

 protected:
  StoreCounters counters_;
};

// `kind`: "posix", "memory" (this process only; lives as long as the process), or "faulty" (posix that fails on
// command). `fault`: the plan of a faulty store, "" otherwise; e.g. "rank=1,operation=write,after=3,error=no_space".
// `rank`: of the caller.
struct StoreOptions {
  std::string kind = "posix";
  std::string fault;
  int rank = 0;
};
// bad_argument: a fault that no store would inject, or that cannot be read; unsupported: no store of that kind. Tells
// before anything is opened what open_store() would say.
Status check_store_options(const StoreOptions& options);

Result<std::unique_ptr<Store>> open_store(const std::string& path, StoreMode mode, const StoreOptions& options);

// How many stores this thread has opened so far: what a piece of work has opened is the difference.
int64_t stores_opened() noexcept;

// How many files of many one kind of work may keep open at a time: `most`, or a quarter of what the process may open
// beside those that the program and MPI have, where that is less.
size_t files_kept_open(size_t most) noexcept;

// The names of the table, for windrow_has().
std::span<const std::string_view> store_kinds() noexcept;

}  // namespace windrow
