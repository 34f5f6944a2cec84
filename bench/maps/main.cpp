// SPDX-License-Identifier: BSD-3-Clause
// bench-maps: from a decomposition map of E3SM-IO (CDF-5) to parts files, one a decomposition: OUTPUT.D1.parts,
// OUTPUT.D2.parts, ... Source of the format: repository Parallel-NetCDF/E3SM-IO, docs/map_file.md.
#include <mpi.h>
#include <pnetcdf.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "mesh/parts.hpp"

namespace {

using windrow::mesh::Part;

void require(int code, const std::string& what) {
  if (code != NC_NOERR)
    throw std::runtime_error(what + ": " + ncmpi_strerror(code));
}

std::vector<int> read_integers(int file, const std::string& name) {
  int variable = 0, dimension = 0;
  MPI_Offset size = 0;
  require(ncmpi_inq_varid(file, name.c_str(), &variable), name);
  require(ncmpi_inq_vardimid(file, variable, &dimension), name);
  require(ncmpi_inq_dimlen(file, dimension, &size), name);
  std::vector<int> values(static_cast<size_t>(size));
  require(ncmpi_get_var_int_all(file, variable, values.data()), name);
  return values;
}

// Every element has one holder here: all are owned.
Part read_part(const std::vector<int>& offsets, const std::vector<int>& lengths, size_t first, size_t count) {
  Part part;
  for (size_t request = first; request < first + count; ++request)
    for (int64_t i = 0; i < lengths.at(request); ++i)
      part.numbers.push_back(offsets.at(request) + i);
  part.owned.assign(part.numbers.size(), 1);
  return part;
}

void convert(int file, int k, const std::string& output) {
  const std::string name = "D" + std::to_string(k);
  MPI_Offset dimensions = 0;
  require(ncmpi_inq_attlen(file, NC_GLOBAL, (name + ".dims").c_str(), &dimensions), name + ".dims");
  std::vector<int> dims(static_cast<size_t>(dimensions));
  require(ncmpi_get_att_int(file, NC_GLOBAL, (name + ".dims").c_str(), dims.data()), name + ".dims");
  const auto counts = read_integers(file, name + ".nreqs"), offsets = read_integers(file, name + ".offsets"),
             lengths = read_integers(file, name + ".lengths");
  std::vector<Part> parts;
  size_t first = 0;
  for (int count : counts) {
    parts.push_back(read_part(offsets, lengths, first, static_cast<size_t>(count)));
    first += static_cast<size_t>(count);
  }
  const std::string path = output + "." + name + ".parts";
  windrow::mesh::write_parts(path, {dims.begin(), dims.end()}, 0, parts);
  std::printf("%s: %zu ranks, %zu requests\n", path.c_str(), counts.size(), offsets.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: bench-maps MAP.nc OUTPUT\n");
    return 2;
  }
  MPI_Init(&argc, &argv);
  int code = 0;
  try {
    int file = 0;
    MPI_Offset decompositions = 0;
    require(ncmpi_open(MPI_COMM_SELF, argv[1], NC_NOWRITE, MPI_INFO_NULL, &file), argv[1]);
    int dimension = 0;
    require(ncmpi_inq_dimid(file, "num_decomp", &dimension), "num_decomp");
    require(ncmpi_inq_dimlen(file, dimension, &decompositions), "num_decomp");
    for (int k = 1; k <= decompositions; ++k)
      convert(file, k, argv[2]);
    require(ncmpi_close(file), argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench-maps: %s\n", error.what());
    code = 1;
  }
  MPI_Finalize();
  return code;
}
