// SPDX-License-Identifier: BSD-3-Clause
#include "session/data_file.hpp"

#include <cstring>
#include <new>

namespace windrow {

Status DataFile::open() {
  if (store_) return {};
  auto opened = open_store(path_, writable_ ? StoreMode::update : StoreMode::read, options_);
  if (!opened.ok()) return opened.status();
  ++opens_;
  store_ = std::move(opened).value();
  before_ = {};
  return {};
}

template <class Work>
void DataFile::attempt(Work&& work) {
  used_ = true;
  if (!status_.ok()) return;
  status_ = guard([&] {
    if (Status status = open(); !status.ok()) return status;
    return work(*store_);
  });
  if (!store_) return;
  const StoreCounters& now = store_->counters();
  work_.write_requests += now.write_requests - before_.write_requests;
  work_.read_requests += now.read_requests - before_.read_requests;
  work_.bytes_written += now.bytes_written - before_.bytes_written;
  work_.bytes_read += now.bytes_read - before_.bytes_read;
  before_ = now;
}

void DataFile::write(int64_t offset, std::span<const std::byte> bytes) {
  attempt([&](Store& store) { return store.write_at(offset, bytes); });
}

void DataFile::write_locked(int64_t offset, std::span<const std::byte> bytes) {
  attempt([&](Store& store) -> Status {
    const auto size = static_cast<int64_t>(bytes.size());
    if (Status status = store.lock(offset, size); !status.ok()) return status;
    Status status = store.write_at(offset, bytes);
    status.update(store.unlock(offset, size));
    return status;
  });
}

void DataFile::write(int64_t offset, std::span<const ConstSlice> slices) {
  attempt([&](Store& store) { return store.write_slices_at(offset, slices); });
}

void DataFile::read(int64_t offset, std::span<std::byte> bytes) {
  attempt([&](Store& store) { return store.read_at(offset, bytes); });
}

void DataFile::read(int64_t offset, std::span<const Slice> slices) {
  attempt([&](Store& store) { return store.read_slices_at(offset, slices); });
}

const std::byte* DataFile::map(Extent range) {
  const std::byte* bytes = nullptr;
  attempt([&](Store& store) {
    auto mapped = store.map(range.begin, range.size());
    if (mapped.ok()) bytes = mapped.value();
    // A file that ends early is an error of the piece that it ends in, which a reading of the pieces will name.
    const Code code = mapped.status().code();
    return code == Code::unsupported || code == Code::bad_file ? Status{} : mapped.status();
  });
  return bytes;
}

void DataFile::unmap() {
  attempt([&](Store& store) { return store.unmap(); });
}

bool DataFile::in_memory(Extent range) {
  return guard([&] { return open(); }).ok() && store_->in_memory(range.begin, range.size());
}

Status DataFile::reserve(int64_t bytes) {
  if (bytes <= scratch_bytes_) return {};
  return guard([&] {
    scratch_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(bytes));
    scratch_bytes_ = bytes;
    return Status{};
  });
}

void DataFile::write_over_holes(Extent hull, const std::byte* bytes, PieceView covered, bool locked) {
  attempt([&](Store& store) -> Status {
    if (locked)
      if (Status status = store.lock(hull.begin, hull.size()); !status.ok()) return status;
    const auto merge = [&]() -> Status {
      if (Status status = store.read_at(hull.begin, {scratch_.get(), static_cast<size_t>(hull.size())}); !status.ok()) return status;
      for_each_covered(covered, hull, [&](Extent extent) {
        std::memcpy(scratch_.get() + (extent.begin - hull.begin), bytes + (extent.begin - hull.begin), static_cast<size_t>(extent.size()));
        work_.bytes_copied += extent.size();
      });
      return store.write_at(hull.begin, {scratch_.get(), static_cast<size_t>(hull.size())});
    };
    Status status = merge();
    if (locked) status.update(store.unlock(hull.begin, hull.size()));
    return status;
  });
}

Status DataFile::extend(int64_t size) {
  return guard([&]() -> Status {
    if (Status status = open(); !status.ok()) return status;
    auto now = store_->size();
    if (!now.ok()) return now.status();
    return now.value() < size ? store_->resize(size) : Status{};
  });
}

Status DataFile::sync() { return store_ ? store_->sync() : Status{}; }

Status DataFile::close() {
  if (!store_) return {};
  Status status = store_->close();
  store_.reset();
  return status;
}

void DataFile::settle(Trace& trace) {
  for (size_t stage = 0; stage < trace.seconds.size(); ++stage) trace.seconds[stage] += work_.seconds[stage];
  trace.bytes_written += work_.bytes_written;
  trace.bytes_read += work_.bytes_read;
  trace.write_requests += work_.write_requests;
  trace.read_requests += work_.read_requests;
  trace.bytes_copied += work_.bytes_copied;
  trace.direct_bytes += work_.direct_bytes;
  work_ = Trace{};
}

Status DataFile::take_status() {
  Status status = std::move(status_);
  status_ = Status{};
  return status;
}

}  // namespace windrow
