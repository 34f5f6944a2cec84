# SPDX-License-Identifier: BSD-3-Clause
windrow_mpi_test(scorpio_teams_test.cpp RANKS 1 3 8 FULL 2 5 HOSTS 8/2 FULL_HOSTS 8/1)
target_link_libraries(regression.scorpio_teams PRIVATE nlohmann_json::nlohmann_json)
