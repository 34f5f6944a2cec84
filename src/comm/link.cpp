// SPDX-License-Identifier: BSD-3-Clause
#include "comm/link.hpp"

#include <algorithm>
#include <memory>
#include <new>

namespace windrow {

Result<double> measure_link(const Comm& comm) {
  constexpr int k_sizes[] = {1, 64 << 10, 256 << 10, 1 << 20};  // the first: MPI connects at the first message
  constexpr double k_enough = 2e-3;
  const std::vector<int>& roots = comm.host_roots();
  if (roots.size() < 2) return 0.0;
  const bool sends = comm.host_rank() == 0;
  const size_t hosts = roots.size(), host = static_cast<size_t>(comm.host_index());
  const int next = roots[(host + 1) % hosts], before = roots[(host + hosts - 1) % hosts];
  const std::unique_ptr<std::byte[]> memory(sends ? new (std::nothrow) std::byte[2 * static_cast<size_t>(k_sizes[3])]() : nullptr);
  double lacks = sends && memory == nullptr ? 1 : 0;
  if (int rc = MPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_DOUBLE, MPI_MAX, comm.get()); rc != MPI_SUCCESS) return mpi_status(rc, "MPI_Allreduce");
  if (lacks > 0) return 0.0;
  double seconds_per_byte = 0;
  Status status;
  for (const int size : k_sizes) {
    double seconds = 0;
    if (sends) {
      const double begin = MPI_Wtime();
      status.update(mpi_status(MPI_Sendrecv(memory.get(), size, MPI_BYTE, next, k_tag_link, memory.get() + k_sizes[3], size, MPI_BYTE, before,
                                            k_tag_link, comm.get(), MPI_STATUS_IGNORE),
                               "MPI_Sendrecv"));
      seconds = MPI_Wtime() - begin;
    }
    if (int rc = MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm.get()); rc != MPI_SUCCESS)
      return mpi_status(rc, "MPI_Allreduce");
    seconds_per_byte = seconds / size;
    if (size > 1 && seconds > k_enough) break;
  }
  if (!status.ok()) return status;
  return seconds_per_byte;
}

}  // namespace windrow
