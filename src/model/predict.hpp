// SPDX-License-Identifier: BSD-3-Clause
// Predict: the time that a machine needs for a piece of work, by stage. Pure, and O(1) except in the number of
// measurements. A plan is described by numbers only. docs/machine-model.md has the formulae.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "model/machine.hpp"

namespace windrow {

// The storage part of a flush. Numbers are doubles: they are estimates, and products of hostile values do not overflow.
struct StorageWork {
  bool reading = false;
  bool sieving = false;              // write only: bytes between the pieces are read first
  Sharing sharing = Sharing::apart;  // without sieving
  double ranks = 1;                  // ranks that access the storage concurrently
  double bytes = 0;                  // all ranks
  double rank_bytes = 0;             // the busiest rank
  double request_bytes = 1;          // average request
  double targets = 0;                // targets that hold the bytes; 0: as many as the machine gives to a file
  double target_bytes = 0;           // the busiest target; 0: all have the same
  double stripe_bytes = 0;           // 0: the machine's
  // range of the file that holds the requests of one rank in one round; 0: all bytes of the rank
  double span_bytes = 0;
};

// The work of one flush. Where ranks or hosts differ, of the busiest.
struct Work {
  double ranks = 1, hosts = 1;
  double agreements = 0;                    // allreduces over all ranks
  double rounds = 0;                        // of the busiest aggregator
  double rank_copies = 0;                   // bytes that a rank copies in memory
  double host_copies = 0;                   // the same, all ranks of a host
  double rank_pieces = 0, host_pieces = 0;  // number of pieces copied
  double rank_sends = 0;              // bytes that a rank sends to or receives from other hosts, whichever is more
  double host_sends = 0;              // the same, all ranks of a host
  double sends = 0;                   // all ranks
  double messages = 0;                // that a rank sends and receives between hosts
  bool compresses = false;            // if compression is faster
  double shrinks_to = k_usual_ratio;  // the compressed size of a byte
  std::array<StorageWork, 2> storage = {};  // one after the other: long pieces do not wait for others
  size_t storage_parts = 0;
  // lock transfers between hosts at the busiest target, in sequence, in addition to those that `sharing` implies
  double call_backs = 0;
};

// Seconds. `total` is not the sum of the stages: rounds overlap exchange and storage as far as cores and the number of
// rounds allow.
struct Prediction {
  double open = 0;  // creating or opening the file, on rank 0 and on all aggregators
  double plan = 0;  // the agreements
  double exchange = 0;
  double storage = 0;
  double total = 0;
  double flush() const noexcept { return total - open; }  // comparable with a report
};

// Safe for any numbers: negative values and NaN count as 0. Every result is finite and not negative.
Prediction predict(const Work& work, const Machine& machine);

// The additional time of a request at a target for every other client of the target. It is derived from the advantage
// of ranks with their own targets over ranks with parts of the file. 0: one of the two was not measured.
double turn_seconds(std::span<const MeasuredRate> rates, int64_t targets);

}  // namespace windrow
