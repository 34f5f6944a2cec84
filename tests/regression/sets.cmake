# SPDX-License-Identifier: BSD-3-Clause
windrow_mpi_test(interrupted_changes_test.cpp RANKS 2 STRIDE 29 TIMEOUT 3000 LABELS fault)
# Every call, in thousands of cases: a test for each kind of file, with and without checksums on stable storage.
foreach(kind RANGE 5)
  foreach(way LeaveWhatWasThere LeaveWhatWasThereWithChecksumsOnStableStorage)
    set(test regression.interrupted_changes.${kind}.${way}.np2)
    add_test(NAME ${test} COMMAND "${PROJECT_SOURCE_DIR}/tools/mpirun" --mpi ${WINDROW_MPI_NAME} -n 2
      $<TARGET_FILE:regression.interrupted_changes> --gtest_filter=*EachKind.${way}/${kind})
    set_tests_properties(${test} PROPERTIES TIMEOUT 3600 PROCESSORS 2 LABELS "full;mpi;fault")
    windrow_test_environment(${test})
  endforeach()
endforeach()
windrow_mpi_test(overwritten_chunks_test.cpp RANKS 2 STRIDE 29 TIMEOUT 3000 LABELS fault)
set_source_files_properties(failing_storage.c PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
foreach(test regression.interrupted_changes regression.overwritten_chunks)
  target_sources(${test} PRIVATE failing_storage.c)
  target_link_libraries(${test} PRIVATE ${CMAKE_DL_LIBS})
endforeach()
windrow_test(overwrite_test.cpp)
if(WINDROW_HDF5 AND TARGET windrow_command)
  foreach(set quick full)
    windrow_python_test(regression.sets.${set} sets_test.py)
    set_property(TEST regression.sets.${set} APPEND PROPERTY ENVIRONMENT
      "WINDROW_CHANGES=$<TARGET_FILE:regression.interrupted_changes>" "WINDROW_COMMAND=$<TARGET_FILE:windrow_command>"
      "WINDROW_MPIRUN=${PROJECT_SOURCE_DIR}/tools/mpirun --mpi ${WINDROW_MPI_NAME}")
    set_tests_properties(regression.sets.${set} PROPERTIES TIMEOUT 3000 PROCESSORS 2 LABELS "${set};once;mpi;fault")
  endforeach()
  set_property(TEST regression.sets.quick APPEND PROPERTY ENVIRONMENT "WINDROW_TEST_STRIDE=61")
endif()
