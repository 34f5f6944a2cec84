# SPDX-License-Identifier: BSD-3-Clause
# What is built on. WINDROW_MPI_NAME is "openmpi" or "mpich": tools/mpirun needs it to launch.

find_package(MPI REQUIRED COMPONENTS C CXX)
if(MPI_C_LIBRARY_VERSION_STRING MATCHES "Open MPI" OR MPI_CXX_COMPILER MATCHES "openmpi" OR MPI_C_HEADER_DIR MATCHES "openmpi"
    OR "${MPI_C_INCLUDE_DIRS}" MATCHES "openmpi")
  set(WINDROW_MPI_NAME openmpi)
elseif("${MPI_C_INCLUDE_DIRS}" MATCHES "mpich")
  set(WINDROW_MPI_NAME mpich)
else()
  set(WINDROW_MPI_NAME other)
endif()
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)

# Serial HDF5, C interface. pkg-config first: Debian's CMake module may pick a parallel build.
if(WINDROW_HDF5)
  find_package(PkgConfig REQUIRED)
  pkg_search_module(HDF5_SERIAL IMPORTED_TARGET hdf5-serial hdf5)
  if(HDF5_SERIAL_FOUND)
    add_library(windrow_hdf5_library ALIAS PkgConfig::HDF5_SERIAL)
  else()
    message(FATAL_ERROR "The serial HDF5 C library was not found (Debian: libhdf5-dev). Without HDF5: -DWINDROW_HDF5=OFF")
  endif()
endif()

if(WINDROW_CLI)
  find_package(CLI11 REQUIRED)
endif()
if(WINDROW_TESTS)
  find_package(GTest REQUIRED)
endif()
