# SPDX-License-Identifier: BSD-3-Clause
# What is published, what is left behind, and ranks that lack what others have.
windrow_mpi_test(regression/descriptors_test.cpp RANKS 2 3 FULL 4 FULL_HOSTS 4/2 TIMEOUT 300)
target_link_libraries(regression.descriptors PRIVATE ${CMAKE_DL_LIBS})
windrow_mpi_test(regression/replaced_test.cpp RANKS 1 2 TIMEOUT 120)
windrow_test(regression/leftovers_test.cpp)
if(TARGET windrow_command)
  windrow_python_test(regression.clean clean_test.py $<TARGET_FILE:windrow_command>)
endif()
