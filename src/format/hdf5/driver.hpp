// SPDX-License-Identifier: BSD-3-Clause
// The driver through which HDF5 reaches a file: the bytes of a store, and what went wrong with them. HDF5 itself is
// never told of a write that failed: it would leave the file half closed (see driver.cpp).
#pragma once

#include <hdf5.h>

#include <functional>
#include <memory>
#include <span>

#include "base/status.hpp"
#include "extent/extent.hpp"
#include "storage/store.hpp"

namespace windrow {

// The file that is to be opened with a list of settings, open already: an opening costs a word with the file system's
// servers.
struct Opening {
  std::unique_ptr<Store> store;  // taken by the first opening; those after it open the file themselves
  bool create = false;           // the file is empty
  bool durable = false;          // see FormatOptions
};

// Makes a list of file access settings use the driver. `opening` outlives the list.
herr_t set_driver(hid_t access, Opening& opening);

// Chunks go past HDF5: it is told of a chunk's size only (H5Dwrite_chunk with chunk_marker() for the bytes) and finds
// room for it; the driver knows the marker, drops that one write, and says where it would have gone. H5Dread_chunk into
// the marker: where the chunk lies. By the marker's address and nothing else: references and texts of variable length
// are "raw data" for HDF5 too, and must be written.
void* chunk_marker() noexcept;
// Where the marker went last, from the file's start; -1: nowhere since the last call. The file has this driver.
int64_t take_chunk_offset(hid_t file);

// To be told of a place that HDF5 has given to bytes which others write, as of a marked chunk it is. What it gave back
// before is among what it gives: where `zeros`, all that may have been written there is zero afterwards. Room that the
// file never used costs nothing. The file has this driver.
Status take_place(hid_t file, Extent bytes, bool zeros);

// Nothing was written to a place that was taken: whoever gets it next need not be told of zeros. The file has this
// driver.
void give_place_back(hid_t file, Extent bytes) noexcept;

// Bytes that others wrote, to another place. What fails is the storage's refusal: driver_failure(). The file has this
// driver.
Status copy_bytes(hid_t file, Extent bytes, int64_t to);

// As long as it lives, elements that HDF5 writes over what is published come into the file with all else that is held:
// texts and references lead into heaps and to objects that nobody finds before. The dataset is closed meanwhile. The
// file has this driver.
class DeferredElements {
 public:
  explicit DeferredElements(hid_t file) noexcept;
  ~DeferredElements();
  DeferredElements(const DeferredElements&) = delete;
  DeferredElements& operator=(const DeferredElements&) = delete;

 private:
  hid_t file_;
};

// Bytes of a chunk, as others write them. The file has this driver.
Status write_past(hid_t file, std::span<const std::byte> bytes, int64_t to);

// Bytes of the file as HDF5 reads them. Behind its end are zeros. The file has this driver.
Status read_place(hid_t file, int64_t offset, std::span<std::byte> bytes);
// A place for what was learnt from the file's bytes: emptied when HDF5 writes any. nullptr: the file has another
// driver.
std::shared_ptr<void>* kept_until_written(hid_t file) noexcept;

// As long as it lives, HDF5 gets the first collection of the global heap that it reads only where `admit` says so: it
// follows what it finds there. The file has this driver.
class GuardedHeaps {
 public:
  GuardedHeaps(hid_t file, const std::function<bool()>& admit) noexcept;
  ~GuardedHeaps();
  GuardedHeaps(const GuardedHeaps&) = delete;
  GuardedHeaps& operator=(const GuardedHeaps&) = delete;

 private:
  void* driver_;  // not the file: to ask HDF5 for it would empty its stack of errors
};
// Whether HDF5 has read one, and may have it in memory. The file has this driver.
bool has_read_heaps(hid_t file) noexcept;

// The first thing that the storage refused to an open file; outlives the file. After it nothing more is written: others
// find what they found since the file was opened or published. To be looked at after every call that may write,
// H5Fclose included. Null: the file has another driver.
std::shared_ptr<const Status> driver_failure(hid_t file);

// HDF5 has flushed the file: what it has changed is what others find from now on; or nothing of it, after an error.
Status publish(hid_t file) noexcept;

// Nothing more is written: others find what was published last. Only closing may follow, and its status says nothing.
void drop_changes(hid_t file) noexcept;

}  // namespace windrow
