// SPDX-License-Identifier: BSD-3-Clause
// Sparse messages through shared memory, if all ranks run on one host. One round of all ranks replaces one MPI message
// for each sparse message and the consensus, for which every rank would poll.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/host_rounds.hpp"

namespace windrow {

struct SparseMessage;

// Bytes of HostRounds' room that each rank needs for its messages, and the capacity for messages in one round.
int64_t message_room(int ranks) noexcept;
int64_t most_message_bytes(int ranks) noexcept;

// Local, before a round of all ranks: stores the messages of this rank, at most one for each receiver. Returns
// false if they do not fit.
bool store_messages(const HostRounds& rounds, int rank, int ranks, std::span<const SparseMessage> out) noexcept;
// Local, after that round: appends the messages for this rank, sorted by peer. Messages of the next round do not
// overwrite them before this rank enters it.
void take_messages(const HostRounds& rounds, int rank, int ranks, std::vector<SparseMessage>& in);

// The same for one message of rank 0 to all, of at most most_message_bytes(): stored before a round of all by rank 0,
// read after it by any rank, which must know the size. The result is valid until this rank enters the next round.
void store_for_all(const HostRounds& rounds, int ranks, std::span<const std::byte> bytes) noexcept;
std::span<const std::byte> stored_for_all(const HostRounds& rounds, int ranks, int64_t size) noexcept;

}  // namespace windrow
