// SPDX-License-Identifier: BSD-3-Clause
// Places of chunks that the index in the file still names, while HDF5 believes that they are free. HDF5 frees a chunk's
// place as soon as the chunk gets another size, and gives it to whoever asks next; but the index in memory goes into
// the file at the next flush only. Were a job killed in between, what the file says of that chunk would lead to bytes
// of another.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "extent/extent.hpp"
#include "format/hdf5/handle.hpp"

namespace windrow {

// Datasets without a name hold the places: those of a killed job are lost room in its file, and nobody sees them.
class KeptPlaces {
 public:
  // Free room of just so many bytes, apart from what else is free, from `place` and from the file's end. HDF5 takes the
  // smallest room that will do, so what it places next comes there if it has so many bytes, even when `place` is freed
  // for it.
  Status make_room(hid_t file, int64_t bytes, Extent place);
  void drop_walls() noexcept { walls_.clear(); }
  // Takes a place that HDF5 has freed out of its hands.
  Status keep(hid_t file, Extent place);
  // After a flush: the index in the file names none of them any more.
  void let_go() noexcept { walls_.clear(), kept_.clear(); }

 private:
  std::vector<Handle> walls_, kept_;
};

}  // namespace windrow
