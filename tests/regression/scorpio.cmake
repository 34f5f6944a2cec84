# SPDX-License-Identifier: BSD-3-Clause
windrow_mpi_test(scorpio_teams_test.cpp RANKS 1 3 8 FULL 2 5 HOSTS 8/2 FULL_HOSTS 8/1)
target_link_libraries(regression.scorpio_teams PRIVATE nlohmann_json::nlohmann_json)
windrow_mpi_test(advice_kinds_test.cpp RANKS 1 3)
target_link_libraries(regression.advice_kinds PRIVATE nlohmann_json::nlohmann_json)

# Programs as SCORPIO's users wrote them, compiled with one include of ours.
if(TARGET windrow_scorpio)
  foreach(source scorpio_callers.c scorpio_first_name.cpp)
    string(REGEX REPLACE "[.].*" "" name ${source})
    set(target regression.${name})
    add_executable(${target} ${source})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    target_link_libraries(${target} PRIVATE windrow_scorpio windrow_hdf5_library windrow_flags)
    foreach(ranks 1 3 4)
      add_test(NAME ${target}.np${ranks} COMMAND "${PROJECT_SOURCE_DIR}/tools/mpirun" --mpi ${WINDROW_MPI_NAME}
        -n ${ranks} $<TARGET_FILE:${target}> "${CMAKE_CURRENT_BINARY_DIR}/${name}.${ranks}.h5")
      windrow_set_of_ranks(${ranks} set)
      set_tests_properties(${target}.np${ranks} PROPERTIES TIMEOUT 60 PROCESSORS 2 LABELS "${set};mpi;scorpio")
      windrow_test_environment(${target}.np${ranks})
    endforeach()
  endforeach()
endif()
