// SPDX-License-Identifier: BSD-3-Clause
// The model of a file: its bytes, and which accesses MPI leaves undefined until the file is synced.
#pragma once

#include <cstdint>
#include <vector>

#include "types.hpp"
#include "views.hpp"

namespace mpiio_test {

// What one rank moves in one call.
struct Access {
  int rank = 0;
  bool writing = false, by_pointer = false;
  bool at_bottom = false;         // its memory is given by addresses
  int64_t offset = 0, count = 0;  // in etypes, in elements of memory
  Type memory;
  std::vector<int64_t> places;  // in the file, of each byte that is moved

  int64_t size() const { return static_cast<int64_t>(places.size()); }
};

class Model {
 public:
  static constexpr int64_t k_limit = 60'000;  // bytes that programs use, from the base on

  explicit Model(int64_t base) : base_(base) { clear(); }

  int64_t base() const { return base_; }
  int64_t end() const { return base_ + k_limit; }
  int64_t size() const { return size_; }
  unsigned char at(int64_t place) const { return place < size_ ? bytes_[index(place)] : 0; }

  void clear() {
    bytes_.assign(static_cast<size_t>(k_limit), 0);
    size_ = 0;
    synced();
  }
  void put(int64_t place, unsigned char value) {
    bytes_[index(place)] = value;
    size_ = std::max(size_, place + 1);
  }
  void set_size(int64_t size) {
    for (int64_t place = std::max(base_, std::min(size, size_)); place < end(); ++place) {
      bytes_[index(place)] = 0;
    }
    size_ = size;
  }

  // Bytes that are moved: of a read those that the file has. Places ascend.
  int64_t moved(const Access& access) const {
    return access.writing ? access.size()
                          : std::count_if(access.places.begin(), access.places.end(),
                                          [this](int64_t place) { return place < size_; });
  }

  // MPI defines the result only if each rank's accesses since the last sync conflict with no other rank's.
  bool needs_sync(const std::vector<Access>& accesses) const {
    for (const Access& access : accesses)
      for (const int64_t place : access.places) {
        const int toucher = touchers_[index(place)];
        const bool mine = toucher == access.rank;
        if (access.writing && toucher != k_nobody && !mine)
          return true;
        if (!access.writing && dirty_[index(place)] && !mine)
          return true;
        if (!access.writing && place >= synced_size_ && synced_size_ != size_ && !(dirty_[index(place)] && mine))
          return true;
      }
    return false;
  }
  void touch(const std::vector<Access>& accesses) {
    for (const Access& access : accesses)
      for (const int64_t place : access.places) {
        signed char& toucher = touchers_[index(place)];
        if (access.writing) {
          toucher = static_cast<signed char>(access.rank);
          dirty_[index(place)] = true;
        } else if (toucher != access.rank) {
          toucher = static_cast<signed char>(toucher == k_nobody ? access.rank : k_several);
        }
      }
  }
  void synced() {
    touchers_.assign(static_cast<size_t>(k_limit), k_nobody);
    dirty_.assign(static_cast<size_t>(k_limit), false);
    synced_size_ = size_;
  }

 private:
  static constexpr signed char k_nobody = -1, k_several = -2;
  size_t index(int64_t place) const { return static_cast<size_t>(place - base_); }

  int64_t base_, size_ = 0, synced_size_ = 0;
  std::vector<unsigned char> bytes_;
  std::vector<signed char> touchers_;
  std::vector<bool> dirty_;
};

// Bytes that accesses of one call have claimed, so that no two ranks write the same byte, or one reads what another
// writes.
class Claims {
 public:
  explicit Claims(const Model& model) : base_(model.base()), owners_(static_cast<size_t>(Model::k_limit), 0) {}

  bool claim(const Access& access) {
    for (const int64_t place : access.places)
      if (const int owner = owners_[index(place)];
          owner != 0 && (access.writing || owner > 0) && (access.writing ? std::abs(owner) : owner) != access.rank + 1)
        return false;
    for (const int64_t place : access.places) {
      int& owner = owners_[index(place)];
      if (access.writing)
        owner = access.rank + 1;
      else if (owner == 0)
        owner = -access.rank - 1;
      else if (owner != access.rank + 1 && owner != -access.rank - 1)
        owner = -k_several;
    }
    return true;
  }

 private:
  static constexpr int k_several = 1000;
  size_t index(int64_t place) const { return static_cast<size_t>(place - base_); }

  int64_t base_;
  std::vector<int> owners_;  // 0: nobody; rank + 1: its writer; negative: readers
};

}  // namespace mpiio_test
