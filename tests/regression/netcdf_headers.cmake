# SPDX-License-Identifier: BSD-3-Clause
# Headers of netCDF classic are encoded in memory; what they say is believed against the length of the file; what
# cannot be written is refused when it is defined.
windrow_test(netcdf_headers_test.cpp)
windrow_mpi_test(truncated_files_test.cpp RANKS 1 2 FULL 3 STRIDE 5)
