// SPDX-License-Identifier: BSD-3-Clause
// Replaces operator new of the whole program by one that counts the bytes in use. The library is linked into the test,
// so its allocations are counted. MPI and HDF5 use malloc and are not counted. Include it in one source file of a
// program.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace windrow_test {

struct HeapUse {
  std::atomic<int64_t> now{0}, peak{0};  // bytes; a writer's I/O thread allocates too

  void begin() { peak = now.load(); }
  void add(int64_t bytes) noexcept {
    const int64_t sum = now += bytes;
    for (int64_t most = peak; sum > most && !peak.compare_exchange_weak(most, sum);) {}
  }
};

inline HeapUse heap_use;

inline void* counted_new(std::size_t size, std::size_t alignment) noexcept {
  if (size == 0)
    size = 1;
  void* memory = alignment <= alignof(std::max_align_t)
                     ? std::malloc(size)
                     : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory != nullptr)
    heap_use.add(static_cast<int64_t>(malloc_usable_size(memory)));
  return memory;
}

inline void* counted_new_or_throw(std::size_t size, std::size_t alignment) {
  void* memory = counted_new(size, alignment);
  if (memory == nullptr)
    throw std::bad_alloc();
  return memory;
}

inline void counted_delete(void* memory) noexcept {
  if (memory != nullptr)
    heap_use.add(-static_cast<int64_t>(malloc_usable_size(memory)));
  std::free(memory);
}

}  // namespace windrow_test

void* operator new(std::size_t size) {
  return windrow_test::counted_new_or_throw(size, 1);
}
void* operator new[](std::size_t size) {
  return windrow_test::counted_new_or_throw(size, 1);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return windrow_test::counted_new(size, 1);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return windrow_test::counted_new(size, 1);
}
void* operator new(std::size_t size, std::align_val_t a) {
  return windrow_test::counted_new_or_throw(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, std::align_val_t a) {
  return windrow_test::counted_new_or_throw(size, static_cast<std::size_t>(a));
}
void* operator new(std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return windrow_test::counted_new(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return windrow_test::counted_new(size, static_cast<std::size_t>(a));
}
void operator delete(void* memory) noexcept {
  windrow_test::counted_delete(memory);
}
void operator delete[](void* memory) noexcept {
  windrow_test::counted_delete(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  windrow_test::counted_delete(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  windrow_test::counted_delete(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  windrow_test::counted_delete(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  windrow_test::counted_delete(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  windrow_test::counted_delete(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  windrow_test::counted_delete(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  windrow_test::counted_delete(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  windrow_test::counted_delete(memory);
}
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  windrow_test::counted_delete(memory);
}
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  windrow_test::counted_delete(memory);
}
