// SPDX-License-Identifier: BSD-3-Clause
// Bytes of a file: all that HDF5 has written to a new one, without what others have (the same definitions in the same order give the same bytes once more); or all
// that it has read of one (the same bytes tell the same once more).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "storage/store.hpp"

namespace windrow {

struct Image {
  struct Stretch {
    int64_t offset = 0;
    std::vector<std::byte> bytes;
  };
  std::vector<Stretch> stretches;  // ascending, apart from one another
  int64_t end = 0;                 // how long the file is; one that was written: at least
};

// To a file that is empty but for what others have written to it. May throw std::bad_alloc.
Status write_image(Store& store, const Image& image);

// Whether a file is as long and has these bytes. May throw std::bad_alloc.
Result<bool> matches(Store& store, const Image& image);

// What HDF5 writes to a file, or what it reads of one, in its order. Never throws.
class ImageRecord {
 public:
  enum class Of { writes, reads };
  explicit ImageRecord(Of what) noexcept : what_(what) {}
  bool is_of_reads() const noexcept { return what_ == Of::reads; }
  void note(int64_t offset, std::span<const std::byte> bytes) noexcept;
  void spoil() noexcept;               // the file has bytes that come from elsewhere, or lacks some, or nobody wants to know
  bool is_spoiled() const noexcept { return is_spoiled_; }
  void note_lock() noexcept { asks_for_lock_ = true; }
  bool asks_for_lock() const noexcept { return asks_for_lock_; }  // HDF5 wants what it reads locked, whether that was possible or not
  void end(int64_t length) noexcept;   // how long the file is
  // Once the length is known; nullopt: it is spoiled, or too long to be kept, or of what was read one byte was this once and that then. May throw std::bad_alloc.
  std::optional<Image> image() const;

 private:
  Of what_;
  std::vector<Image::Stretch> noted_;  // in their order, over one another
  int64_t bytes_ = 0, end_ = -1;
  bool is_spoiled_ = false, asks_for_lock_ = false;
};

}  // namespace windrow
