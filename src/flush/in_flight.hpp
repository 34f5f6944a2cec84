// SPDX-License-Identifier: BSD-3-Clause
// InFlightBatch: a batch under way, from its plan to the agreement on what became of it. Between flush_begin and
// flush_end it lasts beyond the calls: the I/O thread still writes what was handed to it.
#pragma once

#include <optional>
#include <span>

#include "comm/comm.hpp"
#include "dataio/windows.hpp"
#include "planning/prepared_plan.hpp"
#include "planning/request_batch.hpp"

namespace windrow {

// The batch and the plan must outlive it.
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
  Status local;           // what this rank has met so far
  bool behind = false;    // the program goes on meanwhile: only the exchange is measured
  double began = 0;       // when
  double seconds = 0;     // that it took, once it has ended; of its exchange alone, where the program went on behind it
  WindowFill fill;        // what holes of windows are filled with, if that is wanted
  FillMap never_written;  // what windows' holes are known to hold without reading; else empty
  std::optional<StorageSink> sink;
  std::optional<StorageFetcher> fetcher;
  struct Direct {  // what the I/O thread writes from the user's memory
    std::span<const Item> items;
    DataFile* file = nullptr;
    std::span<std::byte> bounce;
  } direct;
};

}  // namespace windrow
