# SPDX-License-Identifier: BSD-3-Clause
windrow_test(contention_test.cpp)
windrow_mpi_test(link_probe_test.cpp RANKS 1 HOSTS 3/1 FULL_HOSTS 4/2 8/1)
target_link_libraries(regression.link_probe PRIVATE nlohmann_json::nlohmann_json)
windrow_mpi_test(subfiling_options_test.cpp RANKS 1 3 FULL 2 4 5 FULL_HOSTS 4/2 TIMEOUT 300)
