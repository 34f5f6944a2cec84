// SPDX-License-Identifier: BSD-3-Clause
#include "queueing/convert.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstring>
#include <limits>
#include <utility>

#include "base/half.hpp"
#include "format/number_types.hpp"

namespace windrow {
namespace {

template <class T>
inline constexpr bool k_is_complex = false;
template <class T>
inline constexpr bool k_is_complex<std::complex<T>> = true;

// Calls `work` with a value of the C++ type of `type`.
template <class Work>
int64_t with_type(Type type, const Work& work) {
  switch (type) {
    case Type::boolean:
      return work(bool{});
    case Type::complex64:
      return work(std::complex<float>{});
    case Type::complex128:
      return work(std::complex<double>{});
    default:
      return with_number(type, work, int64_t{0});
  }
}

template <std::floating_point From, std::integral To>
bool to_integer(From value, To& to) {
  if (std::isnan(value)) {
    to = 0;
    return false;
  }
  // Both bounds are powers of two or 0, so no floating-point type rounds them.
  const From whole = std::trunc(value), end = std::ldexp(From{1}, std::numeric_limits<To>::digits);
  if (whole < static_cast<From>(std::numeric_limits<To>::min())) {
    to = std::numeric_limits<To>::min();
    return false;
  }
  if (whole >= end) {
    to = std::numeric_limits<To>::max();
    return false;
  }
  to = static_cast<To>(whole);
  return true;
}

template <std::floating_point From, std::floating_point To>
bool to_float(From value, To& to) {
  constexpr auto k_most = std::numeric_limits<To>::max();
  if (std::isfinite(value) && std::abs(value) > k_most) {
    to = std::copysign(k_most, static_cast<To>(std::signbit(value) ? -1 : 1));
    return false;
  }
  to = static_cast<To>(value);
  return true;
}

// See to_float().
template <class From>
bool to_half(From value, Half& to) {
  const auto given = static_cast<double>(value);
  const bool fits = !std::isfinite(given) || std::abs(given) <= k_most_half;
  to = narrow(fits ? given : std::copysign(k_most_half, given));
  return fits;
}

// Whether the value fits; `to` is the nearest value.
template <class From, class To>
bool convert_one(From value, To& to) {
  if constexpr (std::same_as<From, Half> && std::same_as<To, Half>) {
    to = value;
    return true;
  } else if constexpr (std::same_as<From, Half>) {
    return convert_one(wide(value), to);
  } else if constexpr (k_is_complex<To>) {
    typename To::value_type real{}, imaginary{};
    bool fits = true;
    if constexpr (k_is_complex<From>) {
      fits = convert_one(value.real(), real);
      fits = convert_one(value.imag(), imaginary) && fits;
    } else {
      fits = convert_one(value, real);
    }
    to = To(real, imaginary);
    return fits;
  } else if constexpr (k_is_complex<From>) {
    return false;  // refused by is_convertible()
  } else if constexpr (std::same_as<To, Half>) {
    return to_half(value, to);
  } else if constexpr (std::same_as<To, bool>) {
    to = value != From{};
    return true;
  } else if constexpr (std::same_as<From, bool>) {
    to = static_cast<To>(value ? 1 : 0);
    return true;
  } else if constexpr (std::integral<To> && std::integral<From>) {
    const bool fits = std::in_range<To>(value);
    const To nearest = std::cmp_less(value, 0) ? std::numeric_limits<To>::min() : std::numeric_limits<To>::max();
    to = fits ? static_cast<To>(value) : nearest;
    return fits;
  } else if constexpr (std::integral<To>) {
    return to_integer(value, to);
  } else if constexpr (std::floating_point<From>) {
    return to_float(value, to);
  } else {
    to = static_cast<To>(value);
    return true;
  }
}

template <class T>
T load_one(const std::byte* at) {
  if constexpr (std::same_as<T, bool>) {
    return *at != std::byte{0};  // another byte in a bool would be undefined behaviour
  } else {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
}

constexpr Extent k_everywhere{0, INT64_MAX / 4};

template <class Convert>
int64_t for_pieces(PieceView runs, const Staged& staged, Convert&& convert_piece) noexcept {
  const int64_t stored = staged.stored_bytes;
  int64_t out_of_range = 0;
  for_each_piece(runs, k_everywhere, [&](const Piece& piece) {
    std::byte* memory = staged.memory + piece.memory / stored * staged.memory_bytes;
    out_of_range += convert_piece(memory, staged.bytes.get() + piece.memory, piece.length / stored);
  });
  return out_of_range;
}

constexpr std::byte k_blank{' '}, k_nul{0};

// The blanks at the end of each text become NULs. A text that fills its element gets no NUL, not even a
// null-terminated one.
int64_t blanks_to_nuls(const std::byte* in, std::byte* out, int64_t texts, int64_t bytes) noexcept {
  for (int64_t i = 0; i < texts; ++i, in += bytes, out += bytes) {
    const std::byte* end = in + bytes;
    while (end > in && end[-1] == k_blank)
      --end;
    std::fill(std::copy(in, end, out), out + bytes, k_nul);
  }
  return 0;
}

// A text ends at its first NUL, as in HDF5.
int64_t nuls_to_blanks(const std::byte* in, std::byte* out, int64_t texts, int64_t bytes) noexcept {
  for (int64_t i = 0; i < texts; ++i, in += bytes, out += bytes)
    std::fill(std::copy(in, std::find(in, in + bytes, k_nul), out), out + bytes, k_blank);
  return 0;
}

}  // namespace

bool is_convertible(Type from, Type to) noexcept {
  const auto is_complex = [](Type type) { return type == Type::complex64 || type == Type::complex128; };
  const auto is_real = [](Type type) {
    return (type >= Type::int8 && type <= Type::float64) || type == Type::float16 || type == Type::boolean;
  };
  return is_complex(to) ? is_complex(from) || is_real(from) : is_real(to) && is_real(from);
}

int64_t convert(Type from, const std::byte* in, Type to, std::byte* out, int64_t elements) noexcept {
  return with_type(from, [&]<class From>(From) {
    return with_type(to, [&]<class To>(To) {
      int64_t out_of_range = 0;
      for (int64_t i = 0; i < elements; ++i) {
        To value{};
        if (!convert_one(load_one<From>(in + i * static_cast<int64_t>(sizeof(From))), value))
          ++out_of_range;
        std::memcpy(out + i * static_cast<int64_t>(sizeof(To)), &value, sizeof value);
      }
      return out_of_range;
    });
  });
}

int64_t convert_in(PieceView runs, const Staged& staged) noexcept {
  return for_pieces(runs, staged, [&](const std::byte* memory, std::byte* bytes, int64_t elements) {
    if (staged.type == Type::text)
      return blanks_to_nuls(memory, bytes, elements, staged.stored_bytes);
    return convert(staged.type, memory, staged.stored, bytes, elements);
  });
}

int64_t convert_out(PieceView runs, const Staged& staged) noexcept {
  return for_pieces(runs, staged, [&](std::byte* memory, const std::byte* bytes, int64_t elements) {
    if (staged.type == Type::text)
      return nuls_to_blanks(bytes, memory, elements, staged.stored_bytes);
    return convert(staged.stored, bytes, staged.type, memory, elements);
  });
}

}  // namespace windrow
