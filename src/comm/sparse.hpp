// SPDX-License-Identifier: BSD-3-Clause
// Sparse exchange: each rank knows its receivers, but not its senders. On one host it uses shared memory
// (host_messages.hpp). Otherwise it uses messages and a non-blocking consensus, with no array of one entry for each
// rank. Source: Hoefler, Siebert and Lumsdaine, "Scalable communication protocols for dynamic sparse data exchange",
// PPoPP 2010, algorithm NBX; here the consensus also carries a few words.
//
//   sending: synchronous sends of all notices; receives notices from any rank
//     | all sends have been received
//   consensus: non-blocking allreduce of (error, long messages); still receives notices
//     | allreduce complete: all ranks have received all notices
//   long (if any rank has a long message): agrees on memory, then sends and receives the parts
//     |
//   done
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "comm/comm.hpp"

namespace windrow {

// A message to or from another rank.
struct SparseMessage {
  int peer = 0;
  std::vector<std::byte> bytes;
};

struct MessageCounters {
  int64_t messages = 0;
  int64_t bytes = 0;
};

// Collective. Delivers messages of any length, at most one for each pair; `in` is sorted by peer. On one host this
// takes one round of all ranks, unless a rank's messages exceed the room. Otherwise short messages take one MPI message
// each and the consensus; for long ones the ranks first agree that all have the memory. `local`: status of the work
// before; a failed rank must call this too and sends nothing. If any rank came with an error, all ranks return it.
// Otherwise the status is this rank's own, which the caller must agree on.
Status sparse_exchange(Comm& comm, Status local, std::span<const SparseMessage> out, std::vector<SparseMessage>& in,
                       MessageCounters& counters);

// The same by MPI messages, also on one host.
Status sparse_exchange_by_messages(Comm& comm, Status local, std::span<const SparseMessage> out,
                                   std::vector<SparseMessage>& in, MessageCounters& counters);

// The same through the lowest ranks of the hosts, which bundle the messages of their host to the same rank. Needs fewer
// messages if there are many ranks on each of several hosts. Collective; the same on all ranks.
Status sparse_exchange_by_host(Comm& comm, Status local, std::span<const SparseMessage> out,
                               std::vector<SparseMessage>& in, MessageCounters& counters);

// Collective. `all`: on all ranks the bytes of all ranks, concatenated in the order of ranks. They go to rank 0 and
// from there to all. The status as in sparse_exchange().
Status gather_to_all(Comm& comm, Status local, std::vector<std::byte> mine, std::vector<std::byte>& all);

}  // namespace windrow
