// SPDX-License-Identifier: BSD-3-Clause
// Which of a set of messages have come. A message that is longer than what is awaited has come as well: it is an error
// of its sender's, and all others that are on their way still have to be taken, or ranks would wait for one another.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace windrow {

inline constexpr int64_t k_too_long = -1;

// MPI_Testsome. `done` and `statuses` have as many elements as `requests`; of the first `count`, bytes_of() holds.
// Requests that have ended are null.
int test_some(std::span<MPI_Request> requests, std::span<int> done, std::span<MPI_Status> statuses, int& count);

// MPI_Irecv of bytes. `came_too_long`: it has come already, and is too long; there is no request then. MPICH before 4.0
// says so here.
int post_receive(std::byte* place, int64_t room, int from, int tag, MPI_Comm comm, MPI_Request& request,
                 bool& came_too_long);

// MPI_Recv of a message that a probe has found, whatever its length. `bytes`: its own, or k_too_long where it has more
// than `place`; then nothing of it is kept.
int receive_found(std::span<std::byte> place, const MPI_Status& found, MPI_Comm comm, int64_t& bytes);

// Of a message that has come: its bytes, or k_too_long.
int64_t bytes_of(const MPI_Status& status);

}  // namespace windrow
