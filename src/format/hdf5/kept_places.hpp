// SPDX-License-Identifier: BSD-3-Clause
// Places that the metadata in the file still names, although HDF5 believes that they are free. HDF5 frees a chunk's
// place as soon as the chunk gets another size, and reuses it; the same holds for heaps of texts, and for metadata at
// the end of the file. But the metadata in memory is written only with the next flush, and the elements of variables
// and chunks at once. If the job were killed in between, the metadata in the file would refer to bytes of another
// variable.
//
// HDF5 gives the smallest free space that fits, and lists all or none of it. So chunks get their space from one free
// piece at a time, while all others are occupied: what HDF5 then frees is found at once.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "extent/extent.hpp"
#include "format/hdf5/handle.hpp"

namespace windrow {

// An anonymous dataset whose chunks occupy places. If a job is killed, they are lost space in its file, invisible to
// readers. HDF5 takes much longer to create a dataset than to enter a chunk.
class Occupant {
 public:
  static constexpr int64_t k_most_bytes = int64_t{1} << 31;  // of a place: HDF5 limits chunks

  // Occupies a place that HDF5 chooses. Its number is the count() before.
  Result<Extent> take(hid_t file, int64_t bytes);
  // Frees all of a place but one byte of it, or another.
  Status shrink(hid_t file, int64_t number);
  int64_t count() const noexcept { return count_; }
  void clear() noexcept { dataset_ = Handle(), count_ = room_ = 0; }

 private:
  Status grow(hid_t file);
  Result<Extent> enter(hid_t file, int64_t number, int64_t bytes);

  Handle dataset_;
  int64_t count_ = 0, room_ = 0;
};

class KeptPlaces {
 public:
  // As H5Pset_alignment().
  KeptPlaces(hid_t file, int64_t alignment, int64_t threshold)
      : file_(file), alignment_(alignment), threshold_(threshold) {}

  // Readers find the file as HDF5 has it now. Until the next call its metadata may name any place but what is free now
  // and what is after the end.
  Status set_published();
  bool has_published() const noexcept { return published_end_ > 0; }
  bool is_published(Extent place) const noexcept;
  // Occupies all published places that HDF5 has freed since expect_freed().
  Status keep_freed();
  void expect_freed() noexcept { complete_ = false; }

  // Prepares an allocation of `bytes`: frees one piece that is large enough and does not touch `place`, and occupies
  // all others until let_go(). If there is none, HDF5 gives space at the end of the file. None of it is published, and
  // none is `place` if that is freed for it, and smaller.
  Status make_room(int64_t bytes, Extent place);
  bool has_spare() const noexcept { return !spare_.empty(); }
  // Occupies a place that HDF5 has freed since make_room(), a published one until let_go(), another until
  // forget_moved().
  Status keep(Extent place);
  void forget_moved() noexcept { moved_.clear(); }
  // After a flush the metadata in the file names none of them any more.
  void let_go() noexcept;
  bool empty() const noexcept { return kept_.count() == 0 && ends_.empty() && others_.count() == 0; }

 private:
  struct Spare {
    Extent place;
    int64_t number;  // among others_
  };

  Status take_end(int64_t least, Handle& end);
  Result<std::vector<Extent>> free_pieces();
  int64_t most_at_once(Extent free) const noexcept;
  Result<bool> take_all(const std::function<bool(Extent)>& wanted, Occupant& occupant);
  Status keep_end();
  Status occupy();
  Status free_one(int64_t bytes, Extent place);

  hid_t file_;
  int64_t alignment_, threshold_;
  int64_t base_ = -1;                    // bytes before HDF5's first address; -1: not asked yet
  Occupant kept_, moved_, others_;       // published places; old places of moved chunks; all that was free besides
  std::vector<Handle> ends_;             // published places at the end of the file
  Handle wall_;                          // at the end of the file, from make_room() to keep()
  std::multimap<int64_t, Spare> spare_;  // the places of others_, by what they can serve
  size_t most_spare_ = 0;                // with more than this, adjacent ones are joined
  std::vector<Extent> free_;             // in the published file, in ascending order
  int64_t published_end_ = 0;            // of the published file; 0: it is not published
  bool complete_ = true;                 // all published places that HDF5 has freed are occupied
};

}  // namespace windrow
