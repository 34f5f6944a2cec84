// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"

namespace mpiio_test {

namespace {

constexpr int64_t k_guard = 32;  // bytes before and after

unsigned char value(uint64_t seed, int64_t place) {
  return static_cast<unsigned char>(((static_cast<uint64_t>(place) + seed * 77) * 2654435761u) >> 9);
}

// From the address that MPI is given.
int64_t place_of(const Access& access, int64_t number) {
  const int64_t size = access.memory.size();
  return access.memory.places[static_cast<size_t>(number % size)] + number / size * access.memory.extent;
}

// From the first element to the last.
int64_t reach_of(const Access& access) {
  return std::max<int64_t>(0, access.count - 1) * access.memory.extent;
}

int64_t lowest_of(const Access& access) {
  return access.memory.begin() + std::min<int64_t>(0, reach_of(access));
}

}  // namespace

Memory::Memory(const Access& access, uint64_t seed) : access_(access), lowest_(lowest_of(access)) {
  const int64_t highest = access.memory.end() + std::max<int64_t>(0, reach_of(access));
  bytes_.resize(static_cast<size_t>(highest - lowest_ + 2 * k_guard));
  for (size_t i = 0; i < bytes_.size(); ++i)
    bytes_[i] = value(seed, static_cast<int64_t>(i));
  expected_ = bytes_;
  if (access.at_bottom) {
    const auto address = reinterpret_cast<MPI_Aint>(origin());
    MPI_Datatype absolute = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed_block(1, 1, &address, access.memory.get(), &absolute);
    absolute_ = made(absolute, {}, 1, "absolute");
  }
}

unsigned char Memory::value_of(const Access& access, uint64_t seed, int64_t number) {
  return value(seed, place_of(access, number) - lowest_of(access) + k_guard);
}

int64_t Memory::difference() const {
  const auto found = std::mismatch(bytes_.begin(), bytes_.end(), expected_.begin());
  return found.first == bytes_.end() ? -1 : found.first - bytes_.begin();
}

int64_t Memory::difference_below(int64_t count) const {
  for (int64_t i = 0; i < count; ++i)
    if (bytes_[index(i)] != expected_[index(i)])
      return static_cast<int64_t>(index(i));
  return -1;
}

std::string Memory::values_at(int64_t place) const {
  const auto at = static_cast<size_t>(place);
  return "byte " + std::to_string(place) + " of " + std::to_string(bytes_.size()) + " in memory is " +
         std::to_string(bytes_[at]) + ", not " + std::to_string(expected_[at]);
}

size_t Memory::index(int64_t number) const {
  return static_cast<size_t>(place_of(access_, number) - lowest_ + k_guard);
}

void* Memory::origin() {
  return reinterpret_cast<void*>(reinterpret_cast<intptr_t>(bytes_.data()) + static_cast<intptr_t>(k_guard) -
                                 static_cast<intptr_t>(lowest_));
}

}  // namespace mpiio_test
