// SPDX-License-Identifier: BSD-3-Clause
#include "session/windows.hpp"

#include "comm/patience.hpp"

namespace windrow {

void StorageWindows::finish() noexcept {
  for (Patience patience; thread_ != nullptr && thread_->done() != thread_->posted();) patience.wait();
}

void StorageWindows::move(const Window& window) {
  if (thread_ == nullptr) {
    work(window);
    ++moved_;
    return;
  }
  const int64_t index = thread_->posted() % IoThread::k_jobs;
  ring_[static_cast<size_t>(index)] = window;
  thread_->post({work_on, this, index});
}

void StorageWindows::work_on(void* self, int64_t index) noexcept {
  auto* windows = static_cast<StorageWindows*>(self);
  windows->work(windows->ring_[static_cast<size_t>(index)]);
}

void StorageSink::consume(int64_t, Extent window, const std::byte* slot, PieceView covered) {
  move({window, const_cast<std::byte*>(slot), covered});  // only read
}

void StorageSink::fill_rest() {
  if (fill_ != nullptr) fill_until(fill_->windows.domain.end);
}

void StorageSink::fill_until(int64_t end) {
  fill_->windows.for_each_part({filled_to_, end}, [&](Extent part) { fill_->map.write(part, fill_->buffer, file_); });
}

void StorageSink::work_and_fill(const Window& window) {
  fill_until(window.bytes.begin);
  filled_to_ = window.bytes.end;
  fill_->map.complete(window.bytes, window.slot, window.covered);  // the slot is this writer's own until it is handed back
  fill_->map.for_each_request(window.bytes, window.covered, [&](Extent bytes) {
    file_.write(bytes.begin, std::span<const std::byte>(window.slot + (bytes.begin - window.bytes.begin), static_cast<size_t>(bytes.size())));
  });
}

void StorageSink::work(const Window& window) {
  const StageTimer timer(file_.work(), Stage::storage);
  if (fill_ != nullptr) return work_and_fill(window);
  for_each_request(rule_, window.bytes, window.covered, [&](const Request& request) {
    const std::byte* bytes = window.slot + (request.bytes.begin - window.bytes.begin);
    if (request.holes)
      file_.write_over_holes(request.bytes, bytes, window.covered, locked_);
    else if (locked_ && rule_.access == Access::sieve)
      file_.write_locked(request.bytes.begin, std::span(bytes, static_cast<size_t>(request.bytes.size())));
    else
      file_.write(request.bytes.begin, std::span(bytes, static_cast<size_t>(request.bytes.size())));
  });
}

void StorageFetcher::start(int64_t, Extent window, std::byte* slot, PieceView covered) { move({window, slot, covered}); }

void StorageFetcher::work(const Window& window) {
  const StageTimer timer(file_.work(), Stage::storage);
  for_each_request(rule_, window.bytes, window.covered, [&](const Request& request) {
    file_.read(request.bytes.begin,
               std::span(window.slot + (request.bytes.begin - window.bytes.begin), static_cast<size_t>(request.bytes.size())));
  });
}

}  // namespace windrow
