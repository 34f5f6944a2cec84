// SPDX-License-Identifier: BSD-3-Clause
#include "storage/memory/memory_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "storage/slices.hpp"

namespace windrow {
namespace {

// Unwritten pages are not allocated and read as zeros, like holes of a sparse file.
constexpr int64_t k_page_bytes = 65536;
using Page = std::unique_ptr<std::byte[]>;

struct Held {
  int64_t begin = 0;
  int64_t end = 0;
  const void* owner = nullptr;
  bool shared = false;
};

struct MemoryFile {
  std::mutex mutex;  // guards all members below
  std::condition_variable released;
  std::map<int64_t, Page> pages;  // by page number
  int64_t size = 0;
  std::vector<Held> locks;
};

struct Directory {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<MemoryFile>> files;
};

// Never destroyed: a handle may outlive the static objects of the program.
Directory& directory() {
  static Directory* const the_only_one = new Directory;
  return *the_only_one;
}

class MemoryStore final : public Store {
 public:
  MemoryStore(std::string path, std::shared_ptr<MemoryFile> file, StoreMode mode) noexcept
      : path_(std::move(path)), file_(std::move(file)), mode_(mode) {}
  ~MemoryStore() override { release_locks(0, INT64_MAX); }
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  Status write_at(int64_t offset, std::span<const std::byte> bytes) override {
    const ConstSlice slice{bytes.data(), static_cast<int64_t>(bytes.size())};
    return write_slices_at(offset, {&slice, 1});
  }
  Status read_at(int64_t offset, std::span<std::byte> bytes) override {
    const Slice slice{bytes.data(), static_cast<int64_t>(bytes.size())};
    return read_slices_at(offset, {&slice, 1});
  }
  Status write_slices_at(int64_t offset, std::span<const ConstSlice> slices) override;
  Status read_slices_at(int64_t offset, std::span<const Slice> slices) override;
  Result<int64_t> size() override;
  Status resize(int64_t size) override;
  Status sync() override { return usable("sync", false, 0, 0); }
  Status close() override;
  Status lock(int64_t offset, int64_t size) override { return take_lock(offset, size, false); }
  Status lock_shared(int64_t offset, int64_t size) override { return take_lock(offset, size, true); }
  Status unlock(int64_t offset, int64_t size) override;

 private:
  Status usable(const char* verb, bool writes, int64_t offset, std::optional<int64_t> bytes) const noexcept;
  Status take_lock(int64_t offset, int64_t size, bool shared);
  void release_locks(int64_t begin, int64_t end) noexcept;
  void write_slice(int64_t offset, ConstSlice slice);
  void read_slice(int64_t offset, Slice slice) const;

  std::string path_;
  std::shared_ptr<MemoryFile> file_;  // nullptr when closed
  StoreMode mode_;
};

Status MemoryStore::usable(const char* verb, bool writes, int64_t offset, std::optional<int64_t> bytes) const noexcept {
  return guard([&] {
    if (!file_)
      return Status(Code::bad_state, fmt::format("{} of \"{}\": the file is closed", verb, path_));
    if (writes && mode_ == StoreMode::read)
      return Status(Code::bad_state, fmt::format("{} of \"{}\": the file is open for reading only", verb, path_));
    if (bytes && *bytes >= 0 && offset >= 0 && checked_add(offset, *bytes))
      return Status();
    return Status(Code::bad_argument,
                  fmt::format("{} at offset {} of \"{}\": not a range of a file", verb, offset, path_));
  });
}

void MemoryStore::write_slice(int64_t offset, ConstSlice slice) {
  for (int64_t done = 0; done < slice.size;) {
    const int64_t at = offset + done;
    const int64_t take = std::min(slice.size - done, k_page_bytes - at % k_page_bytes);
    Page& page = file_->pages[at / k_page_bytes];
    if (!page)
      page = std::make_unique<std::byte[]>(k_page_bytes);
    std::memcpy(page.get() + at % k_page_bytes, slice.data + done, static_cast<size_t>(take));
    done += take;
  }
}

void MemoryStore::read_slice(int64_t offset, Slice slice) const {
  for (int64_t done = 0; done < slice.size;) {
    const int64_t at = offset + done;
    const int64_t take = std::min(slice.size - done, k_page_bytes - at % k_page_bytes);
    const auto page = file_->pages.find(at / k_page_bytes);
    if (page == file_->pages.end() || !page->second)
      std::memset(slice.data + done, 0, static_cast<size_t>(take));
    else
      std::memcpy(slice.data + done, page->second.get() + at % k_page_bytes, static_cast<size_t>(take));
    done += take;
  }
}

Status MemoryStore::write_slices_at(int64_t offset, std::span<const ConstSlice> slices) {
  const std::optional<int64_t> total = total_bytes(slices);
  Status status = usable("write", true, offset, total);
  if (!status.ok() || *total == 0)
    return status;
  return guard([&] {
    const std::lock_guard hold(file_->mutex);
    ++counters_.write_requests;
    int64_t at = offset;
    for (const ConstSlice& slice : slices) {
      write_slice(at, slice);
      at += slice.size;
    }
    counters_.bytes_written += *total;
    file_->size = std::max(file_->size, at);
    return Status();
  });
}

Status MemoryStore::read_slices_at(int64_t offset, std::span<const Slice> slices) {
  const std::optional<int64_t> total = total_bytes(slices);
  Status status = usable("read", false, offset, total);
  if (!status.ok() || *total == 0)
    return status;
  return guard([&] {
    const std::lock_guard hold(file_->mutex);
    ++counters_.read_requests;
    if (offset + *total > file_->size)
      return Status(Code::bad_file, fmt::format("read of {} at offset {} of \"{}\": the file ends at byte {}",
                                                format_bytes(*total), offset, path_, file_->size));
    int64_t at = offset;
    for (const Slice& slice : slices) {
      read_slice(at, slice);
      at += slice.size;
    }
    counters_.bytes_read += *total;
    return Status();
  });
}

Result<int64_t> MemoryStore::size() {
  Status status = usable("size", false, 0, 0);
  if (!status.ok())
    return status;
  const std::lock_guard hold(file_->mutex);
  return int64_t{file_->size};
}

Status MemoryStore::resize(int64_t size) {
  Status status = usable("resize", true, 0, size);
  if (!status.ok())
    return status;
  const std::lock_guard hold(file_->mutex);
  file_->pages.erase(file_->pages.lower_bound(ceil_divide(size, k_page_bytes)), file_->pages.end());
  // Bytes after the end must read as zeros when the file grows again.
  if (const auto last = file_->pages.find(size / k_page_bytes); last != file_->pages.end() && last->second)
    std::memset(last->second.get() + size % k_page_bytes, 0, static_cast<size_t>(k_page_bytes - size % k_page_bytes));
  file_->size = size;
  return {};
}

Status MemoryStore::close() {
  Status status = usable("close", false, 0, 0);
  release_locks(0, INT64_MAX);
  file_.reset();
  return status;
}

Status MemoryStore::take_lock(int64_t offset, int64_t size, bool shared) {
  Status status = usable("lock", true, offset, size);
  if (!status.ok() || size == 0)
    return status;
  return guard([&] {
    std::unique_lock hold(file_->mutex);
    const Held wanted{offset, offset + size, this, shared};
    const auto blocks = [&](const Held& held) {
      return held.owner != this && !(held.shared && shared) && held.begin < wanted.end && wanted.begin < held.end;
    };
    file_->released.wait(hold, [&] { return std::none_of(file_->locks.begin(), file_->locks.end(), blocks); });
    file_->locks.push_back(wanted);
    return Status();
  });
}

Status MemoryStore::unlock(int64_t offset, int64_t size) {
  Status status = usable("unlock", true, offset, size);
  if (status.ok())
    release_locks(offset, offset + size);
  return status;
}

void MemoryStore::release_locks(int64_t begin, int64_t end) noexcept {
  if (!file_)
    return;
  {
    const std::lock_guard hold(file_->mutex);
    std::erase_if(file_->locks,
                  [&](const Held& held) { return held.owner == this && begin <= held.begin && held.end <= end; });
  }
  file_->released.notify_all();
}

}  // namespace

Result<std::unique_ptr<Store>> open_memory_store(const std::string& path, StoreMode mode, const StoreOptions&) {
  Directory& all = directory();
  const std::lock_guard hold(all.mutex);
  auto found = all.files.find(path);
  if (found == all.files.end()) {
    if (mode != StoreMode::create)
      return Status(Code::not_found, fmt::format("open of \"{}\": no such file in memory", path));
    found = all.files.emplace(path, std::make_shared<MemoryFile>()).first;
  }
  std::unique_ptr<Store> store = std::make_unique<MemoryStore>(path, found->second, mode);
  if (mode == StoreMode::create) {
    Status emptied = store->resize(0);
    if (!emptied.ok())
      return emptied;
  }
  return store;
}

}  // namespace windrow
