// SPDX-License-Identifier: BSD-3-Clause
// Places of chunks that the index in the file still names, although HDF5 believes that they are free. HDF5 frees a
// chunk's place as soon as the chunk gets another size, and reuses it. But the index in memory is written only with the
// next flush. If the job were killed in between, the index in the file would refer to bytes of another chunk.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "extent/extent.hpp"
#include "format/hdf5/handle.hpp"

namespace windrow {

// Anonymous datasets occupy the places. If a job is killed, they are lost space in its file, invisible to readers.
class KeptPlaces {
 public:
  // Makes free space of exactly this size, separate from other free space, from `place` and from the end of the file.
  // HDF5 uses the smallest free space that fits, so the next allocation of this size gets it, even if `place` is freed
  // for it.
  Status make_room(hid_t file, int64_t bytes, Extent place);
  void drop_walls() noexcept { walls_.clear(); }
  // Occupies a place that HDF5 has freed.
  Status keep(hid_t file, Extent place);
  // After a flush the index in the file names none of them any more.
  void let_go() noexcept { walls_.clear(), kept_.clear(); }

 private:
  std::vector<Handle> walls_, kept_;
};

}  // namespace windrow
