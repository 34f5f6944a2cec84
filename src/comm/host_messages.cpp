// SPDX-License-Identifier: BSD-3-Clause
#include "comm/host_messages.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "comm/sparse.hpp"

namespace windrow {
namespace {

// The position of a message in the bytes of its sender. A table at their start has one entry for each rank.
struct Place {
  uint32_t end = 0;  // 0: no message
  uint32_t size = 0;
};

int64_t places_bytes(int ranks) noexcept {
  return static_cast<int64_t>(sizeof(Place)) * ranks;
}

int64_t half(int ranks) noexcept {
  return (places_bytes(ranks) + most_message_bytes(ranks) + 63) / 64 * 64;
}

// The two halves are used in alternate rounds. A rank that writes for the round after next has left the next round,
// which all ranks entered after they had read.
std::byte* half_of(const HostRounds& rounds, uint64_t round, int rank, int ranks) noexcept {
  return rounds.room_of(rank) + static_cast<int64_t>(round % 2) * half(ranks);
}

}  // namespace

int64_t most_message_bytes(int ranks) noexcept {
  constexpr int64_t k_all = int64_t{2} << 20, k_most = 32 << 10, k_least = 4 << 10;
  return std::clamp(k_all / ranks, k_least, k_most);
}

int64_t message_room(int ranks) noexcept {
  return 2 * half(ranks);
}

bool store_messages(const HostRounds& rounds, int rank, int ranks, std::span<const SparseMessage> out) noexcept {
  std::byte* const base = half_of(rounds, rounds.rounds() + 1, rank, ranks);
  auto* const places = reinterpret_cast<Place*>(base);
  std::fill_n(places, ranks, Place{});
  const int64_t begin = places_bytes(ranks), most = begin + most_message_bytes(ranks);
  int64_t at = begin;
  for (const SparseMessage& message : out) {
    const auto size = static_cast<int64_t>(message.bytes.size());
    if (size > most - at)
      return false;
    assert(places[message.peer].end == 0);
    std::copy(message.bytes.begin(), message.bytes.end(), base + at);
    at += size;
    places[message.peer] = {static_cast<uint32_t>(at), static_cast<uint32_t>(size)};
  }
  return true;
}

void take_messages(const HostRounds& rounds, int rank, int ranks, std::vector<SparseMessage>& in) {
  for (int from = 0; from < ranks; ++from) {
    const std::byte* const base = half_of(rounds, rounds.rounds(), from, ranks);
    const Place place = reinterpret_cast<const Place*>(base)[rank];
    if (place.end > 0)
      in.push_back({.peer = from, .bytes = std::vector<std::byte>(base + (place.end - place.size), base + place.end)});
  }
}

void store_for_all(const HostRounds& rounds, int ranks, std::span<const std::byte> bytes) noexcept {
  assert(static_cast<int64_t>(bytes.size()) <= most_message_bytes(ranks));
  std::copy(bytes.begin(), bytes.end(), half_of(rounds, rounds.rounds() + 1, 0, ranks));
}

std::span<const std::byte> stored_for_all(const HostRounds& rounds, int ranks, int64_t size) noexcept {
  return {half_of(rounds, rounds.rounds(), 0, ranks), static_cast<size_t>(size)};
}

}  // namespace windrow
