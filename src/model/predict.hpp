// SPDX-License-Identifier: BSD-3-Clause
// Predict: how long a machine takes for a piece of work, stage by stage. Pure, and O(1) in everything but what was
// measured of the machine: work is told by numbers, whatever plan it comes from. The formulae are in
// docs/machine-model.md.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "model/machine.hpp"

namespace windrow {

// Of the ranks that touch the storage. Numbers are doubles: they are estimates, and products of hostile ones do not
// overflow.
struct StorageWork {
  bool reading = false;
  bool sieving = false;              // to write: what lies between the pieces is read first
  Sharing sharing = Sharing::apart;  // how they would lie without sieving
  double actors = 1;                 // ranks at the storage at a time
  double bytes = 0;                  // of all of them
  double actor_bytes = 0;            // of the busiest
  double request_bytes = 1;          // of a request, on average
  double targets = 0;                // that the bytes lie on; 0: as many as the machine gives to a file
  double target_bytes = 0;           // of the busiest of them; 0: they have equally much
  double stripe_bytes = 0;           // 0: as the machine's
  double stretch_bytes = 0;  // of the file, in which an actor's requests of one round lie; 0: in all of its bytes
};

// One flush. Where ranks or hosts differ, of the busiest.
struct Work {
  double ranks = 1, hosts = 1;
  double agreements = 0;                    // reductions over all ranks
  double rounds = 0;                        // of the busiest writer or reader
  double rank_copies = 0;                   // bytes that a rank copies, in memory
  double host_copies = 0;                   // the same of all ranks of a host
  double rank_pieces = 0, host_pieces = 0;  // in so many pieces
  double rank_sends = 0;              // bytes that a rank sends to other hosts, or takes from them, whichever is more
  double host_sends = 0;              // the same of all ranks of a host
  double sends = 0;                   // of all
  double messages = 0;                // that a rank sends and takes, between hosts
  bool compresses = false;            // where that is faster
  double shrinks_to = k_usual_ratio;  // what is left of a byte then
  std::array<StorageWork, 2> storage = {};  // one behind the other: long pieces do not wait for others
  size_t storage_parts = 0;
  double call_backs =
      0;  // locks that pass between hosts at the busiest target, one behind the other, beside those that `sharing` says
};

// Seconds. `total` is not the sum: rounds overlap the exchange with the storage as far as cores and rounds are there.
struct Prediction {
  double open = 0;  // creating or opening the file, and its data by all that touch it
  double plan = 0;  // agreements
  double exchange = 0;
  double storage = 0;
  double total = 0;
  double flush() const noexcept { return total - open; }  // what a report measures
};

// Any numbers are safe: what is negative or no number counts as nothing, and every result is finite and at least 0.
Prediction predict(const Work& work, const Machine& machine);

// What a request costs a target for every other client of it: from how much faster ranks were with targets of their own
// than with parts of the file. 0: nothing of both kinds was measured.
double turn_seconds(std::span<const MeasuredRate> rates, int64_t targets);

}  // namespace windrow
