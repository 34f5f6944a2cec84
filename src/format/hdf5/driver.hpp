// SPDX-License-Identifier: BSD-3-Clause
// The driver through which HDF5 accesses a file: it reads and writes the bytes of a store, and records errors. HDF5
// never sees a failed write, because it would leave the file half closed (see driver.cpp).
#pragma once

#include <hdf5.h>

#include <memory>
#include <span>

#include "base/status.hpp"
#include "extent/extent.hpp"
#include "storage/store.hpp"

namespace windrow {

// The open file for a property list: opening it again would cost a request to the file system's servers.
struct Opening {
  std::unique_ptr<Store> store;  // taken by the first opening; later ones open the file themselves
  bool create = false;           // the file is empty
  bool durable = false;          // see FormatOptions
  std::shared_ptr<Status> failure = std::make_shared<Status>();  // why the storage refused to open or read the file
};

// Makes a file access property list use the driver. `opening` must outlive the list.
herr_t set_driver(hid_t access, Opening& opening);

// Chunks bypass HDF5. It is given only a chunk's size (H5Dwrite_chunk with chunk_marker() as the bytes) and allocates
// its space. The driver recognises the marker, drops that write, and records its offset. H5Dread_chunk into the marker
// gives the place of the chunk. Only the marker's address identifies such a write: references and texts of variable
// length are "raw data" for HDF5 too, and must be written.
void* chunk_marker() noexcept;
// The last offset of the marker, from the start of the file; -1: none since the last call. The file uses this driver.
int64_t take_chunk_offset(hid_t file);

// Must be called for each place that HDF5 allocates for bytes that others write; for marked chunks the driver does this
// itself. The place may contain space that HDF5 freed before. If `zeros`, what was written there is zero afterwards;
// space that was never used costs nothing. The file uses this driver.
Status take_place(hid_t file, Extent bytes, bool zeros);

// Nothing was written to a place that was taken, so its next owner needs no zeros. The file uses this driver.
void give_place_back(hid_t file, Extent bytes) noexcept;

// The end of what HDF5 has allocated. The file uses this driver.
int64_t end_of_space(hid_t file) noexcept;

// Copies bytes that aggregators wrote. An error is one of the storage: driver_failure(). The file uses this driver.
Status copy_bytes(hid_t file, Extent bytes, int64_t to);

// While one exists, elements that HDF5 writes over published data are buffered like its metadata, because texts and
// references refer to heaps and objects that readers cannot find yet. The dataset is closed before it ends. The file
// uses this driver.
class DeferredElements {
 public:
  explicit DeferredElements(hid_t file) noexcept;
  ~DeferredElements();
  DeferredElements(const DeferredElements&) = delete;
  DeferredElements& operator=(const DeferredElements&) = delete;

 private:
  hid_t file_;
};

// Writes bytes of a chunk to the file directly, as an aggregator does. The file uses this driver.
Status write_past(hid_t file, std::span<const std::byte> bytes, int64_t to);

// Reads bytes of the file as HDF5 sees them; zeros after its end. The file uses this driver.
Status read_place(hid_t file, int64_t offset, std::span<std::byte> bytes);
// A cache of data that was read from the file, emptied when HDF5 writes. nullptr if the file uses another driver.
std::shared_ptr<void>* cache_until_written(hid_t file) noexcept;

// The first storage error of an open file; outlives the file. After it nothing is written: readers find the state of
// the last publication or opening. Must be checked after every call that may write, including H5Fclose. nullptr if the
// file uses another driver.
std::shared_ptr<const Status> driver_failure(hid_t file);

// HDF5 has flushed the file: makes its changes visible to readers, or none of them after an error.
Status publish(hid_t file) noexcept;

// See Format::is_interrupted() and refuse_others(). The file uses this driver.
bool is_interrupted(hid_t file) noexcept;
Status refuse_others(hid_t file, bool on) noexcept;

// A new file has got its final name: takes the shared lock of the HDF5 library until the file is closed, so that other
// HDF5 programs do not change it. Not on network file systems, where the lock could cover the ranges that other ranks
// lock, and not if HDF5_USE_FILE_LOCKING turns it off. The file uses this driver.
void share_lock(hid_t file) noexcept;

// Nothing more is written: readers find what was published last. Only close may follow, and its status is ignored.
void drop_changes(hid_t file) noexcept;

}  // namespace windrow
