# SPDX-License-Identifier: BSD-3-Clause
windrow_test(host_table_test.cpp)
windrow_mpi_test(link_hosts_test.cpp HOSTS 4/2 FULL_HOSTS 6/2 5/3)
