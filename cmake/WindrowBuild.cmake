# SPDX-License-Identifier: BSD-3-Clause
# How things are built here: one function a kind of thing.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

add_library(windrow_flags INTERFACE)
target_compile_options(windrow_flags INTERFACE -Wall -Wextra $<$<COMPILE_LANGUAGE:CXX>:-Wconversion -Wshadow -Wsign-conversion>
  $<$<BOOL:${WINDROW_WARNINGS_AS_ERRORS}>:-Werror>)
if(WINDROW_SANITIZE)
  add_compile_options(-fsanitize=${WINDROW_SANITIZE} -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${WINDROW_SANITIZE})
endif()

# windrow_room(NAME SOURCES a.cpp … DEPENDS room|target …): one folder of src/, one target windrow_NAME.
function(windrow_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(windrow_${name} OBJECT ${ARG_SOURCES})
  target_include_directories(windrow_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(windrow_${name} PRIVATE windrow_flags PUBLIC ${ARG_DEPENDS})
  set_property(GLOBAL APPEND PROPERTY WINDROW_ROOMS windrow_${name})
endfunction()

# windrow_test(path/thing_test.cpp): a GoogleTest program without MPI, called path.thing; the path starts at tests/.
function(windrow_test source)
  cmake_parse_arguments(ARG "" "" "LABELS" ${ARGN})
  _windrow_test_name(${source} name)
  add_executable(${name} "${PROJECT_SOURCE_DIR}/tests/${source}")
  target_link_libraries(${name} PRIVATE windrow_static windrow_flags GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 120 LABELS "quick;${ARG_LABELS}")
  windrow_test_environment(${name})
endfunction()

# windrow_mpi_test(path/thing_test.cpp RANKS 1 2 3 4 [FULL 5 8 13] [TIMEOUT s] [LABELS …]): the same program at several
# rank counts, called path.thing.npN. RANKS are in the quick set, FULL only in the full set. A hang is a failure: TIMEOUT, 60 s when not given.
function(windrow_mpi_test source)
  cmake_parse_arguments(ARG "" "TIMEOUT" "RANKS;FULL;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  _windrow_test_name(${source} name)
  add_executable(${name} "${PROJECT_SOURCE_DIR}/tests/${source}")
  target_link_libraries(${name} PRIVATE windrow_static windrow_flags windrow_mpi_test_main GTest::gmock)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  foreach(set quick full)
    set(counts ${ARG_RANKS})
    if(set STREQUAL full)
      set(counts ${ARG_FULL})
    endif()
    foreach(ranks ${counts})
      add_test(NAME ${name}.np${ranks} COMMAND "${PROJECT_SOURCE_DIR}/tools/mpirun" --mpi ${WINDROW_MPI_NAME} -n ${ranks} $<TARGET_FILE:${name}>)
      set_tests_properties(${name}.np${ranks} PROPERTIES TIMEOUT ${ARG_TIMEOUT} PROCESSORS 2 LABELS "${set};mpi;${ARG_LABELS}")
      windrow_test_environment(${name}.np${ranks})
    endforeach()
  endforeach()
endfunction()

# Sanitizer settings for one test; the lists hold what MPI and other libraries leak, never ours.
function(windrow_test_environment test)
  set_tests_properties(${test} PROPERTIES ENVIRONMENT
    "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tools/sanitizers/leaks.txt:print_suppressions=0;UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1;TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tools/sanitizers/races.txt;ASAN_OPTIONS=detect_leaks=1")
endfunction()

function(_windrow_test_name source result)
  file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}/tests" "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
  string(REGEX REPLACE "_test\\.cpp$" "" name ${name})
  string(REPLACE "/" "." name ${name})
  set(${result} ${name} PARENT_SCOPE)
endfunction()
