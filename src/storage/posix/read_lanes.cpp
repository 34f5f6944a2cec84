// SPDX-License-Identifier: BSD-3-Clause
#include "storage/posix/read_lanes.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

namespace windrow {

namespace {

constexpr size_t k_piece_bytes = 1 << 20;
// concurrent requests; more if they are short, since clients merge waiting requests
constexpr size_t k_lanes = 4, k_most_lanes = 16;

size_t lanes_for(std::span<const ReadRequest> requests) noexcept {
  size_t bytes = 0, pieces = 0;
  for (const ReadRequest& request : requests) {
    bytes += request.bytes.size();
    pieces += (request.bytes.size() + k_piece_bytes - 1) / k_piece_bytes;
  }
  if (bytes == 0)
    return 1;
  const size_t mean = (bytes + pieces - 1) / pieces;
  return std::min(pieces, std::clamp(k_lanes * k_piece_bytes / mean, k_lanes, k_most_lanes));
}

}  // namespace

bool is_slow(std::chrono::nanoseconds taken, size_t bytes) noexcept {
  return taken >= std::chrono::microseconds{500} && taken >= std::chrono::nanoseconds{static_cast<int64_t>(bytes)};
}

size_t piece_at(const ReadRequest& request, size_t done) noexcept {
  return std::min(request.bytes.size() - done,
                  k_piece_bytes - static_cast<size_t>(request.offset + static_cast<int64_t>(done)) % k_piece_bytes);
}

ReadLanes::~ReadLanes() {
  StoreCounters counters;
  finish_all(counters);
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  more_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

// The thread that finishes a batch helps. If the system creates fewer threads, these do the work.
void ReadLanes::add_threads(size_t wanted) {
  // Signals are left to the threads of the program.
  sigset_t all, before;
  sigfillset(&all);
  if (threads_.size() + 1 >= wanted || pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
    return;
  (void)guard([&] {
    threads_.reserve(k_most_lanes);
    while (threads_.size() + 1 < wanted)
      threads_.emplace_back([this] { work(); });
    return Status{};
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ReadLanes::Batch* ReadLanes::find(std::span<const ReadRequest> requests) noexcept {
  for (Batch& batch : batches_)
    if (!batch.requests.empty() && batch.requests.data() == requests.data())
      return &batch;
  return nullptr;
}

ReadLanes::Batch* ReadLanes::oldest_with_more() noexcept {
  Batch* oldest = nullptr;
  for (Batch& batch : batches_)
    if (has_more(batch) && batch.under_way < batch.lanes && (oldest == nullptr || batch.number < oldest->number))
      oldest = &batch;
  return oldest;
}

bool ReadLanes::begin(std::span<const ReadRequest> requests, size_t taken) {
  const size_t lanes = lanes_for(requests);
  add_threads(lanes);
  {
    const std::lock_guard lock(mutex_);
    const auto free =
        std::find_if(batches_.begin(), batches_.end(), [](const Batch& batch) { return batch.requests.empty(); });
    if (free == batches_.end())
      return false;
    *free = Batch{};
    free->requests = requests;
    free->lanes = lanes;
    free->done = taken;
    free->number = begun_++;
  }
  more_.notify_all();
  return true;
}

bool ReadLanes::has_begun(std::span<const ReadRequest> requests) {
  const std::lock_guard lock(mutex_);
  return find(requests) != nullptr;
}

ReadLanes::Piece ReadLanes::take(Batch& batch) noexcept {
  const ReadRequest& request = batch.requests[batch.request];
  const size_t bytes = piece_at(request, batch.done);
  const Piece piece{{request.offset + static_cast<int64_t>(batch.done), request.bytes.subspan(batch.done, bytes)},
                    batch.done == 0,
                    std::exchange(batch.is_first, false)};
  batch.done += bytes;
  if (batch.done == request.bytes.size())
    ++batch.request, batch.done = 0;
  ++batch.under_way;
  return piece;
}

void ReadLanes::read_one(Batch& batch, std::unique_lock<std::mutex>& lock) {
  const Piece piece = take(batch);
  lock.unlock();
  StoreCounters counters;
  const auto begin = std::chrono::steady_clock::now();
  Status status = piece.request.bytes.empty() ? Status{} : guard([&] { return read_(piece.request, counters); });
  const bool slow = is_slow(std::chrono::steady_clock::now() - begin, piece.request.bytes.size());
  lock.lock();
  if (piece.is_first)
    batch.slow = slow;
  if (!piece.counts)
    counters.read_requests = 0;
  batch.counters += counters;
  if (!status.ok())
    batch.request = batch.requests.size();
  batch.status.update(std::move(status));
  if (--batch.under_way == 0 && !has_more(batch))
    ended_.notify_all();
}

void ReadLanes::work() {
  for (std::unique_lock lock(mutex_);;) {
    Batch* const batch = oldest_with_more();
    if (batch != nullptr)
      read_one(*batch, lock);
    else if (stops_)
      return;
    else
      more_.wait(lock);
  }
}

Status ReadLanes::finish(std::span<const ReadRequest> requests, StoreCounters& counters, const IdleCallback& idle) {
  std::unique_lock lock(mutex_);
  Batch* const batch = find(requests);
  if (batch == nullptr)
    return {Code::internal, "internal error: a read was not started"};
  while (has_more(*batch))
    read_one(*batch, lock);
  const auto has_ended = [&] { return batch->under_way == 0; };
  for (bool again = static_cast<bool>(idle); again;) {
    lock.unlock();
    again = idle();
    lock.lock();
    again = again && !ended_.wait_for(lock, std::chrono::microseconds{300}, has_ended);
  }
  ended_.wait(lock, has_ended);
  was_slow_ = batch->slow;
  counters += batch->counters;
  return std::exchange(*batch, Batch{}).status;
}

void ReadLanes::finish_all(StoreCounters& counters) {
  std::unique_lock lock(mutex_);
  for (Batch& batch : batches_) {
    batch.request = batch.requests.size();
    ended_.wait(lock, [&] { return batch.under_way == 0; });
    counters += batch.counters;
    batch = Batch{};
  }
}

}  // namespace windrow
