// SPDX-License-Identifier: BSD-3-Clause
#include "comm/arrivals.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "comm/comm.hpp"

namespace windrow {
namespace {

// Open MPI 4.1 writes past the end of the receiver's buffer when it copies a message that is too long straight out of
// the sender's memory. Before MPI_Init.
[[maybe_unused]] const int copies_in_pieces = setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);

// Every rank sends one message to each other rank. Messages of rank 0 are longer than expected, by one byte or by a
// lot; those of the last rank are shorter. All of them arrive, for any previous messages.
TEST(TestSome, takes_messages_that_are_too_long_as_come) {
  const auto comm = Comm::of(MPI_COMM_WORLD).value();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD,
                          MPI_ERRORS_RETURN);  // MPICH calls this error handler, for any communicator
  const auto size = static_cast<size_t>(comm->size());
  constexpr int k_awaited = 1000;
  for (const int more : {1, 2000, 20000}) {
    const int bytes = comm->rank() == 0                  ? k_awaited + more
                      : comm->rank() + 1 == comm->size() ? k_awaited - 10
                                                         : k_awaited;
    const std::vector<std::byte> sent(static_cast<size_t>(bytes), std::byte{7});
    std::vector<std::byte> got(size * k_awaited);
    std::vector<MPI_Request> requests(size, MPI_REQUEST_NULL), sends(size, MPI_REQUEST_NULL);
    const auto me = static_cast<size_t>(comm->rank());
    for (size_t i = 0; i < size; ++i)
      if (i != me) {
        ASSERT_EQ(
            MPI_Irecv(&got[i * k_awaited], k_awaited, MPI_BYTE, static_cast<int>(i), 17, comm->get(), &requests[i]),
            MPI_SUCCESS);
      }
    for (size_t i = 0; i < size; ++i)
      if (i != me) {
        ASSERT_EQ(MPI_Isend(sent.data(), bytes, MPI_BYTE, static_cast<int>(i), 17, comm->get(), &sends[i]),
                  MPI_SUCCESS);
      }
    std::vector<int64_t> lengths(size, 0);
    std::vector<int> done(size);
    std::vector<MPI_Status> statuses(size);
    for (size_t come = 0; come + 1 < size;) {
      int count = 0;
      ASSERT_EQ(test_some(requests, done, statuses, count), MPI_SUCCESS);
      for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
        const auto from = static_cast<size_t>(done[i]);
        EXPECT_EQ(lengths[from], 0) << "it came twice";
        EXPECT_EQ(requests[from], MPI_REQUEST_NULL);
        lengths[from] = bytes_of(statuses[i]);
      }
      come += static_cast<size_t>(count);
    }
    for (size_t i = 0; i < size; ++i)
      EXPECT_EQ(lengths[i], i == me ? 0 : i == 0 ? k_too_long : i + 1 == size ? k_awaited - 10 : k_awaited) << i;
    int count = -1;
    EXPECT_EQ(test_some(requests, done, statuses, count), MPI_SUCCESS);  // nothing is left
    EXPECT_EQ(count, 0);
    EXPECT_EQ(MPI_Waitall(static_cast<int>(size), sends.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    MPI_Barrier(comm->get());
  }
}

}  // namespace
}  // namespace windrow
