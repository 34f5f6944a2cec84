// SPDX-License-Identifier: BSD-3-Clause
// UnsetArray: a fixed array without initialization; elements must be set before they are read. Construction writes
// nothing. Objects that every flush constructs but few ranks use therefore cost no cache lines elsewhere.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace windrow {

template <class T, size_t count>
class UnsetArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  UnsetArray() noexcept {}  // NOLINT: not "= default", with which some forms of initialization write zeros
  static constexpr size_t size() noexcept { return count; }
  void set(size_t i, const T& value) noexcept { std::construct_at(data() + i, value); }
  const T& operator[](size_t i) const noexcept { return data()[i]; }  // element i has been set
  T* data() noexcept { return reinterpret_cast<T*>(bytes_); }
  const T* data() const noexcept { return reinterpret_cast<const T*>(bytes_); }

 private:
  alignas(T) std::byte bytes_[count * sizeof(T)];
};

}  // namespace windrow
