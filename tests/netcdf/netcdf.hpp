// SPDX-License-Identifier: BSD-3-Clause
// Helpers of tests of netCDF classic files: arrays whose values identify their elements, PnetCDF on rank 0, and
// ncvalidator.
#pragma once

#include <pnetcdf.h>
#include <sys/stat.h>

#include <cstdlib>
#include <windrow/windrow.hpp>

#include "../capi/checked.hpp"

#define EXPECT_NC(call) EXPECT_EQ(ncmpi_strerrno(call), std::string("NC_NOERR"))

namespace windrow_test {

// This rank's rows of [ny][nx], the array of a record or of a variable without records. Ranks get different numbers of
// rows, and the last of many ranks gets none.
struct Part {
  int64_t first = 0, rows = 0;
};
inline Part part_of(int64_t ny) {
  const int64_t ranks = size_of() > 2 ? size_of() - 1 : size_of();
  if (rank_of() >= ranks)
    return {ny, 0};
  const int64_t begin = ny * rank_of() / ranks;
  return {begin, ny * (rank_of() + 1) / ranks - begin};
}

inline double value(int variable, int64_t record, int64_t y, int64_t x) {
  return variable + 2 * static_cast<double>(record) + 0.25 * static_cast<double>(y) + 7 * static_cast<double>(x % 11);
}

template <class T>
std::vector<T> values(int variable, int64_t record, Part part, int64_t nx) {
  std::vector<T> out;
  for (int64_t y = part.first; y < part.first + part.rows; ++y)
    for (int64_t x = 0; x < nx; ++x)
      out.push_back(static_cast<T>(value(variable, record, y, x)));
  return out;
}

inline windrow::Decomposition rows_of(int64_t ny, int64_t nx, Part part) {
  return windrow::Decomposition::block(MPI_COMM_WORLD, {ny, nx}, {part.first, 0}, {part.rows, nx});
}

// The same rows of all records.
inline windrow::Decomposition rows_of_all(int64_t records, int64_t ny, int64_t nx, Part part) {
  return windrow::Decomposition::block(MPI_COMM_WORLD, {records, ny, nx}, {0, part.first, 0}, {records, part.rows, nx});
}

// Only rank 0 uses PnetCDF. All ranks wait for its result.
template <class Work>
void on_root(Work&& work) {
  if (rank_of() == 0)
    work();
  MPI_Barrier(MPI_COMM_WORLD);
}

inline void expect_valid(const std::string& path) {
  on_root([&] {
    const std::string command = "ncvalidator '" + path + "' > '" + path + ".said' 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << bytes_of_file(path + ".said");
    std::filesystem::remove(path + ".said");
  });
}

inline int open_nc(const std::string& path) {
  int id = -1;
  EXPECT_NC(ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &id));
  EXPECT_NC(ncmpi_begin_indep_data(id));
  return id;
}

// PnetCDF's type for a C type.
template <class T>
MPI_Datatype mpi_type() {
  if constexpr (std::is_same_v<T, char>)
    return MPI_CHAR;
  else if constexpr (std::is_same_v<T, float>)
    return MPI_FLOAT;
  else if constexpr (std::is_same_v<T, double>)
    return MPI_DOUBLE;
  else if constexpr (sizeof(T) == 1)
    return std::is_signed_v<T> ? MPI_SIGNED_CHAR : MPI_UNSIGNED_CHAR;
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? MPI_SHORT : MPI_UNSIGNED_SHORT;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? MPI_INT : MPI_UNSIGNED;
  else
    return std::is_signed_v<T> ? MPI_LONG_LONG : MPI_UNSIGNED_LONG_LONG;
}

template <class T>
std::vector<T> get_nc(int id, const std::string& name, std::vector<MPI_Offset> start, std::vector<MPI_Offset> count) {
  int variable = -1;
  EXPECT_NC(ncmpi_inq_varid(id, name.c_str(), &variable));
  MPI_Offset elements = 1;
  for (const MPI_Offset each : count)
    elements *= each;
  std::vector<T> read(static_cast<size_t>(elements));
  EXPECT_NC(ncmpi_get_vara(id, variable, start.data(), count.data(), read.data(), elements, mpi_type<T>()));
  return read;
}

}  // namespace windrow_test
