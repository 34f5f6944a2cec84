# SPDX-License-Identifier: BSD-3-Clause
windrow_mpi_test(regression/usability_test.cpp RANKS 1 2)
target_link_libraries(regression.usability PRIVATE nlohmann_json::nlohmann_json)
windrow_python_test(regression.environment_names environment_names_test.py)
