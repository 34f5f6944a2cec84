// SPDX-License-Identifier: BSD-3-Clause
#include "distribute.hpp"

#include <optional>
#include <string>

namespace windrow::mesh {
namespace {

// Calls visit(list) for each list of a part.
template <class Part, class Visit>
void for_each_list(Part& part, Visit&& visit) {
  visit(part.totals), visit(part.numbers), visit(part.places), visit(part.owned), visit(part.cell_numbers);
  visit(part.corners), visit(part.neighbours), visit(part.starts), visit(part.shared);
}

// Runs `work` on rank 0; when it throws, every rank throws a Failure with its message.
void on_rank_0(MPI_Comm comm, int rank, const std::function<void()>& work) {
  std::string message;
  try {
    if (rank == 0)
      work();
  } catch (const std::exception& error) {
    message = error.what();
  }
  auto size = static_cast<int>(message.size());
  MPI_Bcast(&size, 1, MPI_INT, 0, comm);
  message.resize(static_cast<size_t>(size));
  MPI_Bcast(message.data(), size, MPI_CHAR, 0, comm);
  if (size > 0)
    throw Failure(message);
}

}  // namespace

MeshPart distribute(MPI_Comm comm, const std::function<TetrahedralMesh()>& read) {
  int size = 1, rank = 0;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  std::optional<CutMesh> cut;
  on_rank_0(comm, rank, [&] {
    cut = cut_mesh(read(), size);
    for (const auto& part : cut->tetrahedra)
      if (part.size() >= 1 << 25)
        throw std::runtime_error("a part has more tetrahedra than a message can; take more ranks");
  });
  MeshPart part;
  for (int to = size - 1; to >= 0 && cut; --to) {  // its own part is rank 0's last
    part = part_of(*cut, to);
    for_each_list(part, [&](const auto& list) {
      if (to > 0)
        MPI_Send(list.data(), static_cast<int>(list.size() * sizeof list[0]), MPI_BYTE, to, 0, comm);
    });
  }
  for_each_list(part, [&](auto& list) {
    if (rank == 0)
      return;
    MPI_Status status;
    int bytes = 0;
    MPI_Probe(0, 0, comm, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    list.resize(static_cast<size_t>(bytes) / sizeof list[0]);
    MPI_Recv(list.data(), bytes, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
  });
  return part;
}

}  // namespace windrow::mesh
