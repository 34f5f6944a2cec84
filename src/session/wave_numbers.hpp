// SPDX-License-Identifier: BSD-3-Clause
// What all ranks know of a wave after its pulse.
#pragma once

#include <cstdint>
#include <span>

#include "extent/extent.hpp"
#include "session/shrinkage.hpp"

namespace windrow {

struct WaveNumbers {
  int64_t kept_id = 0;            // the plan that every rank has kept for this wave; 0: there is none
  int64_t largest_rank_bytes = 0;
  int64_t owned_flags = 0;        // points carry them
  int64_t replicas = 0;           // points that several ranks hold
  int64_t points = 0, load = 0, holes = 0;  // of decompositions by points: the most points, elements of a variable that one stands for, and points that nobody holds
  int64_t shared_reads = 0;       // gets by `same`
  bool uniform = false;           // gets by `same`, and the very same on every rank
  int64_t in_memory = 0;          // a Residence: how what is got lies in the memory of the ranks' one host
  int64_t bytes = 0;
  int64_t pieces = 0;
  int64_t touched_bytes = 0;      // of what is got
  int64_t ranks_with_data = 0;
  int64_t entries = 0;            // puts or gets, of all ranks
  Extent hull;                    // of a chunked variable's pieces, in its chunks' line
  Extent records;                 // that are moved of variables that grow in subfiles
  Shrinkage shrinkage;            // of what is to be sent to other hosts
  int64_t long_bytes = 0, long_pieces = 0;  // of pieces that may go their own way
  std::span<const int64_t> variables;  // bits: those that any rank moves; valid until the next pulse
};

}  // namespace windrow
