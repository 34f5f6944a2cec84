// SPDX-License-Identifier: BSD-3-Clause
// Memory that ends at a protected page. Sanitizers do not check the assembler code of libraries, but it crashes here at
// the first byte after the end.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <stdexcept>

namespace windrow {

class Guarded {
 public:
  explicit Guarded(size_t most) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    bytes_ = (most + page - 1) / page * page;
    whole_ = bytes_ + page;
    memory_ = ::mmap(nullptr, whole_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED || ::mprotect(static_cast<std::byte*>(memory_) + bytes_, page, PROT_NONE) != 0)
      throw std::runtime_error("no memory with a guard behind it");
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { ::munmap(memory_, whole_); }

  std::span<std::byte> last(size_t size) const { return {static_cast<std::byte*>(memory_) + bytes_ - size, size}; }

 private:
  size_t bytes_ = 0, whole_ = 0;
  void* memory_ = nullptr;
};

}  // namespace windrow
