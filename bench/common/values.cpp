// SPDX-License-Identifier: BSD-3-Clause
#include "values.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

namespace bench {
namespace {

// Neighbouring elements, variables and repetitions differ in high and low bits (multipliers of splitmix64).
inline uint64_t mix(uint64_t element, uint64_t seed) {
  uint64_t x = element * 0x9E3779B97F4A7C15u + seed;
  x ^= x >> 29;
  return x * 0xBF58476D1CE4E5B9u;
}

// Never a NaN: converters may change its bits.
template <class T>
inline T value(uint64_t element, uint64_t seed) {
  const uint64_t x = mix(element, seed);
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(x >> 11);
  return static_cast<T>(static_cast<int32_t>(x >> 41));  // 23 bits: exact as float32
}

template <class T>
void fill_as(uint64_t seed, int64_t first, int64_t count, std::byte* out) {
  for (int64_t i = 0; i < count; ++i) {
    const T next = value<T>(static_cast<uint64_t>(first + i), seed);
    std::memcpy(out + i * static_cast<int64_t>(sizeof(T)), &next, sizeof(T));
  }
}

// Smooth values: a product of one wave along each dimension, about a mean; full doubles, nothing rounded. The waves are
// kept: the same array is filled and checked in many calls.
class Waves {
 public:
  explicit Waves(const Pattern& pattern) : pattern_(pattern) {
    const double phase = 0.37 * static_cast<double>(pattern.repetition) + static_cast<double>(pattern.variable);
    for (size_t d = 0; d < 3; ++d)
      for (int64_t i = 0; i < pattern.smooth[d]; ++i)
        along_[d].push_back(
            std::sin(phase + 2 * std::numbers::pi * static_cast<double>((d + 1) * static_cast<size_t>(i)) /
                                 static_cast<double>(pattern.smooth[d])));
  }
  bool of(const Pattern& pattern) const {
    return pattern_.smooth == pattern.smooth && pattern_.variable == pattern.variable &&
           pattern_.repetition == pattern.repetition;
  }
  double at(int64_t element) const {
    const int64_t x = element % pattern_.smooth[2], y = element / pattern_.smooth[2] % pattern_.smooth[1],
                  z = element / pattern_.smooth[2] / pattern_.smooth[1];
    return 290.0 + 25.0 * along_[0][static_cast<size_t>(z)] * along_[1][static_cast<size_t>(y)] *
                       along_[2][static_cast<size_t>(x)];
  }

 private:
  Pattern pattern_;
  std::array<std::vector<double>, 3> along_;
};

void fill_smooth(const Pattern& pattern, int64_t first, int64_t count, std::byte* out) {
  static Waves waves(pattern);
  if (!waves.of(pattern))
    waves = Waves(pattern);
  for (int64_t i = 0; i < count; ++i) {
    const double next = waves.at(first + i);
    std::memcpy(out + i * static_cast<int64_t>(sizeof next), &next, sizeof next);
  }
}

template <class F>
void with_type(const Pattern& pattern, F&& work) {
  const uint64_t seed = pattern.variable * 0xD1B54A32D192ED03u + pattern.repetition * 0x8CB92BA72F3D8DD7u;
  switch (pattern.type) {
    case ElementType::int32:
      return work(int32_t{}, seed);
    case ElementType::float32:
      return work(float{}, seed);
    case ElementType::float64:
      return work(double{}, seed);
  }
}

}  // namespace

void fill(const Pattern& pattern, int64_t first, int64_t count, std::byte* out) {
  if (!pattern.smooth.empty())
    return fill_smooth(pattern, first, count, out);
  with_type(pattern, [&](auto zero, uint64_t seed) { fill_as<decltype(zero)>(seed, first, count, out); });
}

int64_t first_wrong(const Pattern& pattern, int64_t first, int64_t count, const std::byte* bytes, bool big_endian) {
  constexpr int64_t k_batch = 512;
  std::byte expected[k_batch * 8];
  const int64_t size = element_size(pattern.type);
  for (int64_t done = 0; done < count; done += k_batch) {
    const int64_t batch = std::min(k_batch, count - done);
    fill(pattern, first + done, batch, expected);
    if (big_endian != (std::endian::native == std::endian::big))
      for (int64_t i = 0; i < batch; ++i)
        std::reverse(expected + i * size, expected + (i + 1) * size);
    const std::byte* actual = bytes + done * size;
    if (std::memcmp(expected, actual, static_cast<size_t>(batch * size)) == 0)
      continue;
    for (int64_t i = 0; i < batch; ++i)
      if (std::memcmp(expected + i * size, actual + i * size, static_cast<size_t>(size)) != 0)
        return first + done + i;
  }
  return -1;
}

}  // namespace bench
