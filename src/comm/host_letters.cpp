// SPDX-License-Identifier: BSD-3-Clause
#include "comm/host_letters.hpp"

#include <algorithm>
#include <cstring>

#include "comm/sparse.hpp"

namespace windrow {
namespace {

// Where in the bytes of its writer a letter lies. At the begin of them there is one for each rank.
struct Place {
  uint32_t end = 0;   // 0: there is no letter
  uint32_t size = 0;
};

// Of the letters of one exchange: there is room for two, since the slowest may read those of one while the quickest writes the next.
int64_t bytes_for(int ranks) noexcept {
  constexpr int64_t k_all = int64_t{4} << 20, k_most = 64 << 10, k_least = 8 << 10;
  const int64_t places = static_cast<int64_t>(sizeof(Place)) * ranks;
  return (places + std::clamp(k_all / ranks, k_least, k_most) + 63) / 64 * 64;
}

}  // namespace

int64_t HostLetters::room_for(int ranks) noexcept { return 2 * bytes_for(ranks); }

bool HostLetters::leave(const HostRounds& rounds, int rank, int ranks, std::span<const Letter> out) noexcept {
  parity_ ^= 1;
  std::byte* const base = rounds.room_of(rank) + parity_ * bytes_for(ranks);
  auto* const places = reinterpret_cast<Place*>(base);
  std::fill_n(places, ranks, Place{});
  auto at = static_cast<int64_t>(sizeof(Place)) * ranks;
  for (const Letter& letter : out) {
    const auto size = static_cast<int64_t>(letter.bytes.size());
    if (size > bytes_for(ranks) - at) return false;
    std::copy(letter.bytes.begin(), letter.bytes.end(), base + at);
    at += size;
    places[letter.peer] = {static_cast<uint32_t>(at), static_cast<uint32_t>(size)};
  }
  return true;
}

void HostLetters::take(const HostRounds& rounds, int rank, int ranks, std::vector<Letter>& in) const {
  for (int from = 0; from < ranks; ++from) {
    const std::byte* const base = rounds.room_of(from) + parity_ * bytes_for(ranks);
    const Place place = reinterpret_cast<const Place*>(base)[rank];
    if (place.end > 0) in.push_back({.peer = from, .bytes = std::vector<std::byte>(base + (place.end - place.size), base + place.end)});
  }
}

}  // namespace windrow
