// SPDX-License-Identifier: BSD-3-Clause
// ReadLanes: threads that read pieces of one file at the same time. Where a request takes its time the others need not
// wait for it, nor those of the next batch: they begin while the last of this one are under way. What is long is read
// in pieces.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/status.hpp"
#include "storage/store.hpp"

namespace windrow {

// How much of a request, of which `done` has been read, is the next piece: up to a MiB boundary of the file, which is
// what FUSE and many servers move at once.
size_t piece_at(const ReadRequest& request, size_t done) noexcept;

class ReadLanes {
 public:
  // Reads a piece and counts. By several threads at the same time.
  using Read = std::function<Status(const ReadRequest& piece, StoreCounters& counters)>;
  explicit ReadLanes(Read read) : read_(std::move(read)) {}
  ~ReadLanes();
  ReadLanes(const ReadLanes&) = delete;
  ReadLanes& operator=(const ReadLanes&) = delete;

  // The requests and their memory have to live until they are finished. Of the first, `taken` bytes are there already.
  // False, and nothing is begun, where k_batches have been begun and are not finished. May throw std::bad_alloc.
  bool begin(std::span<const ReadRequest> requests, size_t taken = 0);
  bool has_begun(std::span<const ReadRequest> requests);
  // Waits until all of a batch has been read, and helps; before it waits, it asks `meanwhile`. A long request counts as
  // one. The first failure is told, and what comes after it is not read.
  Status finish(std::span<const ReadRequest> requests, StoreCounters& counters, const Meanwhile& meanwhile);
  void finish_all(StoreCounters& counters);  // nothing is under way any more; how it went is not told
  bool was_slow() const noexcept {
    return was_slow_;
  }  // the first piece of the batch that was finished last took its time

 private:
  static constexpr size_t k_batches = 2;
  struct Batch {
    std::span<const ReadRequest> requests;  // empty: free
    size_t request = 0, done = 0;           // of the next piece
    size_t under_way = 0, lanes = 0;        // now, and at most
    int64_t number = 0;                     // batches are read in this order
    bool is_first = true, slow = false;
    StoreCounters counters;
    Status status;
  };
  struct Piece {
    ReadRequest request;
    bool counts = false, is_first = false;
  };
  static bool has_more(const Batch& batch) noexcept { return batch.request < batch.requests.size(); }
  static Piece take(Batch& batch) noexcept;
  Batch* oldest_with_more() noexcept;
  Batch* find(std::span<const ReadRequest> requests) noexcept;
  void read_one(Batch& batch, std::unique_lock<std::mutex>& lock);
  void work();
  void add_threads(size_t wanted);

  Read read_;
  std::mutex mutex_;
  std::condition_variable more_, ended_;
  std::array<Batch, k_batches> batches_;
  std::vector<std::thread> threads_;
  int64_t begun_ = 0;
  bool stops_ = false, was_slow_ = true;
};

// A request that took so long is worth a thread that waits for it; what comes out of memory is not, however long.
bool is_slow(std::chrono::nanoseconds taken, size_t bytes) noexcept;

}  // namespace windrow
