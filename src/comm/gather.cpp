// SPDX-License-Identifier: BSD-3-Clause
#include "comm/gather.hpp"

#include "comm/wait.hpp"

namespace windrow {

Status Gatherer::run(const Comm& comm, std::span<const std::byte> mine) {
  const auto length = static_cast<int>(mine.size());
  MPI_Request request = MPI_REQUEST_NULL;
  int rc = MPI_Igather(&length, 1, MPI_INT, lengths_.data(), 1, MPI_INT, 0, comm.get(), &request);
  if (rc == MPI_SUCCESS)
    rc = wait_for(&request, comm.machine_size());
  if (rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Igather");
  int end = 0;
  for (size_t i = 0; i < lengths_.size(); ++i) {
    offsets_[i] = end;
    end += lengths_[i];
  }
  rc = MPI_Igatherv(mine.data(), length, MPI_BYTE, memory_.get(), lengths_.data(), offsets_.data(), MPI_BYTE, 0,
                    comm.get(), &request);
  if (rc == MPI_SUCCESS)
    rc = wait_for(&request, comm.machine_size());
  return mpi_status(rc, "MPI_Igatherv");
}

}  // namespace windrow
