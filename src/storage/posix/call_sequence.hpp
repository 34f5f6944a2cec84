// SPDX-License-Identifier: BSD-3-Clause
// Divides one request of a store into system calls with several slices each.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <span>
#include <type_traits>

#include "base/copy.hpp"
#include "storage/slices.hpp"

namespace windrow {

// Linux moves at most 0x7ffff000 bytes in one call (read(2), NOTES); other systems reject more than INT_MAX.
inline constexpr int64_t k_call_bytes = 0x7ffff000;
inline constexpr size_t k_batch_slices = 1024;
static_assert(k_batch_slices <= IOV_MAX);

// Divides slices into batches of one call each, and keeps track of the position.
template <class SliceType>
class SliceCursor {
 public:
  explicit SliceCursor(std::span<const SliceType> slices) noexcept : slices_(slices) {}

  // At most `limit` bytes.
  size_t fill(std::span<iovec> batch, int64_t limit) const noexcept {
    size_t used = 0;
    int64_t bytes = 0;
    int64_t skip = skip_;
    for (size_t i = index_; i < slices_.size() && used < batch.size() && bytes < limit; ++i, skip = 0) {
      const int64_t take = std::min(slices_[i].size - skip, limit - bytes);
      if (take == 0)
        continue;
      // iovec serves both directions and therefore has no const.
      batch[used++] = {const_cast<std::byte*>(slices_[i].data) + skip, static_cast<size_t>(take)};
      bytes += take;
    }
    return used;
  }

  // The rest of the current slice.
  SliceType front() const noexcept {
    for (size_t i = index_, skip = static_cast<size_t>(skip_); i < slices_.size(); ++i, skip = 0)
      if (slices_[i].size > static_cast<int64_t>(skip))
        return {slices_[i].data + skip, slices_[i].size - static_cast<int64_t>(skip)};
    return {};
  }

  void advance(int64_t bytes) noexcept {
    skip_ += bytes;
    while (index_ < slices_.size() && skip_ >= slices_[index_].size)
      skip_ -= slices_[index_++].size;
  }

 private:
  std::span<const SliceType> slices_;
  size_t index_ = 0;
  int64_t skip_ = 0;  // bytes of slices_[index_] that are done
};

inline int64_t bytes_of(std::span<const iovec> batch) noexcept {
  size_t total = 0;
  for (const iovec& part : batch)
    total += part.iov_len;
  return static_cast<int64_t>(total);
}

// The kernel copies from the page cache to some addresses slowly (base/copy.hpp). A small buffer half a page away,
// which stays in cache, is filled and emptied fast.
class BouncePage {
 public:
  static bool pays(const Slice& slice, int64_t offset) noexcept {
    return slice.size >= k_least_bytes && copies_slowly(address_of(slice.data), static_cast<uint64_t>(offset));
  }

  std::byte* place(int64_t offset) noexcept {
    return memory_.data() + (static_cast<uint64_t>(offset) + k_page / 2 - address_of(memory_.data())) % k_page;
  }

  static constexpr int64_t k_bytes = 1 << 16;

 private:
  static constexpr int64_t k_least_bytes = 4096;
  static constexpr size_t k_page = 4096;
  std::array<std::byte, static_cast<size_t>(k_bytes) + k_page> memory_;
};

// Keeps the first half of the bytes, at least one.
inline std::span<iovec> first_half(std::span<iovec> batch) noexcept {
  size_t left = static_cast<size_t>(std::max<int64_t>(bytes_of(batch) / 2, 1));
  for (size_t i = 0; i < batch.size(); ++i) {
    batch[i].iov_len = std::min(batch[i].iov_len, left);
    left -= batch[i].iov_len;
    if (left == 0)
      return batch.first(i + 1);
  }
  return batch;
}

// The calls of one request. A long request takes several calls, and a short transfer is continued:
//   while (done() < TOTAL) { next(); ...move what fits...; advance(MOVED); }
template <class SliceType>
class CallSequence {
 public:
  // `most_bytes`: of one call. `bounces`: reads may go through a BouncePage.
  CallSequence(std::span<const SliceType> slices, int64_t offset, int64_t most_bytes, bool bounces) noexcept
      : cursor_(slices), offset_(offset), most_bytes_(most_bytes), bounces_(bounces) {}

  int64_t done() const noexcept { return done_; }
  // Whether the next call is counted as a request; otherwise it is the rest of one.
  bool counts() const noexcept { return counts_; }

  // The parts of the next call, which are valid until the next one.
  std::span<iovec> next() noexcept {
    if (done_ >= request_end_) {
      request_end_ = done_ + bytes_of(fill(k_call_bytes));
      counts_ = true;
    }
    const std::span<iovec> asked = choose_parts();
    asked_bytes_ = bytes_of(asked);
    return asked;
  }

  void advance(int64_t moved) noexcept {
    if (bounced_ != nullptr)
      std::memcpy(bounced_, batch_[0].iov_base, static_cast<size_t>(moved));
    counts_ = moved < asked_bytes_;
    done_ += moved;
    cursor_.advance(moved);
  }

 private:
  std::span<iovec> fill(int64_t limit) noexcept { return std::span(batch_).first(cursor_.fill(batch_, limit)); }

  std::span<iovec> choose_parts() noexcept {
    bounced_ = nullptr;
    if constexpr (std::is_same_v<SliceType, Slice>)
      if (const Slice front = cursor_.front(); bounces_ && BouncePage::pays(front, offset_ + done_))
        return bounce(front);
    return fill(std::min(most_bytes_, request_end_ - done_));
  }

  std::span<iovec> bounce(const Slice& front) noexcept {
    bounced_ = front.data;
    const int64_t bytes = std::min({BouncePage::k_bytes, front.size, request_end_ - done_});
    batch_[0] = {page_.place(offset_ + done_), static_cast<size_t>(bytes)};
    return std::span(batch_).first(1);
  }

  SliceCursor<SliceType> cursor_;
  int64_t offset_;
  int64_t most_bytes_;
  bool bounces_;
  bool counts_ = true;
  int64_t done_ = 0;
  int64_t request_end_ = 0;
  int64_t asked_bytes_ = 0;
  std::byte* bounced_ = nullptr;  // where the bytes of the page belong
  std::array<iovec, k_batch_slices> batch_;
  BouncePage page_;
};

}  // namespace windrow
