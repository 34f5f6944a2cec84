// SPDX-License-Identifier: BSD-3-Clause
#include "dataio/data_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "storage/file_system.hpp"
#include "storage/publish.hpp"

namespace windrow {

namespace {

constexpr size_t k_most_open = 64;  // most systems allow a process 1024 open files

template <class AnySlice>
int64_t bytes_of(std::span<const AnySlice> slices) noexcept {
  int64_t bytes = 0;
  for (const AnySlice& slice : slices)
    bytes += slice.size;
  return bytes;
}

}  // namespace

Status DataFile::close_idle() {
  if (stores_.size() < files_kept_open(k_most_open))
    return {};
  const auto idle = std::min_element(stores_.begin(), stores_.end(), [](const auto& a, const auto& b) {
    return a.second.last_used < b.second.last_used;
  });
  Status status = syncs_ && writable_ ? idle->second.store->sync() : Status{};
  status.update(idle->second.store->close());
  stores_.erase(idle);
  return status;
}

Result<std::unique_ptr<Store>> DataFile::open_numbered(int64_t file, const std::string& path) {
  auto opened = open_store(path, writable_ ? StoreMode::update : StoreMode::read, options_);
  const auto number = numbers_.find(file);
  if (!opened.ok() || number == numbers_.end() || number->second == 0)
    return opened;
  if (opened.value()->descriptor() < 0)
    return opened;
  const uint64_t now = file_number(opened.value()->descriptor());
  if (now == number->second || now == 0)  // 0: unknown
    return opened;
  (void)opened.value()->close();
  return replaced_by_others(path);
}

Result<DataFile::Opened*> DataFile::open(int64_t file) {
  const auto found = stores_.find(file);
  if (found != stores_.end()) {
    found->second.last_used = ++uses_;
    return &found->second;
  }
  if (Status status = close_idle(); !status.ok())
    return status;
  auto opened = open_numbered(file, file == 0 ? path_ : names_.path(file - 1));
  // Only rank 0's host may use the other path: elsewhere it may be a different file.
  const bool is_lost = !opened.ok() && file == 0 && !writable_ && !elsewhere_.empty();
  if (is_lost && file_number(elsewhere_) == numbers_[file])
    if (auto other = open_numbered(file, elsewhere_); other.ok())
      opened = std::move(other);
  if (!opened.ok())
    return opened.status();
  ++opens_;
  return &stores_.emplace(file, Opened{std::move(opened).value(), {}, ++uses_}).first->second;
}

void DataFile::count(Opened& opened, int64_t place) {
  const StoreCounters& now = opened.store->counters();
  if (recording_ != nullptr)
    note(place, now, opened.before);
  work_.write_requests += now.write_requests - opened.before.write_requests;
  work_.read_requests += now.read_requests - opened.before.read_requests;
  work_.bytes_written += now.bytes_written - opened.before.bytes_written;
  work_.bytes_read += now.bytes_read - opened.before.bytes_read;
  opened.before = now;
}

std::string DataFile::where(int64_t place) const {
  const int64_t file = line_.file_of(place);
  return fmt::format("offset {} of \"{}\"", line_.offset_of(place), file == 0 ? path_ : names_.path(file - 1));
}

// A piece of work is contiguous from its place on, also if it is read, changed and written back.
void DataFile::note(int64_t place, const StoreCounters& now, const StoreCounters& before) noexcept {
  const int64_t written = now.bytes_written - before.bytes_written, read = now.bytes_read - before.bytes_read;
  recording_->writes.add(now.write_requests - before.write_requests, written);
  recording_->reads.add(now.read_requests - before.read_requests, read);
  const int64_t file = line_.file_of(place);
  if (file != 0 || layout_ == nullptr)
    return recording_->targets.add(file, written + read);
  for (const int64_t bytes : {written, read})
    for (int64_t at = place; at < place + bytes;) {
      const Stripe stripe = stripe_at(*layout_, at);
      const int64_t end = std::min(place + bytes, std::max(at + 1, stripe.bytes.end));
      static_assert(k_no_target == TargetBytes::k_others);
      recording_->targets.add(named_ ? stripe.target : stripe.column, end - at);
      at = end;
    }
}

// `work` gets the store that contains the place, and the offset in it. No request spans two files, since no rank's
// bytes do.
template <class Work>
void DataFile::attempt(int64_t place, Work&& work) {
  used_ = true;
  if (!status_.ok())
    return;
  Opened* opened = nullptr;
  status_ = guard([&] {
    auto found = open(line_.file_of(place));
    if (!found.ok())
      return found.status();
    opened = found.value();
    return work(*opened->store, line_.offset_of(place));
  });
  if (opened != nullptr)
    count(*opened, place);
}

// For the report. If memory is exhausted its numbers are incomplete, which is not an error.
void DataFile::tally(int64_t offset, int64_t bytes) {
  const StorageLayout* stripes = offset < FileLine::k_begin ? stripes_.get() : stripes_of_line_.get();
  if (stripes == nullptr || !status_.ok())
    return;
  (void)guard([&] {
    touched_.add(*stripes, {offset, offset + bytes});
    return Status{};
  });
}

void DataFile::write(int64_t offset, std::span<const std::byte> bytes) {
  attempt(offset, [&](Store& store, int64_t at) { return store.write_at(at, bytes); });
  tally(offset, static_cast<int64_t>(bytes.size()));
}

void DataFile::write_locked(int64_t offset, std::span<const std::byte> bytes) {
  attempt(offset, [&](Store& store, int64_t at) -> Status {
    const auto size = static_cast<int64_t>(bytes.size());
    if (Status status = store.lock(at, size); !status.ok())
      return status;
    Status status = store.write_at(at, bytes);
    status.update(store.unlock(at, size));
    return status;
  });
  tally(offset, static_cast<int64_t>(bytes.size()));
}

bool DataFile::share(Extent range) {
  bool shared = false;
  if (lacks_locks_)
    return shared;
  attempt(range.begin, [&](Store& store, int64_t at) {
    Status status = store.lock_shared(at, range.size());
    lacks_locks_ = status.code() == Code::unsupported;
    shared = status.ok();
    return lacks_locks_ ? Status{} : std::move(status);
  });
  return shared;
}

// Also after an error, which attempt() would not do.
void DataFile::end_share(Extent range) {
  const auto opened = stores_.find(line_.file_of(range.begin));
  if (opened != stores_.end())
    status_.update(guard([&] { return opened->second.store->unlock(line_.offset_of(range.begin), range.size()); }));
}

void DataFile::write(int64_t offset, std::span<const ConstSlice> slices) {
  attempt(offset, [&](Store& store, int64_t at) { return store.write_slices_at(at, slices); });
  tally(offset, bytes_of(slices));
}

void DataFile::expect(Extent range) {
  for (auto& [file, opened] : stores_)
    opened.store->expect(0, 0);
  if (range.empty() || line_.file_of(range.begin) != line_.file_of(range.end - 1))
    return;
  attempt(range.begin, [&](Store& store, int64_t at) { return store.expect(at, range.size()), Status{}; });
}

void DataFile::read(int64_t offset, std::span<std::byte> bytes) {
  attempt(offset, [&](Store& store, int64_t at) { return store.read_at(at, bytes); });
  tally(offset, static_cast<int64_t>(bytes.size()));
}

void DataFile::read(int64_t offset, std::span<const Slice> slices) {
  attempt(offset, [&](Store& store, int64_t at) { return store.read_slices_at(at, slices); });
  tally(offset, bytes_of(slices));
}

// A recording needs each request separately.
bool DataFile::are_separate(std::span<const ReadRequest> requests) const noexcept {
  return recording_ != nullptr || std::any_of(requests.begin(), requests.end(),
                                              [](const ReadRequest& each) { return each.offset >= FileLine::k_begin; });
}

void DataFile::read(std::span<const ReadRequest> requests, const IdleCallback& idle) {
  if (requests.empty())
    return;
  const bool separate = are_separate(requests);
  if (!separate)
    attempt(requests.front().offset, [&](Store& store, int64_t) { return store.read_several(requests, idle); });
  for (const ReadRequest& each : requests) {
    if (separate)
      read(each.offset, each.bytes);
    else
      tally(each.offset, static_cast<int64_t>(each.bytes.size()));
  }
  if (status_.ok())
    return;
  for (auto& [file, opened] : stores_) {  // the caller will reuse the memory that they read to
    opened.store->forget_ahead();
    count(opened, requests.front().offset);
  }
}

void DataFile::read_ahead(std::span<const ReadRequest> requests) {
  if (requests.empty() || are_separate(requests) || !status_.ok())
    return;
  const auto opened = stores_.find(0);  // opening another file might close the one that is being read
  if (opened == stores_.end())
    return;
  (void)guard([&] {
    opened->second.store->read_ahead(requests);
    return Status{};
  });
}

const std::byte* DataFile::map(Extent range) {
  const std::byte* bytes = nullptr;
  if (range.begin >= FileLine::k_begin)
    return nullptr;  // the range spans several files
  attempt(range.begin, [&](Store& store, int64_t at) {
    auto mapped = store.map(at, range.size());
    if (mapped.ok())
      bytes = mapped.value();
    // A file that ends too early is an error of the piece at its end; reading the pieces will report it.
    const Code code = mapped.status().code();
    return code == Code::unsupported || code == Code::bad_file ? Status{} : mapped.status();
  });
  return bytes;
}

void DataFile::unmap() {
  attempt(0, [&](Store& store, int64_t) { return store.unmap(); });
}

bool DataFile::in_memory(Extent range) {
  bool answer = false;
  if (range.begin >= FileLine::k_begin)
    return answer;
  (void)guard([&] {
    auto opened = open(0);
    if (opened.ok())
      answer = opened.value()->store->in_memory(range.begin, range.size());
    return Status{};
  });
  return answer;
}

Status DataFile::reserve(int64_t bytes) {
  if (bytes <= scratch_bytes_)
    return {};
  return guard([&] {
    scratch_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(bytes));
    scratch_bytes_ = bytes;
    return Status{};
  });
}

Status DataFile::read_old(Store& store, int64_t offset, std::span<std::byte> bytes) {
  if (!zeros_past_end_)
    return store.read_at(offset, bytes);
  const auto size = store.size();
  if (!size.ok())
    return size.status();
  const int64_t length = std::clamp<int64_t>(size.value() - offset, 0, static_cast<int64_t>(bytes.size()));
  const auto there = bytes.first(static_cast<size_t>(length));
  std::fill(bytes.begin() + length, bytes.end(), std::byte{0});
  return there.empty() ? Status{} : store.read_at(offset, there);
}

void DataFile::write_over_holes(Extent hull, std::byte* bytes, PieceView covered, int64_t at_once, bool locked) {
  attempt(hull.begin, [&](Store& store, int64_t at) -> Status {
    if (locked)
      if (Status status = store.lock(at, hull.size()); !status.ok())
        return status;
    const auto fill = [&](Extent hole, Extent read) {
      std::memcpy(bytes + (hole.begin - hull.begin), scratch_.get() + (hole.begin - read.begin),
                  static_cast<size_t>(hole.size()));
      work_.bytes_copied += hole.size();
    };
    const auto merge = [&]() -> Status {
      for (Extent read{hull.begin, 0}; read.begin < hull.end; read.begin = read.end) {
        read.end = std::min(hull.end, read.begin + at_once);
        const std::span<std::byte> old(scratch_.get(), static_cast<size_t>(read.size()));
        if (Status status = read_old(store, at + (read.begin - hull.begin), old); !status.ok())
          return status;
        int64_t position = read.begin;
        for_each_covered(covered, read, [&](Extent extent) {
          fill({position, extent.begin}, read);
          position = extent.end;
        });
        fill({position, read.end}, read);
      }
      return store.write_at(at, {bytes, static_cast<size_t>(hull.size())});
    };
    Status status = merge();
    if (locked)
      status.update(store.unlock(at, hull.size()));
    return status;
  });
  tally(hull.begin, hull.size());
}

Status DataFile::extend(std::span<const Extent> regions) {
  return guard([&]() -> Status {
    for (size_t i = 0; i < regions.size(); ++i) {
      const int64_t file = line_.file_of(regions[i].begin);
      if (i + 1 < regions.size() && line_.file_of(regions[i + 1].begin) == file)
        continue;  // they ascend
      const int64_t size = line_.offset_of(regions[i].begin) + regions[i].size();
      auto opened = open(file);
      if (!opened.ok())
        return opened.status();
      auto now = opened.value()->store->size();
      if (!now.ok())
        return now.status();
      if (now.value() >= size)
        continue;
      if (Status status = opened.value()->store->resize(size); !status.ok())
        return status;
    }
    return {};
  });
}

Status DataFile::sync() {
  Status status;
  for (auto& [file, opened] : stores_)
    status.update(opened.store->sync());
  return status;
}

Status DataFile::close() {
  Status status;
  for (auto& [file, opened] : stores_)
    status.update(opened.store->close());
  stores_.clear();
  return status;
}

void DataFile::take_counters(Trace& trace) {
  for (size_t stage = 0; stage < trace.seconds.size(); ++stage)
    trace.seconds[stage] += work_.seconds[stage];
  trace.bytes_written += work_.bytes_written;
  trace.bytes_read += work_.bytes_read;
  trace.write_requests += work_.write_requests;
  trace.read_requests += work_.read_requests;
  trace.bytes_copied += work_.bytes_copied;
  trace.direct_bytes += work_.direct_bytes;
  work_ = Trace{.timeline = work_.timeline};
}

Status DataFile::take_status() {
  Status status = std::move(status_);
  status_ = Status{};
  return status;
}

}  // namespace windrow
