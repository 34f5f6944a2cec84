// SPDX-License-Identifier: BSD-3-Clause
// The device of mesh/transistor.geo, a planar n-p-n transistor of silicon, and its physics:
//
//     div(epsilon grad psi) = -q (p - n + D)      n = ni exp((psi - phi_n) / Vt)      p = ni exp((phi_p - psi) / Vt)
//
// psi is the electrostatic potential, D donors minus acceptors; the quasi-Fermi levels phi_n and phi_p are given, one
// value a region: no current flows. The program has lengths in um, potentials in Vt, densities in 1e16 cm^-3:
//
//     div(k_lambda grad u) = n - p - D            n = k_intrinsic exp(u - phi_n)      p = k_intrinsic exp(phi_p - u)
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

namespace transistor {

using Place = std::array<double, 3>;  // x, y, z in um; the top face is z = 0, the bottom z = -6

inline constexpr double k_thermal = 0.025852;                                             // V: kT/q at 300 K
inline constexpr double k_density = 1e16;                                                 // cm^-3
inline constexpr double k_intrinsic = 1e10 / k_density;                                   // ni
inline constexpr double k_epsilon = 11.7 * 8.8541878e-14, k_charge = 1.6021766e-19;       // F/cm, C
inline constexpr double k_lambda = k_epsilon * k_thermal / (k_charge * k_density) * 1e8;  // um^2
inline constexpr double k_emitter_peak = 100, k_base_peak = 2, k_collector_doping = 0.1;  // in k_density
inline constexpr double k_emitter_length = 0.25, k_base_length = 0.4;                     // um

struct Box {
  Place low, high;
  bool holds(const Place& place) const {
    for (size_t d = 0; d < 3; ++d)
      if (place[d] < low[d] || place[d] > high[d])
        return false;
    return true;
  }
};
// The boxes of transistor.geo, open at the top; the contacts of emitter and base on top of them, the collector's below.
inline constexpr Box k_emitter{{3, 3.5, -1}, {5.5, 6.5, 1}}, k_base{{2, 2, -2.2}, {9, 8, 1}};
inline constexpr std::array<Box, 3> k_contacts{
    {{{3.5, 4, -1e-6}, {5, 6, 1}}, {{6.5, 3, -1e-6}, {8.3, 7, 1}}, {{-1, -1, -7}, {13, 11, -6 + 1e-6}}}};
inline constexpr std::array k_contact_names{"emitter", "base", "collector"};
using Voltages = std::array<double, 3>;  // V, of the contacts

// A Gaussian well: `peak` inside, and at the faces of `box` as much as `background`.
inline double well(const Place& place, const Box& box, double peak, double background, double length) {
  const double margin = length * std::sqrt(std::log(peak / background));
  double squared = 0;  // distance to a box that is smaller by the margin
  for (size_t d = 0; d < 3; ++d) {
    const double outside = std::max({0.0, box.low[d] + margin - place[d], place[d] - (box.high[d] - margin)});
    squared += outside * outside;
  }
  return peak * std::exp(-squared / (length * length));
}

// Donors minus acceptors.
inline double doping_at(const Place& place) {
  return k_collector_doping - well(place, k_base, k_base_peak, k_collector_doping, k_base_length) +
         well(place, k_emitter, k_emitter_peak, k_base_peak, k_emitter_length);
}

// 0, 1, 2 of k_contacts, or -1.
inline int contact_at(const Place& place) {
  for (int i = 0; i < 3; ++i)
    if (k_contacts[static_cast<size_t>(i)].holds(place))
      return i;
  return -1;
}

// The potential where the charge vanishes, far from junctions and at ohmic contacts, against the majority's level.
inline double neutral_potential(double doping) {
  return std::asinh(doping / (2 * k_intrinsic));
}

}  // namespace transistor
