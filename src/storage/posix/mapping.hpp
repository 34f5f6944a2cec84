// SPDX-License-Identifier: BSD-3-Clause
// Mapping: bytes of a file as memory, read from the page cache. If another program truncates the file or a disk fails,
// access to such a page raises SIGBUS, which would end the program. While a BusErrorGuard is held, the page is replaced
// by zeros, and the guard reports it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace windrow {

class Mapping {
 public:
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { drop(); }

  // Maps bytes [begin, end) of the file until drop() or another range is requested. False: the system refuses.
  bool cover(int descriptor, int64_t begin, int64_t end) noexcept;
  void drop() noexcept;
  const std::byte* at(int64_t offset) const noexcept { return memory_ + (offset - begin_); }  // for covered bytes

 private:
  friend class BusErrorGuard;
  std::byte* memory_ = nullptr;
  int64_t begin_ = 0, end_ = 0;  // begin_: at a page boundary
};

class BusErrorGuard {
 public:
  explicit BusErrorGuard(const Mapping& mapping) noexcept;
  ~BusErrorGuard();
  BusErrorGuard(const BusErrorGuard&) = delete;
  BusErrorGuard& operator=(const BusErrorGuard&) = delete;

  bool holds() const noexcept { return place_ >= 0; }  // false: too many guards; mapped memory must not be accessed
  bool failed() const noexcept;                        // some pages were unreadable and replaced by zeros

 private:
  int place_ = -1;
};

}  // namespace windrow
