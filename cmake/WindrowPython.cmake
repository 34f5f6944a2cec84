# SPDX-License-Identifier: BSD-3-Clause
# Whether the Python package is built: WINDROW_PYTHON_PACKAGE is AUTO, ON or OFF; afterwards WINDROW_HAS_PYTHON says.
# It needs Python's headers and nanobind, which `make test` puts into build/python-packages, and `pip install .` finds
# for itself.
set(WINDROW_PYTHON_PACKAGE AUTO CACHE STRING
  "The Python package: AUTO (for tests, where Python's headers and nanobind are found), ON or OFF")
set_property(CACHE WINDROW_PYTHON_PACKAGE PROPERTY STRINGS AUTO ON OFF)
set(WINDROW_HAS_PYTHON FALSE)

macro(windrow_find_python)
  set(missing "")
  if(WINDROW_PYTHON AND NOT Python_EXECUTABLE)
    set(Python_EXECUTABLE "${WINDROW_PYTHON}")  # the one that has h5py
  endif()
  find_package(Python 3.10 QUIET COMPONENTS Interpreter Development.Module)
  if(NOT Python_FOUND)
    set(missing "Python's headers were not found (Debian: python3-dev)")
  else()
    execute_process(COMMAND "${CMAKE_COMMAND}" -E env "PYTHONPATH=${PROJECT_BINARY_DIR}/python-packages"
      "${Python_EXECUTABLE}" -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE
      ERROR_QUIET)
    find_package(nanobind QUIET CONFIG)
    if(NOT nanobind_FOUND)
      set(missing "nanobind was not found (pip install nanobind, or tools/install-nanobind)")
    endif()
  endif()
endmacro()

if(WINDROW_PYTHON_PACKAGE STREQUAL "ON" OR (WINDROW_PYTHON_PACKAGE STREQUAL "AUTO" AND WINDROW_TESTS AND
  NOT WINDROW_SANITIZE))
  windrow_find_python()
  if(NOT missing)
    set(WINDROW_HAS_PYTHON TRUE)
  elseif(WINDROW_PYTHON_PACKAGE STREQUAL "AUTO")
    message(NOTICE "Without the Python package: ${missing}")
  else()
    message(FATAL_ERROR "The Python package cannot be built: ${missing}. Without it: -DWINDROW_PYTHON_PACKAGE=OFF")
  endif()
endif()
