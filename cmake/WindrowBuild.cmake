# SPDX-License-Identifier: BSD-3-Clause
# Functions that define targets: one for each kind.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
if(NOT WINDROW_SANITIZE)  # see windrow_tested
  set(CMAKE_CXX_VISIBILITY_PRESET hidden)
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
# Installed files find the library in any prefix, and MPI and HDF5 outside the system's folders.
file(RELATIVE_PATH to_library "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
set(CMAKE_INSTALL_RPATH "$ORIGIN/${to_library}")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

add_library(windrow_flags INTERFACE)
target_compile_options(windrow_flags INTERFACE -Wall -Wextra
  # No -Wshadow in unity builds: a local name may be that of a constant in another source.
  $<$<COMPILE_LANGUAGE:CXX>:-Wconversion $<$<NOT:$<BOOL:${WINDROW_UNITY_BUILD}>>:-Wshadow> -Wsign-conversion>
  # gfortran does not know that an MPI_Comm of C may be a Fortran integer, and warns of every function with side
  # effects in a condition.
  $<$<COMPILE_LANGUAGE:Fortran>:-Wno-c-binding-type> $<$<COMPILE_LANGUAGE:Fortran>:-Wno-function-elimination>
  # gfortran 12 reports allocatable arrays and texts as uninitialized when they are assigned: 179 false warnings. Other
  # warnings are not errors.
  $<$<COMPILE_LANGUAGE:Fortran>:-Wno-uninitialized> $<$<COMPILE_LANGUAGE:Fortran>:-Wno-maybe-uninitialized>
  $<$<AND:$<BOOL:${WINDROW_WARNINGS_AS_ERRORS}>,$<COMPILE_LANGUAGE:C,CXX>>:-Werror>)
if(WINDROW_SANITIZE)
  # Every finding ends the program, because a test that passes would hide it.
  # Not in Fortran: for absent arrays gfortran computes with uninitialized bounds, and does not use the result.
  # A null pointer ends the program anyway, and the check for it takes a fifth of the time of compilation.
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${WINDROW_SANITIZE};-fno-sanitize-recover=all>"
    "$<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize=null,vptr>" -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${WINDROW_SANITIZE})
endif()
if(WINDROW_FUZZ)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=fuzzer-no-link>)
  add_custom_target(fuzzers)
endif()
if(WINDROW_SANITIZE MATCHES "address")
  add_library(windrow_keep_loaded OBJECT "${PROJECT_SOURCE_DIR}/tools/sanitizers/keep_loaded.c")
  link_libraries($<TARGET_OBJECTS:windrow_keep_loaded>)
endif()

# GCC 12 reports overlaps and overflows in std::string and std::vector that do not exist, depending on what it inlines:
# https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651, https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105329
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(windrow_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict> $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow>
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds>)
endif()

# The command, nanobind, the tools, and modules without loops over elements or pieces only call the code that computes.
# -O1 compiles them in two thirds of the time.
set(WINDROW_CALLER_OPTIONS $<$<AND:$<CONFIG:Release,RelWithDebInfo>,$<COMPILE_LANGUAGE:C,CXX>>:-O1>)

# windrow_unity(TARGET [ALONE b.cpp …]): with WINDROW_UNITY_BUILD, twenty sources of the target are compiled together.
# ALONE: sources that are compiled separately, because they define names of other sources.
function(windrow_unity target)
  cmake_parse_arguments(ARG "" "" "ALONE" ${ARGN})
  set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${WINDROW_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 20)
endfunction()

# The headers of others that most modules include take 2 s of each compilation. They are precompiled once, with the
# options of all modules. The preset `debug` has none, so that each source must include what it needs.
function(windrow_module_headers)
  file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/module_headers.cpp" CONTENT "")
  add_library(windrow_module_headers OBJECT "${PROJECT_BINARY_DIR}/module_headers.cpp")
  target_link_libraries(windrow_module_headers PRIVATE windrow_flags MPI::MPI_C fmt::fmt)
  target_precompile_headers(windrow_module_headers PRIVATE <algorithm> <array> <atomic> <bit> <chrono> <cstdint>
    <cstdlib> <cstring> <functional> <limits> <map> <memory> <optional> <set> <span> <stdexcept> <string>
    <string_view> <vector> <fmt/format.h> <mpi.h>)
endfunction()

# windrow_module(NAME SOURCES a.cpp … [ALONE b.cpp …] DEPENDS module|target …): one folder of src/, one target
# windrow_NAME. ALONE: as for windrow_unity().
function(windrow_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ALONE;DEPENDS" ${ARGN})
  add_library(windrow_${name} OBJECT ${ARG_SOURCES} ${ARG_ALONE})
  windrow_unity(windrow_${name} ALONE ${ARG_ALONE})
  target_include_directories(windrow_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(windrow_${name} PRIVATE windrow_flags PUBLIC ${ARG_DEPENDS})
  target_precompile_headers(windrow_${name} REUSE_FROM windrow_module_headers)
  set_property(GLOBAL APPEND PROPERTY WINDROW_MODULES windrow_${name})
endfunction()

# windrow_uses_library(MODULE NAME): links a module to a library of windrow_optional_library(), if that is built in.
function(windrow_uses_library module name)
  if(WINDROW_HAS_${name})
    target_link_libraries(windrow_${module} PUBLIC PkgConfig::WINDROW_${name}_LIBRARY)
  endif()
endfunction()

# GoogleTest's headers take half of the time of a test's compilation. They are precompiled once, by an executable with
# the options of all tests. nlohmann_json is not among them: it makes all other tests slower by what its users gain.
function(windrow_test_headers)
  file(WRITE "${PROJECT_BINARY_DIR}/test_headers.cpp" "int main() { return 0; }\n")
  add_executable(windrow_test_headers "${PROJECT_BINARY_DIR}/test_headers.cpp")
  target_link_libraries(windrow_test_headers PRIVATE windrow_tested windrow_flags GTest::gmock)
  set_target_properties(windrow_test_headers PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  set(headers algorithm array cstdint fstream functional map memory set string vector gmock/gmock.h gtest/gtest.h)
  foreach(header ${headers})
    target_precompile_headers(windrow_test_headers PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>")
  endforeach()
endfunction()

# windrow_test(thing_test.cpp [STRIDE n] [LABELS …]) in tests/module: a GoogleTest program without MPI, called
# module.thing. STRIDE n: with sanitizers, which take five times as long, it tries every n-th case (tests/stride.hpp).
function(windrow_test source)
  cmake_parse_arguments(ARG "" "STRIDE" "LABELS" ${ARGN})
  _windrow_test_name(${source} name)
  _windrow_test_path(${source} path)
  add_executable(${name} "${path}")
  target_link_libraries(${name} PRIVATE windrow_tested windrow_flags GTest::gmock GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM windrow_test_headers)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS "quick;${ARG_LABELS}")
  windrow_test_environment(${name})
  if(ARG_STRIDE AND WINDROW_SANITIZE)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "WINDROW_TEST_STRIDE=${ARG_STRIDE}")
  endif()
endfunction()

# The numbers of ranks of the quick set: alone, and an odd number that shares nothing evenly. The even case in the quick
# set is 4 ranks on 2 hosts (HOSTS 4/2). windrow_set_of_ranks(RANKS RESULT): quick or full.
function(windrow_set_of_ranks ranks result)
  set(${result} full PARENT_SCOPE)
  if(ranks EQUAL 1 OR ranks EQUAL 3)
    set(${result} quick PARENT_SCOPE)
  endif()
endfunction()

# windrow_mpi_test(thing_test.cpp RANKS 1 2 3 4 [FULL 5 8 13] [STRIDE n] [TIMEOUT s] [LABELS …]) in tests/module: the
# same program with several numbers of ranks, called module.thing.npN. RANKS are in the quick set, FULL only in the full
# set; numbers above WINDROW_TEST_MAX_RANKS are omitted. STRIDE n: in the quick set a sweep tries every n-th case
# (tests/stride.hpp). A hang is a failure: TIMEOUT, default 180 s. All quick runs of a program but one have the label
# `repeated`: the first of HOSTS is without it, else the last of RANKS.
function(windrow_mpi_test source)
  cmake_parse_arguments(ARG "" "STRIDE;TIMEOUT" "RANKS;FULL;LABELS;HOSTS;FULL_HOSTS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 180)
  endif()
  _windrow_test_name(${source} name)
  _windrow_test_path(${source} path)
  add_executable(${name} "${path}")
  target_link_libraries(${name} PRIVATE windrow_tested windrow_flags windrow_mpi_test_main GTest::gmock)
  target_precompile_headers(${name} REUSE_FROM windrow_test_headers)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  set(main_shape 0)
  foreach(shape ${ARG_RANKS})
    if(NOT shape GREATER WINDROW_TEST_MAX_RANKS)
      set(main_shape ${shape})
    endif()
  endforeach()
  if(ARG_HOSTS)
    list(GET ARG_HOSTS 0 main_shape)
  endif()
  foreach(set quick full)
    set(counts ${ARG_RANKS})
    if(set STREQUAL full)
      set(counts ${ARG_FULL})
    endif()
    foreach(ranks ${counts})
      if(ranks GREATER WINDROW_TEST_MAX_RANKS)
        continue()
      endif()
      add_test(NAME ${name}.np${ranks} COMMAND "${PROJECT_SOURCE_DIR}/tools/mpirun" --mpi ${WINDROW_MPI_NAME}
        -n ${ranks} $<TARGET_FILE:${name}>)
      set_tests_properties(${name}.np${ranks} PROPERTIES TIMEOUT ${ARG_TIMEOUT} PROCESSORS 2
        LABELS "${set};mpi;${ARG_LABELS}")
      windrow_test_environment(${name}.np${ranks})
      if(ARG_STRIDE AND ranks GREATER 1 AND set STREQUAL quick)
        set_property(TEST ${name}.np${ranks} APPEND PROPERTY ENVIRONMENT "WINDROW_TEST_STRIDE=${ARG_STRIDE}")
      endif()
      if(NOT ranks STREQUAL main_shape)
        set_property(TEST ${name}.np${ranks} APPEND PROPERTY LABELS repeated)
      endif()
      if(ranks EQUAL 1)
        set_tests_properties(${name}.np1 PROPERTIES PROCESSORS 1)
      endif()
    endforeach()
    # RANKS/PER_HOST: as if every PER_HOST ranks ran on a separate host.
    set(shapes ${ARG_HOSTS})
    if(set STREQUAL full)
      set(shapes ${ARG_FULL_HOSTS})
    endif()
    foreach(shape ${shapes})
      string(REPLACE "/" ";" parts ${shape})
      list(GET parts 0 ranks)
      list(GET parts 1 each)
      if(ranks GREATER WINDROW_TEST_MAX_RANKS)
        continue()
      endif()
      set(test ${name}.np${ranks}.hosts-of-${each})
      add_test(NAME ${test} COMMAND "${PROJECT_SOURCE_DIR}/tools/mpirun" --mpi ${WINDROW_MPI_NAME} -n ${ranks}
        $<TARGET_FILE:${name}>)
      set_tests_properties(${test} PROPERTIES TIMEOUT ${ARG_TIMEOUT} PROCESSORS 2 LABELS "${set};mpi;${ARG_LABELS}")
      windrow_test_environment(${test})
      set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "WINDROW_RANKS_PER_HOST=${each}")
      if(NOT shape STREQUAL main_shape)
        set_property(TEST ${test} APPEND PROPERTY LABELS repeated)
      endif()
    endforeach()
  endforeach()
endfunction()

# windrow_fuzz_target(fuzz_thing.cpp) in tests/module: runs over the files of tests/module/corpus/ as the test
# module.fuzz_thing. With WINDROW_FUZZ also the program module.fuzz_thing.fuzzer, in which libFuzzer continues from
# them; the target `fuzzers` builds all of these.
function(windrow_fuzz_target source)
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME module)
  cmake_path(GET source STEM name)
  set(name ${module}.${name})
  add_executable(${name} ${source} "${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cpp")
  add_test(NAME ${name} COMMAND ${name} "${CMAKE_CURRENT_SOURCE_DIR}/corpus")
  set_tests_properties(${name} PROPERTIES TIMEOUT 120 LABELS quick)
  windrow_test_environment(${name})
  set(programs ${name})
  set(library windrow_tested)
  if(WINDROW_FUZZ)
    set(library windrow_parsers)
    add_executable(${name}.fuzzer ${source})
    target_link_options(${name}.fuzzer PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${name}.fuzzer)
    list(APPEND programs ${name}.fuzzer)
  endif()
  foreach(program ${programs})
    target_link_libraries(${program} PRIVATE ${library} windrow_flags)
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  endforeach()
endfunction()

# windrow_python_test(name script.py ARGUMENTS …): a quick test that is a Python program, in this folder or given by
# its full path.
function(windrow_python_test name script)
  cmake_path(ABSOLUTE_PATH script)
  add_test(NAME ${name} COMMAND "${WINDROW_PYTHON}" "${script}" ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 120 LABELS "quick")
  windrow_test_environment(${name})
endfunction()

# Sanitizer settings for one test. The lists have defects of MPI and other libraries, never of Windrow.
function(windrow_test_environment test)
  set(lists "${PROJECT_SOURCE_DIR}/tools/sanitizers")
  set(environment
    "ASAN_OPTIONS=detect_leaks=1:verify_asan_link_order=0"
    "LSAN_OPTIONS=suppressions=${lists}/leaks.txt:print_suppressions=0"
    "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1"
    "TSAN_OPTIONS=suppressions=${lists}/races.txt:ignore_noninstrumented_modules=1:halt_on_error=1")
  if(TARGET windrow_patient_yield)
    list(APPEND environment "WINDROW_PATIENT_YIELD=$<TARGET_FILE:windrow_patient_yield>")
  endif()
  set_tests_properties(${test} PROPERTIES ENVIRONMENT "${environment}")
  if(WINDROW_SANITIZE MATCHES address)
    # The leak sanitizer of GCC 12 sometimes crashes when it scans the threads at the end. This is not a failure of the
    # test.
    set_tests_properties(${test} PROPERTIES SKIP_REGULAR_EXPRESSION "LeakSanitizer has encountered a fatal error")
  endif()
endfunction()

# tests/module/thing_test.cpp is called module.thing, in any CMakeLists.txt.
function(_windrow_test_name source result)
  _windrow_test_path(${source} path)
  file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}/tests" "${path}")
  string(REGEX REPLACE "_test\\.cpp$" "" name ${name})
  string(REPLACE "/" "." name ${name})
  set(${result} ${name} PARENT_SCOPE)
endfunction()

# A test's source is named from its own folder, or from tests/.
function(_windrow_test_path source result)
  set(path "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
  if(NOT EXISTS "${path}")
    set(path "${PROJECT_SOURCE_DIR}/tests/${source}")
  endif()
  set(${result} "${path}" PARENT_SCOPE)
endfunction()
