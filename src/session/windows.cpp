// SPDX-License-Identifier: BSD-3-Clause
#include "session/windows.hpp"

#include <utility>

#include "comm/patience.hpp"

namespace windrow {

void StorageWindows::finish() noexcept {
  for (Patience patience; thread_ != nullptr && thread_->done() != thread_->posted();) patience.wait();
}

void StorageWindows::move(const Filled& filled) {
  if (thread_ == nullptr) {
    work(filled);
    ++moved_;
    return;
  }
  const int64_t index = thread_->posted() % IoThread::k_jobs;
  ring_[static_cast<size_t>(index)] = filled;
  thread_->post({work_on, this, index});
}

void StorageWindows::work_on(void* self, int64_t index) noexcept {
  auto* windows = static_cast<StorageWindows*>(self);
  windows->work(windows->ring_[static_cast<size_t>(index)]);
}

void StorageSink::consume(int64_t, const Window& window, const std::byte* slot, PieceView covered) {
  move({window, const_cast<std::byte*>(slot), covered});  // only read
}

void StorageSink::fill_rest() {
  if (fill_ != nullptr) fill_until(fill_->windows.domain.end);
}

void StorageSink::fill_until(int64_t end) {
  fill_->for_each_part({filled_to_, end}, [&](Extent part) { fill_->map.write(part, fill_->buffer, file_); });
}

void StorageSink::work_and_fill(const Filled& filled) {
  fill_until(filled.window.bytes.begin);
  filled_to_ = filled.window.bytes.end;
  filled.window.for_each_part([&](Extent part, int64_t place) {
    std::byte* const slot = filled.slot + place;
    fill_->map.complete(part, slot, filled.covered);  // the slot is this writer's own until it is handed back
    fill_->map.for_each_request(part, filled.covered, [&](Extent bytes) {
      file_.write(bytes.begin, std::span<const std::byte>(slot + (bytes.begin - part.begin), static_cast<size_t>(bytes.size())));
    });
  });
}

void StorageSink::work(const Filled& filled) {
  const StageTimer timer(file_.work(), Stage::storage);
  if (fill_ != nullptr) return work_and_fill(filled);
  filled.window.for_each_part([&](Extent part, int64_t place) {
    for_each_request(rule_, part, filled.covered, [&](const Request& request) {
      std::byte* const bytes = filled.slot + place + (request.bytes.begin - part.begin);
      if (request.holes && untouched_ != nullptr) {
        untouched_->complete(request.bytes, bytes, filled.covered);
        file_.write(request.bytes.begin, std::span<const std::byte>(bytes, static_cast<size_t>(request.bytes.size())));
      } else if (request.holes)
        file_.write_over_holes(request.bytes, bytes, filled.covered, locked_);
      else if (locked_ && rule_.access == Access::sieve)
        file_.write_locked(request.bytes.begin, std::span(bytes, static_cast<size_t>(request.bytes.size())));
      else
        file_.write(request.bytes.begin, std::span(bytes, static_cast<size_t>(request.bytes.size())));
    });
  });
}

void StorageFetcher::start(int64_t, const Window& window, std::byte* slot, PieceView covered) { move({window, slot, covered}); }

void StorageFetcher::work(const Filled& filled) {
  const StageTimer timer(file_.work(), Stage::storage);
  size_t waiting = 0;
  filled.window.for_each_part([&](Extent part, int64_t place) {
    for_each_request(rule_, part, filled.covered, [&](const Request& request) {
      const std::span bytes(filled.slot + place + (request.bytes.begin - part.begin), static_cast<size_t>(request.bytes.size()));
      if (!several_) return file_.read(request.bytes.begin, bytes);
      requests_[waiting++] = {request.bytes.begin, bytes};
      if (waiting == requests_.size()) file_.read(std::span<const ReadRequest>(requests_).first(std::exchange(waiting, 0)));
    });
  });
  file_.read(std::span<const ReadRequest>(requests_).first(waiting));
}

}  // namespace windrow
