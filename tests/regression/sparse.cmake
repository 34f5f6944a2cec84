# SPDX-License-Identifier: BSD-3-Clause
# Variables with few of their chunks written.
if(WINDROW_HDF5 AND TARGET windrow_command)
  windrow_python_test(regression.sparse sparse_test.py)
  set_property(TEST regression.sparse APPEND PROPERTY ENVIRONMENT "WINDROW_COMMAND=$<TARGET_FILE:windrow_command>"
    "WINDROW_MPIRUN=${PROJECT_SOURCE_DIR}/tools/mpirun --mpi ${WINDROW_MPI_NAME}")
  set_tests_properties(regression.sparse PROPERTIES TIMEOUT 300 PROCESSORS 2 LABELS "quick;once;mpi")
endif()
