# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` puts where: headers, shared library, a CMake package and a pkg-config file. Programs
# install themselves.
include(CMakePackageConfigHelpers)

install(TARGETS windrow_shared EXPORT windrowTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/windrow" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DOCDIR})

# All that is installed, and nothing else: `make install` builds it.
add_custom_target(to_install)
foreach(target windrow_shared windrow_fortran windrow_scorpio windrow_mpiio windrow_command)
  if(TARGET ${target})
    add_dependencies(to_install ${target})
  endif()
endforeach()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/windrow)
install(EXPORT windrowTargets NAMESPACE windrow:: DESTINATION ${package_folder})
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/windrowConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/windrowConfig.cmake" INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/windrowConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/windrowConfig.cmake" "${PROJECT_BINARY_DIR}/windrowConfigVersion.cmake"
  DESTINATION ${package_folder})

# pkg-config: MPI's own flags come with it, so that a plain C compiler is enough.
file(RELATIVE_PATH WINDROW_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" WINDROW_PC_TO_PREFIX "${WINDROW_PC_TO_PREFIX}")
list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE include_flags)
list(JOIN include_flags " " WINDROW_PC_MPI_CFLAGS)
list(JOIN MPI_C_LIBRARIES " " WINDROW_PC_MPI_LIBS)
configure_file("${PROJECT_SOURCE_DIR}/cmake/windrow.pc.in" "${PROJECT_BINARY_DIR}/windrow.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/windrow.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
