// SPDX-License-Identifier: BSD-3-Clause
// HostLetters: letters between ranks that all run on one host, left in memory that they share. One round of all ranks takes the place of as many
// messages as there are letters and of a consensus by messages, which every rank polls for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "comm/host_rounds.hpp"

namespace windrow {

struct Letter;

class HostLetters {
 public:
  // Bytes of the rounds' room that each of so many ranks gives for its letters.
  static int64_t room_for(int ranks) noexcept;

  // Local, before the round: leaves the letters of this rank where others find them after it. False: there is no room for so much. At most one to a rank.
  bool leave(const HostRounds& rounds, int rank, int ranks, std::span<const Letter> out) noexcept;
  // Local, after it: adds those to this rank, sorted by peer. Others' letters of the next round do not disturb them.
  void take(const HostRounds& rounds, int rank, int ranks, std::vector<Letter>& in) const;

 private:
  int parity_ = 0;  // of the letters that were left last
};

}  // namespace windrow
