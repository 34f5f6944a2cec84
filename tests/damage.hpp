// SPDX-License-Identifier: BSD-3-Clause
// Damages some of the messages that a program sends. The library is linked into the test, so it sends by the functions
// below, which use MPI's profiling interface. Include it in one source file of a program.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

namespace windrow_test {

enum class Damage {
  none,
  byte,
  shorter,
  longer,
  much_longer
};

inline Damage damage = Damage::none;
inline std::vector<int> damaged_tags;   // messages with these tags
inline int damaged_bytes_at_least = 8;  // and at least this length
inline int damaged_messages = 0;        // of this rank, so far

// Open MPI 4.1 writes past the end of the receiver's buffer when it copies a message that is too long directly from the
// memory of the sender. Call this before MPI_Init.
[[maybe_unused]] inline const int copies_in_pieces = setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);

// Sends a copy, because the buffer belongs to the library; the copy is never freed. Messages to the same rank are not
// damaged: there, too, Open MPI 4.1 writes past the end of the receiver's buffer.
template <class Send>
int damaged(Send send, const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const bool touched =
      damage != Damage::none && std::find(damaged_tags.begin(), damaged_tags.end(), tag) != damaged_tags.end();
  if (!touched || to == rank || type != MPI_BYTE || count < damaged_bytes_at_least)
    return send(buffer, count);
  ++damaged_messages;
  constexpr int k_room = 20000;
  auto* copy = new char[static_cast<size_t>(count + k_room)]();
  std::copy_n(static_cast<const char*>(buffer), count, copy);
  static std::vector<std::unique_ptr<char[]>> kept;
  kept.emplace_back(copy);
  switch (damage) {
    case Damage::byte:
      copy[count / 2] = static_cast<char>(copy[count / 2] ^ 0x40);
      return send(copy, count);
    case Damage::shorter:
      return send(copy, count - 7);
    case Damage::longer:
      return send(copy, count + 17);
    default:
      return send(copy, count + k_room);
  }
}

}  // namespace windrow_test

extern "C" int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return windrow_test::damaged(
      [&](const void* bytes, int length) { return PMPI_Send(bytes, length, type, to, tag, comm); }, buffer, count, type,
      to, tag, comm);
}
extern "C" int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  return windrow_test::damaged(
      [&](const void* bytes, int length) { return PMPI_Isend(bytes, length, type, to, tag, comm, request); }, buffer,
      count, type, to, tag, comm);
}
extern "C" int MPI_Issend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                          MPI_Request* request) {
  return windrow_test::damaged(
      [&](const void* bytes, int length) { return PMPI_Issend(bytes, length, type, to, tag, comm, request); }, buffer,
      count, type, to, tag, comm);
}
