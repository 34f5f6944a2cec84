// SPDX-License-Identifier: BSD-3-Clause
// A file of the operating system, accessed by pread, pwrite and their vectored forms. Any number of ranks may open it.
#pragma once

#include <sys/uio.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "storage/posix/mapping.hpp"
#include "storage/posix/read_lanes.hpp"
#include "storage/store.hpp"

namespace windrow {

enum class Operation {
  open,
  write,
  read,
  resize,
  sync,
  publish
};  // publish: a rename (storage/publish.hpp)

// Replaces the effect of one system call. The faulty store fails with it below the loops, error codes and counters of
// this store, where a real disk fails.
struct Intervention {
  int error = 0;                // errno; 0: no failure
  bool short_transfer = false;  // only half of the bytes are moved
};
using Hook = std::function<Intervention(Operation)>;

class PosixStore final : public Store {
 public:
  PosixStore(std::string path, int descriptor, StoreMode mode, Hook hook) noexcept;
  ~PosixStore() override;
  PosixStore(const PosixStore&) = delete;
  PosixStore& operator=(const PosixStore&) = delete;

  Status write_at(int64_t offset, std::span<const std::byte> bytes) override;
  Status read_at(int64_t offset, std::span<std::byte> bytes) override;
  Status write_slices_at(int64_t offset, std::span<const ConstSlice> slices) override;
  Status read_slices_at(int64_t offset, std::span<const Slice> slices) override;
  Status read_several(std::span<const ReadRequest> requests, const IdleCallback& idle = {}) override;
  void read_ahead(std::span<const ReadRequest> requests) override;
  void forget_ahead() override;
  // Reads with threads, long requests in pieces; for a store without interventions. `taken`: bytes of the first request
  // that were read already.
  Status read_in_lanes(std::span<const ReadRequest> requests, size_t taken = 0, const IdleCallback& idle = {});
  Result<int64_t> size() override;
  void expect(int64_t offset, int64_t bytes) override;
  Status resize(int64_t size) override;
  Status sync() override;
  Status close() override;
  Status lock(int64_t offset, int64_t size) override;
  Status lock_shared(int64_t offset, int64_t size) override;
  Status unlock(int64_t offset, int64_t size) override;
  Result<const std::byte*> map(int64_t offset, int64_t size) override;
  Status unmap() override;
  bool in_memory(int64_t offset, int64_t size) override;
  int descriptor() const noexcept override { return descriptor_; }

 private:
  ReadLanes& lanes();
  Status finish(std::span<const ReadRequest> requests, const IdleCallback& idle);
  template <class SliceType>
  Status move(Operation operation, int64_t offset, std::span<const SliceType> slices, StoreCounters& counters);
  struct Range {
    int64_t begin = 0, end = 0;
  };
  void reserve(int64_t offset, int64_t bytes) noexcept;
  ssize_t call(Operation operation, std::span<iovec> batch, int64_t offset, bool counts, StoreCounters& counters);
  Status set_lock(short type, const char* verb, int64_t offset, int64_t size);
  Status ends_early(int64_t bytes, int64_t offset, int64_t end) const noexcept;  // the error of a read
  Status usable(const char* verb, bool writes) const noexcept;
  Status check_request(Operation operation, int64_t offset, std::optional<int64_t> bytes) const noexcept;
  Intervention intervention(Operation operation) { return hook_ ? hook_(operation) : Intervention{}; }

  std::string path_;
  int descriptor_;
  StoreMode mode_;
  Hook hook_;
  int64_t write_call_bytes_;
  bool takes_turns_ = false;
  bool reserves_ = false;      // allocate blocks before long writes
  Range expected_, reserved_;  // bytes that will all be written; bytes with allocated blocks
  bool slow_ = false;          // the last request of read_several() was slow
  bool timed_ = false;         // slow_ is valid
  std::unique_ptr<ReadLanes> lanes_;
  Mapping mapping_;  // kept, so that reading the same bytes again reuses its pages
  std::optional<BusErrorGuard> bus_errors_;
  int64_t mapped_begin_ = 0, mapped_end_ = 0;  // between map() and unmap()
};

Result<std::unique_ptr<Store>> open_posix_store(const std::string& path, StoreMode mode, const StoreOptions& options);
Result<std::unique_ptr<Store>> open_hooked_posix_store(const std::string& path, StoreMode mode, Hook hook);

}  // namespace windrow
