// SPDX-License-Identifier: BSD-3-Clause
#include "communicator.hpp"

#include <atomic>
#include <new>
#include <utility>
#include <vector>

namespace mpiio {
namespace {

// More groups of ranks than this open files in few programs.
constexpr size_t k_most_kept = 8;

// MPICH has 2048 communicators. With MPI_THREAD_MULTIPLE each open file takes several of them.
constexpr int k_most_own = 64;
std::atomic<int> own_duplicates{0};

// Bits of the agreement; preload.c contributes 0 on a rank without a core.
constexpr int k_has_core = 1;
constexpr int k_has_duplicate = 2;
constexpr int k_has_room = 4;

bool threads_may_call() {
  int level = MPI_THREAD_SINGLE;
  return MPI_Query_thread(&level) == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE;
}

// Used by one thread at a time: without MPI_THREAD_MULTIPLE.
std::vector<std::shared_ptr<Communicator>>& kept() {
  static auto* const list = new std::vector<std::shared_ptr<Communicator>>;
  return *list;
}

// Local: which of the duplicates has the same ranks in the same order.
std::shared_ptr<Communicator> find_kept(MPI_Comm user) {
  for (const auto& each : kept()) {
    int result = MPI_UNEQUAL;
    if (MPI_Comm_compare(user, each->comm, &result) == MPI_SUCCESS && result == MPI_CONGRUENT)
      return each;
  }
  return nullptr;
}

// Collective. Not MPI_Comm_dup(), which would call the program's functions for its attributes.
int make_duplicate(MPI_Comm user, MPI_Comm& made) {
  MPI_Group group = MPI_GROUP_NULL;
  if (const int code = MPI_Comm_group(user, &group); code != MPI_SUCCESS)
    return code;
  const int code = MPI_Comm_create(user, group, &made);
  MPI_Group_free(&group);
  return code;
}

}  // namespace

std::shared_ptr<Communicator> communicator_for(MPI_Comm user) {
  const bool may_keep = !threads_may_call();
  std::shared_ptr<Communicator> held = may_keep ? find_kept(user) : nullptr;
  std::shared_ptr<Communicator> made;
  int mine = 0;
  try {
    if (may_keep)
      kept().reserve(k_most_kept);
    made = std::make_shared<Communicator>();
    if (may_keep || own_duplicates < k_most_own)
      mine = k_has_core | (held ? k_has_duplicate : 0) | (may_keep && kept().size() < k_most_kept ? k_has_room : 0);
  } catch (const std::bad_alloc&) {}
  int all = 0;
  if (MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_BAND, user) != MPI_SUCCESS || (all & k_has_core) == 0)
    return nullptr;
  if ((all & k_has_duplicate) != 0)
    return held;
  if (make_duplicate(user, made->comm) != MPI_SUCCESS)
    return nullptr;
  MPI_Comm_set_errhandler(made->comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(made->comm, &made->rank);
  MPI_Comm_size(made->comm, &made->ranks);
  made->is_kept = (all & k_has_room) != 0;
  if (made->is_kept)
    kept().push_back(made);
  else
    ++own_duplicates;
  return made;
}

void leave(std::shared_ptr<Communicator>& held) noexcept {
  const std::shared_ptr<Communicator> mine = std::exchange(held, nullptr);
  if (mine && !mine->is_kept) {
    MPI_Comm_free(&mine->comm);
    --own_duplicates;
  }
}

}  // namespace mpiio
