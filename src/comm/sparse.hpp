// SPDX-License-Identifier: BSD-3-Clause
// Sparse exchange: each rank knows whom it talks to, and nobody knows who will talk to it. On one host through memory
// that the ranks share (host_letters.hpp). By messages with a non-blocking consensus, where no array is as long as
// there are ranks; source: Hoefler, Siebert and Lumsdaine, "Scalable communication protocols for dynamic sparse data
// exchange", PPoPP 2010, algorithm NBX; the consensus here carries a few words instead of none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "comm/comm.hpp"

namespace windrow {

// A byte string to, or from, another rank.
struct Letter {
  int peer = 0;
  std::vector<std::byte> bytes;
};

struct MessageCounters {
  int64_t messages = 0;
  int64_t bytes = 0;
};

// Collective. Delivers letters of any length, sorted by peer; at most one to a peer. On one host one round of all ranks
// is all there is, unless there is too little room for a rank's letters. By messages: where all are short, one message
// each and the consensus; else ranks agree that all have the memory before the long ones are sent. `local`: of what
// this rank did before; a rank that failed comes here too, and sends nothing. When any rank came with an error, all
// leave with it. Otherwise the status is this rank's own, to be agreed on by the caller.
Status exchange_letters(Comm& comm, Status local, std::span<const Letter> out, std::vector<Letter>& in,
                        MessageCounters& counters);

// The same by messages, also on one host.
Status exchange_letters_by_messages(Comm& comm, Status local, std::span<const Letter> out, std::vector<Letter>& in,
                                    MessageCounters& counters);

// The same by way of the hosts' lowest ranks, which put letters of their host to the same rank into one: fewer messages
// where there are many ranks on each of several hosts. Collective; the same on all ranks.
Status exchange_letters_by_host(Comm& comm, Status local, std::span<const Letter> out, std::vector<Letter>& in,
                                MessageCounters& counters);

}  // namespace windrow
