// SPDX-License-Identifier: BSD-3-Clause
// A growing byte buffer whose memory is not initialised, and is reused from chunk to chunk.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

namespace windrow {

class ByteBuffer {
 public:
  ByteBuffer() = default;
  // In borrowed memory, as long as that is large enough.
  explicit ByteBuffer(std::span<std::byte> lent) noexcept : memory_(lent) {}
  ByteBuffer(const ByteBuffer&) = delete;
  ByteBuffer& operator=(const ByteBuffer&) = delete;

  std::span<const std::byte> bytes() const noexcept { return memory_.first(size_); }
  size_t size() const noexcept { return size_; }
  void clear() noexcept { size_ = 0; }

  // Space for this many bytes at the end; add() appends how many of them were written. May throw std::bad_alloc.
  std::span<std::byte> room(size_t bytes) {
    if (memory_.size() - size_ < bytes) {
      const size_t larger = size_ == 0 ? bytes : std::max(size_ + bytes, 2 * memory_.size());
      if (size_ == 0)
        own_.reset();  // not both at the same time
      std::unique_ptr<std::byte[]> grown(new std::byte[larger]);
      if (size_ > 0)
        std::memcpy(grown.get(), memory_.data(), size_);
      own_ = std::move(grown);
      memory_ = {own_.get(), larger};
    }
    return memory_.subspan(size_, bytes);
  }
  void add(size_t bytes) noexcept { size_ += bytes; }
  void append(std::span<const std::byte> bytes) {
    if (bytes.empty())
      return;
    std::memcpy(room(bytes.size()).data(), bytes.data(), bytes.size());
    add(bytes.size());
  }

 private:
  std::unique_ptr<std::byte[]> own_;
  std::span<std::byte> memory_;
  size_t size_ = 0;
};

}  // namespace windrow
