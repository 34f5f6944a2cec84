// SPDX-License-Identifier: BSD-3-Clause
#include "device.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>
#include <stdexcept>

namespace bench {
namespace {

// Volts; cm^-3; micrometres.
constexpr double k_thermal = 0.02585;          // kT/q at 300 K
constexpr double k_intrinsic_decades = 10.18;  // log10 of 1.5e10, silicon
constexpr double k_emitter = 0.55, k_base = -0.40,
                 k_collector = 0.35;  // potentials of the neutral regions against the intrinsic level
constexpr double k_collector_bias = 2.0, k_last_base_bias = 0.75;
constexpr double k_emitter_width = 0.05, k_well_width = 0.20;  // half of a junction's transition, without a bias
constexpr double k_drop = 0.05;                                // over the collector's resistance at the last bias
constexpr double k_least_decades = -30;                        // what float32 still holds as a normal number

struct Box {
  std::array<double, 3> low, high;
};
constexpr Box k_emitter_box{{3, 3.5, -1.0}, {5.5, 6.5, 1e3}};  // flush with the top face: no junction there
constexpr Box k_well_box{{2, 2, -2.2}, {9, 8, 1e3}};

// Distance to a box's surface, negative inside.
double distance(std::span<const double, 3> place, const Box& box) {
  double outside = 0, inside = -1e9;
  for (size_t d = 0; d < 3; ++d) {
    const double over = std::max(box.low[d] - place[d], place[d] - box.high[d]);
    outside += over > 0 ? over * over : 0;
    inside = std::max(inside, over);
  }
  return outside > 0 ? std::sqrt(outside) : inside;
}

// 1 deep inside, 0 far outside.
double step(double to_surface, double width) {
  const double x = to_surface / width;
  if (std::abs(x) > 20)
    return x < 0 ? 1 : 0;  // what tanh says too, sooner
  return 0.5 * (1 - std::tanh(x));
}

uint64_t mix(uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// The low bits of `value` become random; never a NaN, since exponents stay.
template <class Bits, class Value>
void store(Value value, uint64_t noise, int noise_bits, std::byte* out) {
  const Bits mask = static_cast<Bits>((Bits{1} << noise_bits) - 1);
  const Bits bits = static_cast<Bits>((std::bit_cast<Bits>(value) & ~mask) | (static_cast<Bits>(noise) & mask));
  std::memcpy(out, &bits, sizeof bits);
}

}  // namespace

Kind kind_of(const std::string& name) {
  if (name == "int32")
    return Kind::int32;
  if (name == "float32")
    return Kind::float32;
  if (name == "float64")
    return Kind::float64;
  throw std::runtime_error("no type \"" + name + "\"; there are int32, float32, float64");
}

Device::Device(const Sweep& sweep) : sweep_(sweep) {
  for (int64_t third = 0; third < 3; ++third) {
    const int64_t count = sweep.load * (third + 1) / 3 - sweep.load * third / 3;
    for (int64_t i = 0; i < count; ++i) {
      Bias bias;
      bias.base = k_last_base_bias * static_cast<double>(i) / static_cast<double>(std::max<int64_t>(1, count - 1));
      // The width of a depletion layer is proportional to the root of the voltage across it.
      const double across_emitter = k_emitter - k_base, across_well = k_collector - k_base;
      bias.emitter_width = k_emitter_width * std::sqrt((across_emitter - bias.base) / across_emitter);
      bias.well_width = k_well_width * std::sqrt((across_well + k_collector_bias - bias.base) / across_well);
      bias.drop = k_drop * std::exp((bias.base - k_last_base_bias) / k_thermal);
      biases_[static_cast<size_t>(third)].push_back(bias);
    }
  }
}

Device::Levels Device::levels(double to_emitter, double to_well, double depth, const Bias& bias) const {
  const double well = step(to_well, bias.well_width), emitter = step(to_emitter, bias.emitter_width);
  const double collector = k_collector + k_collector_bias - bias.drop * (1 - depth);
  const double base = k_base + bias.base;
  Levels result;
  result.potential = collector + well * (base - collector) + emitter * (k_emitter - base);
  const double electron_level = k_collector_bias * (1 - well);  // quasi-Fermi levels: 0 in the emitter,
  const double hole_level = bias.base;                          // the base's bias in the base
  const double decade = k_thermal * std::numbers::ln10;
  result.electrons = std::max(k_least_decades, k_intrinsic_decades + (result.potential - electron_level) / decade);
  result.holes = std::max(k_least_decades, k_intrinsic_decades + (hole_level - result.potential) / decade);
  return result;
}

void Device::fill(std::span<const double, 3> place, int64_t node, std::byte* out) const {
  const double to_emitter = distance(place, k_emitter_box), to_well = distance(place, k_well_box);
  const double depth = -place[2] / 6.0;
  uint64_t element = static_cast<uint64_t>(node * sweep_.load);
  for (size_t third = 0; third < 3; ++third)
    for (const Bias& bias : biases_[third]) {
      const Levels at = levels(to_emitter, to_well, depth, bias);
      const double value = third == 0 ? at.potential : third == 1 ? at.electrons : at.holes;
      const uint64_t noise = mix(element++);
      if (sweep_.kind == Kind::int32)
        store<uint32_t>(static_cast<int32_t>(std::lround(value * (third == 0 ? 1000 : 100))), noise, sweep_.noise_bits,
                        out);
      else if (sweep_.kind == Kind::float32)
        store<uint32_t>(static_cast<float>(third == 0 ? value : std::exp(value * std::numbers::ln10)), noise,
                        sweep_.noise_bits, out);
      else
        store<uint64_t>(third == 0 ? value : std::exp(value * std::numbers::ln10), noise, sweep_.noise_bits, out);
      out += size_of(sweep_.kind);
    }
}

void Entropy::add(const std::byte* elements, int64_t count) {
  const auto size = static_cast<size_t>(size_of(kind_));
  uint64_t before = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t value = 0;
    std::memcpy(&value, elements + static_cast<size_t>(i) * size, size);
    const uint64_t difference = value - before;
    for (size_t byte = 0; byte < size; ++byte) {
      ++counts_[byte * 256 + (value >> (8 * byte) & 255)];
      ++counts_[(8 + byte) * 256 + (difference >> (8 * byte) & 255)];
    }
    before = value;
  }
}

double Entropy::bits(size_t which) const {
  double sum = 0;
  for (size_t byte = 0; byte < static_cast<size_t>(size_of(kind_)); ++byte) {
    const auto first = counts_.begin() + static_cast<std::ptrdiff_t>((which * 8 + byte) * 256);
    int64_t all = 0;
    for (int value = 0; value < 256; ++value)
      all += first[value];
    for (int value = 0; value < 256; ++value)
      if (first[value] > 0) {
        const double share = static_cast<double>(first[value]) / static_cast<double>(all);
        sum -= share * std::log2(share);
      }
  }
  return sum;
}

}  // namespace bench
