// SPDX-License-Identifier: BSD-3-Clause
#include "comm/clock.hpp"

#include <array>
#include <chrono>

namespace windrow {
namespace {

constexpr int k_questions = 8;  // the first round trip sets up the connection, or waits for the hosts before

double now() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Status answer(const Comm& comm, int root) {
  int rc = MPI_SUCCESS;
  for (int i = 0; i < k_questions && rc == MPI_SUCCESS; ++i) {
    rc = MPI_Recv(nullptr, 0, MPI_BYTE, root, k_tag_clock, comm.get(), MPI_STATUS_IGNORE);
    const double time = now();
    if (rc == MPI_SUCCESS)
      rc = MPI_Send(&time, 1, MPI_DOUBLE, root, k_tag_clock, comm.get());
  }
  return mpi_status(rc, "MPI_Recv of the clock");
}

Status ask(const Comm& comm, ClockOffset& best) {
  best.accuracy = 1e9;
  int rc = MPI_SUCCESS;
  for (int i = 0; i < k_questions && rc == MPI_SUCCESS; ++i) {
    double theirs = 0;
    const double asked = now();
    rc = MPI_Sendrecv(nullptr, 0, MPI_BYTE, 0, k_tag_clock, &theirs, 1, MPI_DOUBLE, 0, k_tag_clock, comm.get(),
                      MPI_STATUS_IGNORE);
    const double answered = now(), half = (answered - asked) / 2;
    if (rc == MPI_SUCCESS && half < best.accuracy)
      best = {theirs - (asked + half), half};
  }
  return mpi_status(rc, "MPI_Sendrecv of the clock");
}

}  // namespace

Result<ClockOffset> measure_clock(const Comm& comm) {
  ClockOffset offset;
  if (comm.host_roots().size() < 2)
    return offset;
  Status status;
  if (comm.rank() == 0) {
    for (const int root : comm.host_roots())
      if (root != 0)
        status.update(answer(comm, root));
  } else if (comm.host_rank() == 0) {
    status = ask(comm, offset);
  }
  std::array<double, 2> shared{offset.seconds, offset.accuracy};
  status.update(mpi_status(MPI_Bcast(shared.data(), 2, MPI_DOUBLE, 0, comm.host()), "MPI_Bcast"));
  if (!status.ok())
    return status;
  return ClockOffset{shared[0], shared[1]};
}

}  // namespace windrow
