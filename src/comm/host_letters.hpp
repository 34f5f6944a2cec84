// SPDX-License-Identifier: BSD-3-Clause
// Letters between ranks that all run on one host, left in memory that they share. One round of all ranks takes the
// place of as many messages as there are letters and of a consensus by messages, which every rank polls for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/host_rounds.hpp"

namespace windrow {

struct Letter;

// Bytes of the rounds' room that each of so many ranks gives for its letters, and how many bytes of letters it has room
// for at a time.
int64_t letter_room(int ranks) noexcept;
int64_t most_letter_bytes(int ranks) noexcept;

// Local, before a round of all: leaves the letters of this rank, at most one to each, where others find them after it.
// False: there is no room for so much.
bool leave_letters(const HostRounds& rounds, int rank, int ranks, std::span<const Letter> out) noexcept;
// Local, after that round: adds those to this rank, sorted by peer. Letters for the next rounds do not disturb them
// before this rank comes to the next.
void take_letters(const HostRounds& rounds, int rank, int ranks, std::vector<Letter>& in);

// The same for one letter of rank 0 to all, of at most most_letter_bytes(): before a round of all by rank 0, and after
// it by anybody, who is told the size otherwise. What is returned lies there until this rank comes to the next round.
void leave_for_all(const HostRounds& rounds, int ranks, std::span<const std::byte> bytes) noexcept;
std::span<const std::byte> left_for_all(const HostRounds& rounds, int ranks, int64_t size) noexcept;

}  // namespace windrow
