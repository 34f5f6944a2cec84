// SPDX-License-Identifier: BSD-3-Clause
// Mapping: bytes of a file as memory, to be read where the system keeps them. A file that another program cuts short,
// or a disk that fails, raises SIGBUS at the touch of such a page, which would end the program: while a BusErrorGuard
// is held, the page is replaced by zeros instead, and the guard tells afterwards.
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

  // Bytes [begin, end) of the file, which stay mapped until drop() or until others are asked for. False: the system
  // will not.
  bool cover(int descriptor, int64_t begin, int64_t end) noexcept;
  void drop() noexcept;
  const std::byte* at(int64_t offset) const noexcept { return memory_ + (offset - begin_); }  // of covered bytes

 private:
  friend class BusErrorGuard;
  std::byte* memory_ = nullptr;
  int64_t begin_ = 0, end_ = 0;  // begin_: at a page
};

class BusErrorGuard {
 public:
  explicit BusErrorGuard(const Mapping& mapping) noexcept;
  ~BusErrorGuard();
  BusErrorGuard(const BusErrorGuard&) = delete;
  BusErrorGuard& operator=(const BusErrorGuard&) = delete;

  bool holds() const noexcept { return place_ >= 0; }  // false: too many at the same time; touch nothing
  bool failed() const noexcept;                        // some pages could not be read, and were zeros

 private:
  int place_ = -1;
};

}  // namespace windrow
