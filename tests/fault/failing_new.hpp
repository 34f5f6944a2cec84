// SPDX-License-Identifier: BSD-3-Clause
// Replaces operator new of the whole program by one that fails on request. The library is linked into the test, so its
// allocations fail. MPI and HDF5 use malloc, which does not fail. Include it in one source file of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace windrow_test {

struct FailingNew {
  bool armed = false;
  int64_t fail_at = 0;    // the number of the allocation that fails, from 1; 0: none
  bool for_good = false;  // all later ones fail too
  int64_t count = 0;      // allocations since arm()
  int64_t failed = 0;

  void arm(int64_t at, bool all_after) { *this = {true, at, all_after, 0, 0}; }
  void disarm() { armed = false; }

  bool refuses() noexcept {
    if (!armed)
      return false;
    ++count;
    if (fail_at == 0 || count < fail_at || (count > fail_at && !for_good))
      return false;
    ++failed;
    return true;
  }
};

inline FailingNew failing_new;

inline void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (failing_new.refuses())
    return nullptr;
  if (size == 0)
    size = 1;
  return alignment <= alignof(std::max_align_t)
             ? std::malloc(size)
             : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

inline void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  void* memory = allocate(size, alignment);
  if (memory == nullptr)
    throw std::bad_alloc();
  return memory;
}

}  // namespace windrow_test

void* operator new(std::size_t size) {
  return windrow_test::allocate_or_throw(size, 1);
}
void* operator new[](std::size_t size) {
  return windrow_test::allocate_or_throw(size, 1);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return windrow_test::allocate(size, 1);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return windrow_test::allocate(size, 1);
}
void* operator new(std::size_t size, std::align_val_t a) {
  return windrow_test::allocate_or_throw(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, std::align_val_t a) {
  return windrow_test::allocate_or_throw(size, static_cast<std::size_t>(a));
}
void* operator new(std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return windrow_test::allocate(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return windrow_test::allocate(size, static_cast<std::size_t>(a));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(memory);
}
