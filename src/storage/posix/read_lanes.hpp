// SPDX-License-Identifier: BSD-3-Clause
// ReadLanes: threads that read pieces of one file concurrently. On slow storage, requests then overlap each other and
// those of the next batch, which start while the last of this batch are in flight. Long requests are read in pieces.
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

// Length of the next piece of a request after `done` bytes: up to a MiB boundary of the file, the unit of FUSE and many
// servers.
size_t piece_at(const ReadRequest& request, size_t done) noexcept;

class ReadLanes {
 public:
  // Reads a piece and counts. Called by several threads concurrently.
  using Read = std::function<Status(const ReadRequest& piece, StoreCounters& counters)>;
  explicit ReadLanes(Read read) : read_(std::move(read)) {}
  ~ReadLanes();
  ReadLanes(const ReadLanes&) = delete;
  ReadLanes& operator=(const ReadLanes&) = delete;

  // Starts a batch. The requests and their memory must stay valid until it is finished. Of the first, `taken` bytes
  // were read already. False, and nothing is started: k_batches batches are unfinished. May throw std::bad_alloc.
  bool begin(std::span<const ReadRequest> requests, size_t taken = 0);
  bool has_begun(std::span<const ReadRequest> requests);
  // Waits for a batch and helps to read it; calls `idle` before it sleeps. A long request counts as one. Returns
  // the first failure; pieces after it are not read.
  Status finish(std::span<const ReadRequest> requests, StoreCounters& counters, const IdleCallback& idle);
  void finish_all(StoreCounters& counters);  // waits for all batches and ignores their errors
  // Whether the first piece of the last finished batch was slow.
  bool was_slow() const noexcept { return was_slow_; }

 private:
  static constexpr size_t k_batches = 2;
  struct Batch {
    std::span<const ReadRequest> requests;  // empty: the entry is free
    size_t request = 0, done = 0;           // of the next piece
    size_t under_way = 0, lanes = 0;        // current and maximum number
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

// Whether a request was so slow that threads would help. False for a read of any size from the page cache.
bool is_slow(std::chrono::nanoseconds taken, size_t bytes) noexcept;

}  // namespace windrow
