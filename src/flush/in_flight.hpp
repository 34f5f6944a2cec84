// SPDX-License-Identifier: BSD-3-Clause
// InFlightBatch: a batch in flight, from the moment it has a plan until the agreement on its outcome. In a flush in two
// parts it lasts from flush_begin to flush_end, while the I/O thread still writes. The destructor waits for the thread.
#pragma once

#include <optional>
#include <span>

#include "comm/comm.hpp"
#include "dataio/windows.hpp"
#include "planning/prepared_plan.hpp"
#include "planning/request_batch.hpp"

namespace windrow {

// The request batch and the plan must outlive it.
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
  PreparedPlan* prepared = nullptr;
  DataFile* file = nullptr;
  Status local;                // the first error of this rank
  bool in_background = false;  // the program continues while the batch is in flight
  double began = 0;            // when it began, in seconds
  double seconds = 0;          // its duration, set at its end; only that of the exchange if `in_background`
  WindowFill fill;             // fill values for the holes of windows, if they are wanted
  FillMap never_written;       // bytes in holes that are known to be zeros and need no read; else empty
  std::optional<StorageSink> sink;
  std::optional<StorageFetcher> fetcher;
  struct Direct {  // pieces that the I/O thread writes from the memory of the program
    std::span<const Item> items;
    DataFile* file = nullptr;
    std::span<std::byte> bounce;
    bool shares = false;  // see write_direct()
  } direct;
};

}  // namespace windrow
