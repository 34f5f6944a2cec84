// SPDX-License-Identifier: BSD-3-Clause
// Variables on their way, and what lasts from flush_begin to flush_end.
#pragma once

#include <vector>

#include "flush/in_flight.hpp"
#include "queueing/queued_request.hpp"
#include "session/variable_batch.hpp"

namespace windrow {

struct MovingVariables {
  MovingVariables(Comm& shared_by, const IoThread& works) noexcept : in_flight(shared_by, works) {}

  VariableBatch batch;
  std::vector<QueuedRequest> queue;  // keeps the decompositions that the batch points to
  bool whole = false;                // what is written are all bytes of the variables
  InFlightBatch in_flight;           // the first to go
};

struct PendingFlush {
  PendingFlush(Comm& shared_by, const IoThread& works) noexcept : puts(shared_by, works) {}
  MovingVariables puts;
  bool moving = false;  // the puts are under way
  VariableBatch gets;
  bool any_gets = false, chunked_gets = false;
  double seconds = 0;  // that flush_begin took
};

}  // namespace windrow
