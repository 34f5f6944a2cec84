# SPDX-License-Identifier: BSD-3-Clause
# Ranks that make different collective calls, or use two files in another order.
windrow_mpi_test(different_calls_test.cpp RANKS 2 3 FULL 4 5 HOSTS 4/2 3/1 FULL_HOSTS 5/2 5/3 STRIDE 11 TIMEOUT 600)
foreach(shape np4.hosts-of-2 np3.hosts-of-1)
  if(TEST regression.different_calls.${shape})
    set_property(TEST regression.different_calls.${shape} APPEND PROPERTY ENVIRONMENT "WINDROW_TEST_STRIDE=13")
  endif()
endforeach()
