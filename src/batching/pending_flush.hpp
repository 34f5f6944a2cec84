// SPDX-License-Identifier: BSD-3-Clause
// A batch of variables that moves, and what lasts from flush_begin to flush_end.
#pragma once

#include "batching/variable_batch.hpp"
#include "flush/in_flight.hpp"
#include "queueing/request_list.hpp"

namespace windrow {

struct MovingVariables {
  MovingVariables(Comm& shared_by, const IoThread& works) noexcept : in_flight(shared_by, works) {}

  VariableBatch batch;
  bool is_whole = false;    // all bytes of the variables are written
  InFlightBatch in_flight;  // is destroyed first
};

struct PendingFlush {
  PendingFlush(Comm& shared_by, const IoThread& works) noexcept : puts(shared_by, works) {}

  RequestList requests;  // the batches refer to its decompositions and memory
  MovingVariables puts;
  bool is_moving = false;  // the puts are in flight
  VariableBatch gets;
  bool any_gets = false, any_chunked_gets = false;
  double seconds = 0;  // that flush_begin took
};

}  // namespace windrow
