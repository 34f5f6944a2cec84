# SPDX-License-Identifier: BSD-3-Clause
windrow_mpi_test(explain_test.cpp RANKS 1 3 FULL 2 4 5 HOSTS 4/2)
target_link_libraries(regression.explain PRIVATE nlohmann_json::nlohmann_json)
windrow_mpi_test(refused_requests_test.cpp RANKS 2 3 FULL 4)
