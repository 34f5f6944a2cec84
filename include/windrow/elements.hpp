// SPDX-License-Identifier: BSD-3-Clause
/**
 * @file elements.hpp
 * Element types, sizes, modes and options of the C++ interface: include windrow.hpp.
 */
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <windrow/error.hpp>

namespace windrow {
#if WINDROW_THROWS
inline namespace api {
#else
inline namespace status_api {
#endif

/** Supported element types: integers of 1 to 8 bytes, char but no other character type, bool, float, double, and
 * std::complex of these two. */
template <class T>
concept Element = std::same_as<T, std::remove_cvref_t<T>> &&
    ((std::integral<T> && !std::same_as<T, wchar_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t> &&
      sizeof(T) <= 8) ||
     std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::complex<float>> ||
     std::same_as<T, std::complex<double>>);

/** enum windrow_type of a C++ type.  `long` and `long long` by their size. */
template <Element T>
constexpr int type_of() noexcept {
  if constexpr (std::same_as<T, float>)
    return WINDROW_FLOAT32;
  else if constexpr (std::same_as<T, double>)
    return WINDROW_FLOAT64;
  else if constexpr (std::same_as<T, std::complex<float>>)
    return WINDROW_COMPLEX64;
  else if constexpr (std::same_as<T, std::complex<double>>)
    return WINDROW_COMPLEX128;
  else if constexpr (std::same_as<T, bool>)
    return WINDROW_BOOL;
  else if constexpr (sizeof(T) == 1)
    return std::signed_integral<T> ? WINDROW_INT8 : WINDROW_UINT8;
  else if constexpr (sizeof(T) == 2)
    return std::signed_integral<T> ? WINDROW_INT16 : WINDROW_UINT16;
  else if constexpr (sizeof(T) == 4)
    return std::signed_integral<T> ? WINDROW_INT32 : WINDROW_UINT32;
  else
    return std::signed_integral<T> ? WINDROW_INT64 : WINDROW_UINT64;
}

/** Contiguous elements that exist after the call: an lvalue container or array, or a view such as std::span. */
template <class Range>
concept Lasting = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    std::ranges::borrowed_range<Range> && Element<std::ranges::range_value_t<Range>>;

/** A contiguous multidimensional view, the last dimension fastest, such as std::mdspan, or Kokkos::View with
 * LayoutRight. */
template <class View>
concept Multidimensional = requires(const View& view) {
  { view.extent(0) } -> std::convertible_to<int64_t>;
  { view.stride(0) } -> std::convertible_to<int64_t>;
  { View::rank() } -> std::convertible_to<int64_t>;
}
&&(
    requires(const View& view) { view.data_handle(); } || requires(const View& view) { view.data(); });

template <Multidimensional View>
auto pointer_of(const View& view) {
  if constexpr (requires { view.data_handle(); })
    return view.data_handle();
  else
    return view.data();
}

/** A short list of sizes, copied: {3, 4}, or any contiguous int64_t: a vector, an array, a span.  One with more than 32
 * entries is refused by the call that takes it, so that every rank gets the error. */
class Sizes {
 public:
  Sizes() noexcept = default;  ///< "not given"; as a shape: a scalar
  Sizes(std::initializer_list<int64_t> list) : Sizes(std::span(list.begin(), list.size())) {}
  Sizes(std::span<const int64_t> list) noexcept : count_(list.size()) {
    std::ranges::copy(list.first(std::min(count_, sizes_.size())), sizes_.begin());
  }
  template <std::ranges::contiguous_range Range>
  requires std::same_as<std::ranges::range_value_t<Range>, int64_t> Sizes(const Range& list)
      : Sizes(std::span<const int64_t>(std::ranges::data(list), std::ranges::size(list))) {}

  const int64_t* data() const noexcept { return count_ == 0 ? nullptr : sizes_.data(); }
  int count() const noexcept { return static_cast<int>(count_); }
  /** Whether it has `dimensions` entries or was not given. */
  bool fits(int dimensions) const noexcept { return count_ == 0 || count() == dimensions; }

 private:
  std::array<int64_t, WINDROW_MAX_DIMENSIONS> sizes_{};
  size_t count_ = 0;
};

/** How a file is opened. */
enum class Mode : int {
  read = WINDROW_READ,
  update = WINDROW_UPDATE,
  update_or_create = WINDROW_UPDATE_OR_CREATE  ///< for ByteFile only
};

/** Options by key and text value; docs/settings.md lists the keys. */
class Options {
 public:
  Options() { check(windrow_options_create(&raw_)); }
  Options(std::initializer_list<std::pair<const char*, std::string>> list) : Options() {
    for (const auto& [key, value] : list)
      set(key, value);
  }
  Options(Options&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Options& operator=(Options&& other) noexcept { return std::swap(raw_, other.raw_), *this; }
  ~Options() { windrow_options_free(raw_); }

  Options& set(const std::string& key, const std::string& value) {
    check(windrow_options_set(raw_, key.c_str(), value.c_str()));
    return *this;
  }
  const windrow_options* get() const noexcept { return raw_; }

 private:
  windrow_options* raw_ = nullptr;
};

}  // namespace api or status_api
}  // namespace windrow
