// SPDX-License-Identifier: BSD-3-Clause
// What a simulator of semiconductor devices writes: at each node of a mesh the potential and the densities of electrons
// and holes, along a sweep of the base's voltage. A model in closed form of the transistor in
// examples/mesh/transistor.geo, not a solution. No MPI.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench {

// An element's type. Integers are millivolts and hundredths of a decade.
enum class Kind {
  int32,
  float32,
  float64
};
Kind kind_of(const std::string& name);  // throws std::runtime_error
inline int64_t size_of(Kind kind) {
  return kind == Kind::float64 ? 8 : 4;
}

// A node has `load` elements: a third of them potentials, a third densities of electrons, the rest of holes, each third
// at voltages that grow evenly from 0 to 0.75 V.
struct Sweep {
  int64_t load = 1;
  Kind kind = Kind::float32;
  int noise_bits = 0;  // so many low bits of each element are random: what an iteration leaves undecided
};

inline constexpr int k_most_noise_bits = 16;

class Device {
 public:
  explicit Device(const Sweep& sweep);
  // The elements of one node, `load` of them; the same on every rank that holds it. `place` in micrometres.
  void fill(std::span<const double, 3> place, int64_t node, std::byte* out) const;
  int64_t node_bytes() const { return sweep_.load * size_of(sweep_.kind); }

 private:
  struct Bias {
    double base = 0, emitter_width = 0, well_width = 0, drop = 0;
  };
  struct Levels {
    double potential = 0, electrons = 0, holes = 0;  // V, and decades of cm^-3
  };
  Levels levels(double to_emitter, double to_well, double depth, const Bias& bias) const;

  Sweep sweep_;
  std::array<std::vector<Bias>, 3> biases_;  // of each third
};

// How much a message can shrink at best, in bits an element. `noise` cannot shrink at all; the others are entropies of
// order 0, byte by byte of an element: of the elements themselves, and of each one's difference from the one before.
class Entropy {
 public:
  explicit Entropy(Kind kind) : kind_(kind) {}
  void add(const std::byte* elements, int64_t count);
  std::vector<int64_t>& counts() { return counts_; }  // to be summed over ranks
  double of_elements() const { return bits(0); }
  double of_differences() const { return bits(1); }

 private:
  double bits(size_t which) const;
  Kind kind_;
  std::vector<int64_t> counts_ = std::vector<int64_t>(2 * 8 * 256);  // [elements, differences][byte][value]
};

}  // namespace bench
