// SPDX-License-Identifier: BSD-3-Clause
#include "dataio/windows.hpp"

#include <utility>

#include "comm/backoff.hpp"

namespace windrow {

void StorageWindows::finish() noexcept {
  for (Backoff backoff; thread_ != nullptr && thread_->done() != thread_->posted();)
    backoff.wait();
}

void StorageWindows::move(const Filled& filled) {
  if (thread_ == nullptr) {
    work(filled, moved_);
    ++moved_;
    return;
  }
  const int64_t number = asked_.load(std::memory_order_relaxed);
  ring_.set(static_cast<size_t>(number % IoThread::k_jobs), filled);
  asked_.store(number + 1, std::memory_order_release);
  thread_->post({work_on, this, number});
}

void StorageWindows::work_on(void* self, int64_t number) noexcept {
  auto* windows = static_cast<StorageWindows*>(self);
  windows->work(*windows->asked(number), number);
}

void StorageSink::consume(int64_t, const Window& window, const std::byte* slot, PieceView covered) {
  move({window, const_cast<std::byte*>(slot), covered});  // read only
}

// Opens the file and allocates blocks before the first window is full. If a thread works on the file, it does this
// itself.
void StorageSink::expect(PieceView covered) {
  if (total_bytes(covered) == hull(covered).size())
    expected_ = hull(covered);
  if (!works_asynchronously())
    announce();
}

void StorageSink::announce() {
  if (!expected_.empty())
    file_.expect(std::exchange(expected_, {}));
}

StorageSink::~StorageSink() {
  finish();
  file_.expect({});  // the hint may have ended early
}

void StorageSink::fill_rest() {
  if (fill_ != nullptr)
    fill_until(fill_->windows.domain.end);
}

void StorageSink::fill_until(int64_t end) {
  fill_->for_each_part({filled_to_, end}, [&](Extent part) { fill_->map.write(part, fill_->buffer, file_); });
}

void StorageSink::work_and_fill(const Filled& filled) {
  fill_until(filled.window.bytes.begin);
  filled_to_ = filled.window.bytes.end;
  filled.window.for_each_part([&](Extent part, int64_t place) {
    std::byte* const slot = filled.slot + place;
    fill_->map.complete(part, slot, filled.covered);  // the slot belongs to this aggregator until it is returned
    fill_->map.for_each_request(part, filled.covered, [&](Extent bytes) {
      file_.write(bytes.begin,
                  std::span<const std::byte>(slot + (bytes.begin - part.begin), static_cast<size_t>(bytes.size())));
    });
  });
}

void StorageSink::work(const Filled& filled, int64_t) {
  const StageTimer timer(file_.work(), Stage::storage);
  announce();
  if (fill_ != nullptr)
    return work_and_fill(filled);
  // A sieve locks each request. Otherwise one lock is enough for the requests of a window.
  const Extent written = intersect(hull(filled.covered), filled.window.reach());
  if (rule_.locks_holes && rule_.access != Access::sieve && !written.empty())
    return file_.write_while_shared(written, [&] { write(filled); });
  write(filled);
}

void StorageSink::write(const Filled& filled) {
  filled.window.for_each_part([&](Extent part, int64_t place) {
    for_each_request(rule_, part, filled.covered, [&](const Request& request) {
      std::byte* const bytes = filled.slot + place + (request.bytes.begin - part.begin);
      if (request.holes && never_written_ != nullptr) {
        never_written_->complete(request.bytes, bytes, filled.covered);
        file_.write(request.bytes.begin, std::span<const std::byte>(bytes, static_cast<size_t>(request.bytes.size())));
      } else if (request.holes)
        file_.write_over_holes(request.bytes, bytes, filled.covered, rule_.read_before_bytes, locked_);
      else if (locked_ && rule_.access == Access::sieve)
        file_.write_locked(request.bytes.begin, std::span(bytes, static_cast<size_t>(request.bytes.size())));
      else
        file_.write(request.bytes.begin, std::span(bytes, static_cast<size_t>(request.bytes.size())));
    });
  });
}

void StorageFetcher::start(int64_t, const Window& window, std::byte* slot, PieceView covered) {
  move({window, slot, covered});
}

template <class Visit>
void StorageFetcher::for_each_read(const Filled& filled, Visit&& visit) const {
  filled.window.for_each_part([&](Extent part, int64_t place) {
    for_each_request(rule_, part, filled.covered, [&](const Request& request) {
      visit(ReadRequest{
          request.bytes.begin,
          {filled.slot + place + (request.bytes.begin - part.begin), static_cast<size_t>(request.bytes.size())}});
    });
  });
}

bool StorageFetcher::gather(const Filled& filled, int64_t number) {
  Requests& requests = requests_[static_cast<size_t>(number % 2)];
  requests.number = -1;
  requests.count = 0;
  size_t count = 0;
  for_each_read(filled, [&](const ReadRequest& request) {
    if (count++ < requests.each.size())
      requests.each.set(requests.count++, request);
  });
  if (count > requests.each.size())
    return false;
  requests.number = number;
  return true;
}

void StorageFetcher::work(const Filled& filled, int64_t number) {
  const StageTimer timer(file_.work(), Stage::storage);
  if (!several_)
    return for_each_read(filled, [&](const ReadRequest& request) { file_.read(request.offset, request.bytes); });
  Requests& requests = requests_[static_cast<size_t>(number % 2)];
  if (requests.number == number || gather(filled, number)) {
    return file_.read(requests.first(requests.count), [&] {
      const Filled* const next = asked(number + 1);
      if (next != nullptr && gather(*next, number + 1)) {
        const Requests& ahead = requests_[static_cast<size_t>((number + 1) % 2)];
        file_.read_ahead(ahead.first(ahead.count));
      }
      return next == nullptr;
    });
  }
  size_t waiting = 0;
  for_each_read(filled, [&](const ReadRequest& request) {
    requests.each.set(waiting++, request);
    if (waiting == requests.each.size())
      file_.read(requests.first(std::exchange(waiting, 0)), {});
  });
  file_.read(requests.first(waiting), {});
}

}  // namespace windrow
