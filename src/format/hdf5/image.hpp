// SPDX-License-Identifier: BSD-3-Clause
// All that HDF5 has written to a new file, without what others have: the same definitions in the same order give the same bytes once more.
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
  int64_t end = 0;                 // the file is at least so long
};

// To a file that is empty but for what others have written to it. May throw std::bad_alloc.
Status write_image(Store& store, const Image& image);

// What is written to a file, as it is written. Never throws.
class ImageRecord {
 public:
  void note(int64_t offset, std::span<const std::byte> bytes) noexcept;
  void spoil() noexcept;               // the file has bytes that come from elsewhere, or lacks some
  bool is_spoiled() const noexcept { return is_spoiled_; }
  void end(int64_t length) noexcept;   // the file is closed
  // Of a file that was closed; nullopt: it is spoiled, or too long to be kept. May throw std::bad_alloc.
  std::optional<Image> image() const;

 private:
  std::vector<Image::Stretch> writes_;  // in their order, over one another
  int64_t bytes_ = 0, end_ = -1;
  bool is_spoiled_ = false;
};

}  // namespace windrow
