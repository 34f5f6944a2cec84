// SPDX-License-Identifier: BSD-3-Clause
#include "comm/link.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <thread>

namespace windrow {
namespace {

// Collective: the largest of all. Those who only wait sleep meanwhile, and long: they share cores with those who measure, and where they are many, looking
// often takes those whole.
Status wait_for_all(const Comm& comm, double& seconds) {
  MPI_Request request = MPI_REQUEST_NULL;
  double largest = 0;
  if (int rc = MPI_Iallreduce(&seconds, &largest, 1, MPI_DOUBLE, MPI_MAX, comm.get(), &request); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Iallreduce");
  for (int done = 0; done == 0;) {
    if (int rc = MPI_Test(&request, &done, MPI_STATUS_IGNORE); rc != MPI_SUCCESS) return mpi_status(rc, "MPI_Test");
    if (done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  seconds = largest;
  return {};
}

}  // namespace

Result<double> measure_link(const Comm& comm) {
  constexpr int k_sizes[] = {1, 64 << 10, 256 << 10, 1 << 20};  // the first: MPI connects at the first message
  constexpr double k_enough = 2e-3;
  constexpr int k_repetitions = 3;
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
    // The least of several: ranks that share cores keep each other waiting.
    double seconds = sends ? 1e9 : 0;
    for (int i = 0; sends && i < k_repetitions; ++i) {
      const double begin = MPI_Wtime();
      status.update(mpi_status(MPI_Sendrecv(memory.get(), size, MPI_BYTE, next, k_tag_link, memory.get() + k_sizes[3], size, MPI_BYTE, before,
                                            k_tag_link, comm.get(), MPI_STATUS_IGNORE),
                               "MPI_Sendrecv"));
      seconds = std::min(seconds, MPI_Wtime() - begin);
    }
    if (Status told = wait_for_all(comm, seconds); !told.ok()) return told;
    seconds_per_byte = seconds / size;
    if (size > 1 && seconds > k_enough) break;
  }
  if (!status.ok()) return status;
  return seconds_per_byte;
}

}  // namespace windrow
