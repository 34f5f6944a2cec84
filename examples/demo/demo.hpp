// SPDX-License-Identifier: BSD-3-Clause
// What the demo's programs share: what is in the checkpoint, and which value each element must have.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>
#include <windrow/windrow.hpp>

#include "mesh/parts.hpp"

namespace demo {

// The fields: 100 values a node each, as a time series or a spectrum would be.
inline constexpr std::array k_fields{"fields/potential", "fields/electron_density", "fields/hole_density"};
inline constexpr int64_t k_levels = 100;

// Small enough to be exact in binary: every reader can compare bit for bit.
inline double field_value(size_t field, int64_t node, int64_t level) {
  return static_cast<double>(field * 65536) + static_cast<double>(node * 128 + level) / 1024;
}

// The grid: the device in a regular box, for an image of its doping.
using Index = std::array<int64_t, 3>;
inline constexpr Index k_grid{80, 96, 112};
inline constexpr int64_t k_ghosts = 2;
inline constexpr double k_ghost_value = -1;  // must never reach the file, nor be read over
inline double grid_value(int64_t z, int64_t y, int64_t x) {
  return static_cast<double>((z * k_grid[1] + y) * k_grid[2] + x) / 4;
}

// One rank's block of the grid, in a box with ghost cells on every side.
struct GridBlock {
  Index start{}, count{}, box{};
  static constexpr Index k_inside{k_ghosts, k_ghosts, k_ghosts};
  windrow::Decomposition decomposition(MPI_Comm comm) const {
    return windrow::Decomposition::block(comm, k_grid, start, count, box, k_inside);
  }
  // Calls visit(place in memory, z, y, x of the whole grid, whether it is a ghost cell) for every cell of the box.
  template <class Visit>
  void for_each_cell(Visit&& visit) const {
    size_t place = 0;
    for (int64_t z = start[0] - k_ghosts; z < start[0] + count[0] + k_ghosts; ++z)
      for (int64_t y = start[1] - k_ghosts; y < start[1] + count[1] + k_ghosts; ++y)
        for (int64_t x = start[2] - k_ghosts; x < start[2] + count[2] + k_ghosts; ++x)
          visit(place++, z, y, x, !inside(z, y, x));
  }
  bool inside(int64_t z, int64_t y, int64_t x) const {
    return z >= start[0] && z < start[0] + count[0] && y >= start[1] && y < start[1] + count[1] && x >= start[2] &&
           x < start[2] + count[2];
  }
  size_t cells() const { return static_cast<size_t>(box[0] * box[1] * box[2]); }
};
// `cut`: ranks along each dimension; their product is the number of ranks.
GridBlock grid_block(const std::array<int, 3>& cut, int rank);

// All that one rank writes, and how: the same for the demo's file and for every run of the table.
struct Checkpoint {
  Checkpoint(MPI_Comm comm, const std::string& parts);
  void fill(windrow::File& file) const;  // defines, puts, flushes; collective
  int64_t bytes() const;                 // in the file, without metadata

  int64_t nodes;             // of the whole mesh
  windrow::mesh::Part part;  // what this rank computes on: its nodes and, at the seams, copies of others
  GridBlock block;
  std::vector<std::vector<double>> fields;
  std::vector<double> grid;
  windrow::Decomposition points;
  windrow::Decomposition cells;
};

// Runs `work` and turns what it throws into one line and the end of the job. Initialises MPI and finalises it.
int run_program(int argc, char** argv, const char* name, int (*work)(const std::vector<std::string>& words));

}  // namespace demo
