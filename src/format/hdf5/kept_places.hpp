// SPDX-License-Identifier: BSD-3-Clause
// Places that the metadata in the file still names, although HDF5 believes that they are free. HDF5 frees a chunk's
// place as soon as the chunk gets another size, and reuses it; the same holds for heaps of texts, and for metadata at
// the end of the file. But the metadata in memory is written only with the next flush, and the elements of variables
// and chunks at once. If the job were killed in between, the metadata in the file would refer to bytes of another
// variable.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/status.hpp"
#include "extent/extent.hpp"
#include "format/hdf5/handle.hpp"

namespace windrow {

// Anonymous datasets occupy the places. If a job is killed, they are lost space in its file, invisible to readers.
class KeptPlaces {
 public:
  // As H5Pset_alignment().
  KeptPlaces(int64_t alignment, int64_t threshold) : alignment_(alignment), threshold_(threshold) {}

  // Readers find the file as HDF5 has it now. Until the next call its metadata may name any place but what is free now
  // and what is after the end.
  Status set_published(hid_t file);
  bool has_published() const noexcept { return published_end_ > 0; }
  bool is_published(Extent place) const noexcept;
  // Occupies all published places that HDF5 has freed since expect_freed() or keep_quickly().
  Status keep_freed(hid_t file);
  void expect_freed() noexcept { complete_ = false; }

  // Makes free space of exactly this size, separate from other free space, from `place` and from the end of the file.
  // HDF5 uses the smallest free space that fits, so the next allocation of this size gets it, even if `place` is freed
  // for it.
  Status make_room(hid_t file, int64_t bytes, Extent place);
  void drop_walls() noexcept { walls_.clear(); }
  // Occupies a place that HDF5 has freed.
  Status keep(hid_t file, Extent place);
  // The same in constant time, but not always successful: the next place from HDF5 may be a published one.
  Status keep_quickly(hid_t file, Extent place);
  // After a flush the metadata in the file names none of them any more.
  void let_go() noexcept { walls_.clear(), kept_.clear(); }
  bool empty() const noexcept { return kept_.empty(); }

 private:
  int64_t most_at_once(Extent free) const noexcept;
  Result<bool> take_all(hid_t file, const std::function<bool(Extent)>& wanted, std::vector<Handle>& taken) const;

  int64_t alignment_, threshold_;
  std::vector<Handle> walls_, kept_;
  std::vector<Extent> free_;   // in the published file, in ascending order
  int64_t published_end_ = 0;  // of the published file; 0: it is not published
  bool complete_ = true;       // all published places that HDF5 has freed are occupied
};

}  // namespace windrow
