// SPDX-License-Identifier: BSD-3-Clause
// Sparse exchange by non-blocking consensus: each rank knows whom it talks to, nobody knows who will talk to it, and no
// array is as long as there are ranks. Source: Hoefler, Siebert and Lumsdaine, "Scalable communication protocols for
// dynamic sparse data exchange", PPoPP 2010, algorithm NBX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "comm/comm.hpp"

namespace windrow {

// A short word to, or from, another rank.
struct Notice {
  int peer = 0;
  int64_t value = 0;
};

// A byte string to, or from, another rank.
struct Letter {
  int peer = 0;
  std::vector<std::byte> bytes;
};

// Collective. Delivers each notice; returns those for this rank, sorted by peer. At most one to a peer. A rank that runs out of
// memory still takes part to the end: the status returned is this rank's own, to be agreed on by the caller.
Status exchange_notices(Comm& comm, std::span<const Notice> out, std::vector<Notice>& in);

// Collective. Delivers letters of any length, sorted by peer; ranks agree between sizes and bytes that all have the memory.
// `local`: of what this rank did before; a rank that failed comes here too, with whatever letters it has. The status is the same on
// every rank.
struct LetterCounters {
  int64_t messages = 0;
  int64_t bytes = 0;
};
Status exchange_letters(Comm& comm, Status local, std::span<const Letter> out, std::vector<Letter>& in, LetterCounters& counters);

}  // namespace windrow
