# SPDX-License-Identifier: BSD-3-Clause
windrow_test(host_table_test.cpp)
windrow_test(line_layout_test.cpp)
windrow_mpi_test(link_hosts_test.cpp HOSTS 4/2 FULL_HOSTS 6/2 5/3)
windrow_mpi_test(target_writers_test.cpp RANKS 1 4 FULL 2 3 5 8 FULL_HOSTS 4/2)
target_link_libraries(regression.target_writers PRIVATE nlohmann_json::nlohmann_json)
