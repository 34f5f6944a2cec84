// SPDX-License-Identifier: BSD-3-Clause
// Tests a set of receives for completion. A message longer than expected is complete too. It is an error of its sender,
// and all other pending messages must still be received, or ranks would wait for each other.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace windrow {

inline constexpr int64_t k_too_long = -1;

// MPI_Testsome. `done` and `statuses` have as many elements as `requests`; bytes_of() applies to the first `count`.
// Completed requests are null.
int test_some(std::span<MPI_Request> requests, std::span<int> done, std::span<MPI_Status> statuses, int& count);

// MPI_Irecv of bytes. `too_long`: a message has arrived already and is too long; there is no request in this case.
// MPICH before 4.0 reports the error here.
int post_receive(std::byte* place, int64_t room, int from, int tag, MPI_Comm comm, MPI_Request& request,
                 bool& too_long);

// MPI_Recv of a probed message of any length. `bytes`: its length, or k_too_long if it exceeds `place`; its content is
// then discarded.
int receive_found(std::span<std::byte> place, const MPI_Status& found, MPI_Comm comm, int64_t& bytes);

// The length of a received message, or k_too_long.
int64_t bytes_of(const MPI_Status& status);

}  // namespace windrow
