// SPDX-License-Identifier: BSD-3-Clause
// Checksums: of messages, XXH32 with seed 0; of elements in files, XXH3 of 64 bits where the library xxHash is built
// in, else XXH32, of bytes that come piece by piece. Source: xxHash fast digest algorithm, version 0.1.1 of its
// specification.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace windrow {

uint32_t xxh32(std::span<const std::byte> bytes) noexcept;

// The same of bytes that come in pieces, all of which but the last are multiples of 16 bytes long.
class Xxh32 {
 public:
  void add(std::span<const std::byte> bytes) noexcept;
  uint32_t sum() const noexcept { return sum_; }  // of what was added

 private:
  static constexpr uint32_t k_prime_1 = 0x9e3779b1, k_prime_2 = 0x85ebca77;
  std::array<uint32_t, 4> lanes_{k_prime_1 + k_prime_2, k_prime_2, 0, 0u - k_prime_1};
  uint64_t bytes_ = 0;
  uint32_t sum_ = 0x02cc5d05;  // of none
};

// The numbers stand in files.
enum class SumKind : int64_t {
  xxh32 = 32,
  xxh3 = 3
};
SumKind best_sum() noexcept;
bool has_sum(SumKind kind) noexcept;

// Of elements; pieces as for Xxh32.
class ElementSum {
 public:
  explicit ElementSum(SumKind kind);  // which has_sum(); may throw std::bad_alloc
  ElementSum(ElementSum&&) noexcept;
  ~ElementSum();
  void add(std::span<const std::byte> bytes) noexcept;
  uint64_t sum() const noexcept;

 private:
  Xxh32 small_;
  struct Large;
  std::unique_ptr<Large> large_;
};

}  // namespace windrow
