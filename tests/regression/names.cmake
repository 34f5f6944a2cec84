# SPDX-License-Identifier: BSD-3-Clause
# Names of dimensions and variables, the order of creation, what of other people's files is copied.
windrow_mpi_test(names_test.cpp RANKS 1 3 FULL 2 4)
if(WINDROW_HDF5 AND TARGET windrow_command)
  windrow_python_test(regression.names_of_others names_test.py $<TARGET_FILE:windrow_command>)
  set_tests_properties(regression.names_of_others PROPERTIES LABELS "quick;once" SKIP_RETURN_CODE 77)
endif()
