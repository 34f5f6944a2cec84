# SPDX-License-Identifier: BSD-3-Clause
# What is built on, and what to do where it is missing. WINDROW_MPI_NAME is "openmpi", "mpich" or "other": tools/mpirun
# needs it to launch.

# windrow_require(PACKAGE "what to do when it is missing"): find_package() with an error that helps.
macro(windrow_require package advice)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found: ${advice}")
  endif()
endmacro()

# Debian installs several MPI side by side and lets mpicc point to any of them, so the presets say which they mean.
if(WINDROW_MPI)
  find_program(MPI_C_COMPILER NAMES mpicc.${WINDROW_MPI} mpicc)
  find_program(MPI_CXX_COMPILER NAMES mpicxx.${WINDROW_MPI} mpicxx mpic++)
endif()
# The C++ bindings left the standard in MPI-3; without them a C++ program needs MPI's C library only.
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI REQUIRED COMPONENTS C CXX)
add_compile_definitions($<$<COMPILE_LANGUAGE:CXX>:OMPI_SKIP_MPICXX> $<$<COMPILE_LANGUAGE:CXX>:MPICH_SKIP_MPICXX>)
if("${MPI_C_INCLUDE_DIRS};${MPI_C_COMPILER}" MATCHES "openmpi")
  set(WINDROW_MPI_NAME openmpi)
elseif("${MPI_C_INCLUDE_DIRS};${MPI_C_COMPILER}" MATCHES "mpich")
  set(WINDROW_MPI_NAME mpich)
else()
  set(WINDROW_MPI_NAME other)
endif()
if(WINDROW_MPI AND NOT WINDROW_MPI_NAME STREQUAL "other" AND NOT WINDROW_MPI STREQUAL WINDROW_MPI_NAME)
  message(FATAL_ERROR "WINDROW_MPI is ${WINDROW_MPI}, but ${MPI_C_COMPILER} belongs to ${WINDROW_MPI_NAME}: "
    "install it (Debian: libopenmpi-dev openmpi-bin, or libmpich-dev mpich), "
    "or name its wrappers by MPI_C_COMPILER and MPI_CXX_COMPILER")
endif()

find_package(Threads REQUIRED)
windrow_require(fmt "it is needed for messages and reports (Debian: libfmt-dev)")
windrow_require(nlohmann_json "it is needed for reports and the raw format (Debian: nlohmann-json3-dev)")

# Serial HDF5, C interface, by pkg-config: CMake's own module may pick a parallel build where both are installed.
if(WINDROW_HDF5)
  windrow_require(PkgConfig "it is needed to find HDF5 (Debian: pkg-config); or build without HDF5: -DWINDROW_HDF5=OFF")
  pkg_search_module(WINDROW_HDF5_SERIAL IMPORTED_TARGET hdf5-serial hdf5)
  if(NOT WINDROW_HDF5_SERIAL_FOUND)
    message(FATAL_ERROR
      "The serial HDF5 C library was not found (Debian: libhdf5-dev). Without HDF5: -DWINDROW_HDF5=OFF")
  endif()
  add_library(windrow_hdf5_library ALIAS PkgConfig::WINDROW_HDF5_SERIAL)
endif()

# Compressors, of chunks in files and of messages: each is left out where it is not installed, or by -DWINDROW_NAME=OFF.
# windrow_optional_library(NAME MODULE "what for"): WINDROW_HAS_NAME says whether it is built in; MODULE as pkg-config
# knows it.
function(windrow_optional_library name module purpose)
  option(WINDROW_${name} "${purpose} with ${module}, where it is installed" ON)
  if(WINDROW_${name} AND PKG_CONFIG_FOUND)
    pkg_search_module(WINDROW_${name}_LIBRARY QUIET IMPORTED_TARGET ${module})
  endif()
  if(WINDROW_${name} AND WINDROW_${name}_LIBRARY_FOUND)
    set(WINDROW_HAS_${name} TRUE PARENT_SCOPE)
  else()
    set(WINDROW_HAS_${name} FALSE PARENT_SCOPE)
  endif()
endfunction()

find_package(PkgConfig QUIET)
windrow_optional_library(LIBDEFLATE libdeflate "Chunks compressed")
windrow_optional_library(ZLIB zlib "Chunks compressed")
windrow_optional_library(ISAL libisal "Chunks compressed at deflate's levels 1 and 2")
windrow_optional_library(BLOSC blosc "Chunks compressed")
windrow_optional_library(LZ4 liblz4 "Chunks and messages compressed")
windrow_optional_library(ZSTD libzstd "Chunks and messages compressed")
windrow_optional_library(LZO lzo2 "Messages compressed")
windrow_optional_library(XXHASH libxxhash "Elements in subfiles summed up")
windrow_optional_library(UTF8PROC libutf8proc "Names in netCDF classic files checked")

# Only the header of libcephfs is needed: the library is loaded on request, so other programs do not depend on it.
# WINDROW_CEPHFS is AUTO, ON (required) or OFF; the result is WINDROW_HAS_CEPHFS.
set(WINDROW_CEPHFS AUTO CACHE STRING "OSDs asked for by libcephfs: AUTO where its header is installed, ON, OFF")
set_property(CACHE WINDROW_CEPHFS PROPERTY STRINGS AUTO ON OFF)
set(WINDROW_HAS_CEPHFS FALSE)
if(WINDROW_CEPHFS)
  find_path(WINDROW_CEPHFS_INCLUDE_DIR cephfs/libcephfs.h)
  if(WINDROW_CEPHFS_INCLUDE_DIR)
    set(WINDROW_HAS_CEPHFS TRUE)
  elseif(NOT WINDROW_CEPHFS STREQUAL "AUTO")
    message(FATAL_ERROR
      "WINDROW_CEPHFS is ${WINDROW_CEPHFS}, but cephfs/libcephfs.h was not found (Debian: libcephfs-dev)")
  endif()
endif()

if(WINDROW_CLI)
  windrow_require(CLI11 "the command needs it (Debian: libcli11-dev); without the command: -DWINDROW_CLI=OFF")
endif()

# Tests need GoogleTest and Python; the ones that read with h5py are left out where it is missing. The system's Python
# goes first, because that is the one that the system's h5py belongs to.
if(WINDROW_TESTS)
  windrow_require(GTest "the tests need it (Debian: libgtest-dev libgmock-dev); without tests: -DWINDROW_TESTS=OFF")
  # PnetCDF reads what Windrow writes, and the reverse. It is built for one MPI, Debian's for Open MPI. With another
  # MPI, WINDROW_PNETCDF must be set.
  if(WINDROW_MPI_NAME STREQUAL "openmpi" OR WINDROW_PNETCDF)
    windrow_optional_library(PNETCDF pnetcdf "Tests of netCDF classic files")
  endif()
  find_program(WINDROW_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
  find_program(WINDROW_PYTHON NAMES python3 REQUIRED)
  if(NOT DEFINED WINDROW_PYTHON_HAS_H5PY)
    execute_process(COMMAND "${WINDROW_PYTHON}" -c "import h5py" RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
    if(result EQUAL 0)
      set(WINDROW_PYTHON_HAS_H5PY TRUE CACHE INTERNAL "h5py was found")
    else()
      message(WARNING "${WINDROW_PYTHON} has no h5py (Debian: python3-h5py): tests that need it are left out")
    endif()
  endif()
endif()
