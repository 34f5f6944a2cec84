// SPDX-License-Identifier: BSD-3-Clause
#include "demo.hpp"

#include <cstdio>
#include <stdexcept>

namespace demo {

GridBlock grid_block(const std::array<int, 3>& cut, int rank) {
  const Index place{rank / (cut[1] * cut[2]), rank / cut[2] % cut[1], rank % cut[2]};
  GridBlock block;
  for (size_t d = 0; d < 3; ++d) {
    block.start[d] = k_grid[d] * place[d] / cut[d];
    block.count[d] = k_grid[d] * (place[d] + 1) / cut[d] - block.start[d];
    block.box[d] = block.count[d] + 2 * k_ghosts;
  }
  return block;
}

namespace {

windrow::mesh::Part part_of_rank(MPI_Comm comm, const std::string& parts) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const auto header = windrow::mesh::read_parts_header(parts);
  if (header.parts != size || header.components != 3)
    throw std::runtime_error(parts + " has not one part in space for each rank");
  return windrow::mesh::read_part(parts, rank);
}

GridBlock block_of_rank(MPI_Comm comm) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  std::array<int, 3> cut{};
  MPI_Dims_create(size, 3, cut.data());
  return grid_block(cut, rank);
}

}  // namespace

Checkpoint::Checkpoint(MPI_Comm comm, const std::string& parts)
    : nodes(windrow::mesh::read_parts_header(parts).points),
      part(part_of_rank(comm, parts)),
      block(block_of_rank(comm)),
      points(windrow::Decomposition::points(comm, nodes, part.numbers, part.owned)),
      cells(block.decomposition(comm)) {
  for (size_t field = 0; field < k_fields.size(); ++field) {
    fields.emplace_back();
    fields.back().reserve(part.numbers.size() * k_levels);
    for (int64_t node : part.numbers)
      for (int64_t level = 0; level < k_levels; ++level)
        fields.back().push_back(field_value(field, node, level));
  }
  grid.resize(block.cells());
  block.for_each_cell([this](size_t place, int64_t z, int64_t y, int64_t x, bool ghost) {
    grid[place] = ghost ? k_ghost_value : grid_value(z, y, x);
  });
}

void Checkpoint::fill(windrow::File& file) const {
  const int coordinates = file.define_variable<double>("mesh/coordinates", {nodes, 3});
  file.put(coordinates, points, part.coordinates);
  for (size_t field = 0; field < k_fields.size(); ++field)
    file.put(file.define_variable<double>(k_fields[field], {nodes, k_levels}), points, fields[field]);
  const int doping = file.define_variable<double>("grid/doping", k_grid);
  file.put(doping, cells, grid);
  file.put_attribute("/", "title", "A planar bipolar transistor, written by the Windrow demo");
  file.put_attribute("mesh/coordinates", "units", "um");
  file.put_attribute("fields/potential", "units", "V");
  file.put_attribute("fields/electron_density", "units", "cm^-3");
  file.put_attribute("fields/hole_density", "units", "cm^-3");
  file.put_attribute("grid", "spacing", std::vector<double>{0.075, 0.104, 0.107});
  file.put_attribute("grid", "ghost_cells_in_memory", static_cast<int32_t>(k_ghosts));
  file.flush();
}

int64_t Checkpoint::bytes() const {
  const int64_t per_node = 3 + static_cast<int64_t>(k_fields.size()) * k_levels;
  return 8 * (nodes * per_node + k_grid[0] * k_grid[1] * k_grid[2]);
}

int run_program(int argc, char** argv, const char* name, int (*work)(const std::vector<std::string>& words)) {
  MPI_Init(&argc, &argv);
  int code = 1;
  try {
    code = work({argv + 1, argv + argc});
  } catch (const windrow::Error& error) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (error.rank() == rank || error.rank() < 0)
      std::fprintf(stderr, "%s: %s\n", name, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return code;
}

}  // namespace demo
