// SPDX-License-Identifier: BSD-3-Clause
// InFlightBatch: a batch under way, from its plan to the agreement on what became of it. Between flush_begin and
// flush_end it lasts beyond the calls: the I/O thread still writes what was handed to it.
#pragma once

#include <optional>
#include <vector>

#include "comm/comm.hpp"
#include "dataio/windows.hpp"
#include "session/prepared_plan.hpp"
#include "session/queued_request.hpp"
#include "session/request_batch.hpp"

namespace windrow {

struct InFlightBatch final : SegmentHolder {
  InFlightBatch(Comm& shared_by, const IoThread& works) noexcept : comm(shared_by), thread(works) {}
  ~InFlightBatch() {
    wait();
    comm.release_holder(this);
  }
  InFlightBatch(const InFlightBatch&) = delete;
  InFlightBatch& operator=(const InFlightBatch&) = delete;
  void wait() noexcept override;

  Comm& comm;
  const IoThread& thread;
  RequestBatch batch;
  PreparedPlan* kept = nullptr;
  std::vector<QueuedRequest> queue;  // keeps the decompositions that the batch points to
  Status local;                      // what this rank has met so far
  bool whole = false;                // what is written are all bytes of the variables
  double began = 0;                  // when
  bool behind = false;               // the program goes on meanwhile: only the exchange is measured
  WindowFill fill;
  FillMap never_written;  // what windows' holes are known to hold without reading; else empty
  std::optional<StorageSink> sink;
  std::optional<StorageFetcher> fetcher;
  struct Direct {  // what the I/O thread writes from the user's memory
    std::span<const Item> items;
    DataFile* file = nullptr;
    std::span<std::byte> bounce;
  } direct;
};

// What lasts from flush_begin to flush_end.
struct PendingFlush {
  PendingFlush(Comm& shared_by, const IoThread& works) noexcept : puts(shared_by, works) {}
  InFlightBatch puts;
  bool moving = false;  // the puts are under way
  RequestBatch gets;
  bool any_gets = false, chunked_gets = false;
  double seconds = 0;  // that flush_begin took
};

}  // namespace windrow
