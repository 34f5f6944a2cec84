# SPDX-License-Identifier: BSD-3-Clause
# Published files, leftover files, and ranks without resources that others have.
# The sanitizer of undefined behaviour opens a pipe to look at an object's type, and reports an error where it cannot.
if(NOT WINDROW_SANITIZE MATCHES undefined)
  windrow_mpi_test(regression/descriptors_test.cpp RANKS 2 3 FULL 4 FULL_HOSTS 4/2 TIMEOUT 300)
  target_sources(regression.descriptors PRIVATE failing_storage.c)
  target_link_libraries(regression.descriptors PRIVATE ${CMAKE_DL_LIBS})
endif()
windrow_mpi_test(regression/replaced_test.cpp RANKS 1 2 TIMEOUT 120)
windrow_mpi_test(regression/updaters_test.cpp RANKS 2)
windrow_test(regression/leftovers_test.cpp)
if(TARGET windrow_command)
  windrow_python_test(regression.clean clean_test.py $<TARGET_FILE:windrow_command>)
endif()

add_executable(regression.definitions definitions.cpp)
target_link_libraries(regression.definitions PRIVATE windrow_tested windrow_flags MPI::MPI_CXX)
set_target_properties(regression.definitions PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
windrow_python_test(regression.definitions definitions_test.py)
set_property(TEST regression.definitions APPEND PROPERTY ENVIRONMENT
  "WINDROW_DEFINITIONS=$<TARGET_FILE:regression.definitions>"
  "WINDROW_MPIRUN=${PROJECT_SOURCE_DIR}/tools/mpirun --mpi ${WINDROW_MPI_NAME}" "WINDROW_TEST_STRIDE=17"
  "WINDROW_ENDINGS=.raw$<$<BOOL:${WINDROW_HDF5}>: .h5>$<$<BOOL:${WINDROW_HAS_PNETCDF}>: .nc>")
set_tests_properties(regression.definitions PROPERTIES TIMEOUT 300 LABELS "quick;once;mpi")
add_test(NAME regression.definitions.all COMMAND "${WINDROW_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/definitions_test.py")
get_property(environment TEST regression.definitions PROPERTY ENVIRONMENT)
list(REMOVE_ITEM environment "WINDROW_TEST_STRIDE=17")
set_tests_properties(regression.definitions.all PROPERTIES TIMEOUT 600 LABELS "full;once;mpi"
  ENVIRONMENT "${environment}")
windrow_mpi_test(regression/definition_size_test.cpp RANKS 1 2)
windrow_mpi_test(regression/many_variables_test.cpp RANKS 1 2)
if(WINDROW_HDF5)
  windrow_mpi_test(regression/heap_places_test.cpp RANKS 1)
  target_link_libraries(regression.heap_places PRIVATE windrow_hdf5_library)
endif()
