// SPDX-License-Identifier: BSD-3-Clause
// MovingVariables: a batch of variables while it moves. PendingFlush: the state of a flush in two parts, from
// flush_begin to flush_end.
#pragma once

#include "batching/variable_batch.hpp"
#include "flush/in_flight.hpp"
#include "queueing/request_list.hpp"

namespace windrow {

struct MovingVariables {
  MovingVariables(Comm& shared_by, const IoThread& works) noexcept : in_flight(shared_by, works) {}

  VariableBatch batch;
  bool is_whole = false;    // the batch writes all bytes of its variables
  InFlightBatch in_flight;  // the last member, so that it is destroyed first: it waits for the I/O thread
};

struct PendingFlush {
  PendingFlush(Comm& shared_by, const IoThread& works) noexcept : puts(shared_by, works) {}

  RequestList requests;  // the batches refer to its decompositions and memory
  MovingVariables puts;
  bool is_moving = false;  // the puts are in flight
  VariableBatch gets;
  bool any_gets = false, any_chunked_gets = false;
  double seconds = 0;  // duration of flush_begin
};

}  // namespace windrow
