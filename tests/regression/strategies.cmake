# SPDX-License-Identifier: BSD-3-Clause
windrow_test(contention_test.cpp)
windrow_mpi_test(link_probe_test.cpp RANKS 1 HOSTS 3/1 FULL_HOSTS 4/2 8/1)
target_link_libraries(regression.link_probe PRIVATE nlohmann_json::nlohmann_json)
