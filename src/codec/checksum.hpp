// SPDX-License-Identifier: BSD-3-Clause
// Checksums. Messages: XXH32 with seed 0. Elements in files: XXH3 of 64 bits if the library xxHash is built in,
// otherwise XXH32, both of bytes that arrive in pieces. Source: xxHash fast digest algorithm, version 0.1.1 of its
// specification.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace windrow {

uint32_t xxh32(std::span<const std::byte> bytes) noexcept;

// XXH32 of bytes that arrive in pieces. The length of all pieces except the last is a multiple of 16 bytes.
class Xxh32 {
 public:
  void add(std::span<const std::byte> bytes) noexcept;
  uint32_t sum() const noexcept { return sum_; }  // of the bytes added so far

 private:
  static constexpr uint32_t k_prime_1 = 0x9e3779b1, k_prime_2 = 0x85ebca77;
  std::array<uint32_t, 4> lanes_{k_prime_1 + k_prime_2, k_prime_2, 0, 0u - k_prime_1};
  uint64_t bytes_ = 0;
  uint32_t sum_ = 0x02cc5d05;  // of no bytes
};

// These numbers are stored in files.
enum class SumKind : int64_t {
  xxh32 = 32,
  xxh3 = 3
};
SumKind best_sum() noexcept;
bool has_sum(SumKind kind) noexcept;

// Checksum of elements; pieces as for Xxh32.
class ElementSum {
 public:
  explicit ElementSum(SumKind kind);  // requires has_sum(kind); may throw std::bad_alloc
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
