// SPDX-License-Identifier: BSD-3-Clause
// A file of the operating system, by pread, pwrite and their vectored forms. Any number of ranks may have it open.
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

// What happens to one system call in place of what it asks for. Lets the faulty store fail below the loops, the error
// codes and the counters of this one, where a real disk fails.
struct Intervention {
  int error = 0;                // errno; 0: the call goes through
  bool short_transfer = false;  // only the first half of the bytes is moved
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
  Status read_several(std::span<const ReadRequest> requests, const Meanwhile& meanwhile = {}) override;
  void read_ahead(std::span<const ReadRequest> requests) override;
  void forget_ahead() override;
  // By threads of their own, what is long in pieces; for a store without a hook. `taken`: bytes of the first request
  // that are there already.
  Status read_in_lanes(std::span<const ReadRequest> requests, size_t taken = 0, const Meanwhile& meanwhile = {});
  Result<int64_t> size() override;
  void expect(int64_t offset, int64_t bytes) override;
  Status resize(int64_t size) override;
  Status sync() override;
  Status close() override;
  Status lock(int64_t offset, int64_t size) override;
  Status unlock(int64_t offset, int64_t size) override;
  Result<const std::byte*> map(int64_t offset, int64_t size) override;
  Status unmap() override;
  bool in_memory(int64_t offset, int64_t size) override;
  int descriptor() const noexcept override { return descriptor_; }

 private:
  ReadLanes& lanes();
  Status finish(std::span<const ReadRequest> requests, const Meanwhile& meanwhile);
  template <class SliceType>
  Status move(Operation operation, int64_t offset, std::span<const SliceType> slices, StoreCounters& counters);
  struct Range {
    int64_t begin = 0, end = 0;
  };
  void reserve(int64_t offset, int64_t bytes) noexcept;
  ssize_t call(Operation operation, std::span<iovec> batch, int64_t offset, bool counts, StoreCounters& counters);
  Status set_lock(short type, const char* verb, int64_t offset, int64_t size);
  Status ends_early(int64_t bytes, int64_t offset, int64_t end) const noexcept;  // of a read
  Status usable(const char* verb, bool writes) const noexcept;
  Intervention intervention(Operation operation) { return hook_ ? hook_(operation) : Intervention{}; }

  std::string path_;
  int descriptor_;
  StoreMode mode_;
  Hook hook_;
  int64_t write_call_bytes_;
  bool takes_turns_ = false;
  bool reserves_ = false;      // room in the file before long writes
  Range expected_, reserved_;  // all of it is to be written; there is room for it
  bool slow_ = false;          // the last request of read_several() took its time
  bool timed_ = false;         // slow_ says something
  std::unique_ptr<ReadLanes> lanes_;
  Mapping mapping_;  // kept: the next reading of the same bytes finds its pages
  std::optional<BusErrorGuard> bus_errors_;
  int64_t mapped_begin_ = 0, mapped_end_ = 0;  // between map() and unmap()
};

Result<std::unique_ptr<Store>> open_posix_store(const std::string& path, StoreMode mode, const StoreOptions& options);
Result<std::unique_ptr<Store>> open_hooked_posix_store(const std::string& path, StoreMode mode, Hook hook);

}  // namespace windrow
