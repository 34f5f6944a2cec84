// SPDX-License-Identifier: BSD-3-Clause
#include "comm/comm.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "comm/handle.hpp"

namespace windrow {

bool mpi_is_running() noexcept {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

Status mpi_status(int mpi_code, const char* call) {
  if (mpi_code == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING] = "unknown error";
  int length = 0;
  MPI_Error_string(mpi_code, text, &length);
  return {Code::mpi, fmt::format("{}: {}", call, text)};
}

// Duplicates are kept as an attribute of the user's communicator. Frees are collective, so they happen only where the
// user frees the communicator (which is collective), and only when no rank still holds a file or a decomposition on it;
// otherwise the duplicate stays until MPI ends. At MPI_Finalize nothing is freed: MPI_COMM_SELF's attributes go first, and ours
// there says so.
struct CommRegistry {
  int keyval = MPI_KEYVAL_INVALID;
  int self_keyval = MPI_KEYVAL_INVALID;
  bool finalizing = false;
  std::vector<std::shared_ptr<Comm>> orphans;

  static CommRegistry& instance() {
    static CommRegistry* registry = new CommRegistry;  // never destroyed: MPI may call back after main()
    return *registry;
  }

  static int on_finalize(MPI_Comm, int, void*, void*) {
    instance().finalizing = true;
    return MPI_SUCCESS;
  }

  static int on_free(MPI_Comm, int, void* value, void*) {
    auto* kept = static_cast<std::shared_ptr<Comm>*>(value);
    if (!instance().finalizing) release(*kept);
    delete kept;
    return MPI_SUCCESS;
  }

  // Collective.
  static void release(const std::shared_ptr<Comm>& comm) {
    int last = comm.use_count() == 1 ? 1 : 0, all_last = 0;
    MPI_Allreduce(&last, &all_last, 1, MPI_INT, MPI_MIN, comm->raw_);
    if (all_last == 1) {
      (void)comm->shared_.free();
      MPI_Comm_free(&comm->host_);
      MPI_Comm_free(&comm->raw_);
    } else {
      try {
        instance().orphans.push_back(comm);
      } catch (const std::bad_alloc&) {
        // The duplicate is lost to us; MPI frees it at its end.
      }
    }
  }

  Status prepare() {
    if (keyval != MPI_KEYVAL_INVALID) return {};
    int rc = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &self_keyval, nullptr);
    if (rc == MPI_SUCCESS) rc = MPI_Comm_set_attr(MPI_COMM_SELF, self_keyval, nullptr);
    if (rc == MPI_SUCCESS) rc = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_free, &keyval, nullptr);
    return mpi_status(rc, "MPI_Comm_create_keyval");
  }
};

Result<std::shared_ptr<Comm>> Comm::of(MPI_Comm user) {
  if (!mpi_is_running()) return Status{Code::bad_state, "MPI is not running: MPI_Init must come before, MPI_Finalize after"};
  if (user == MPI_COMM_NULL) return Status{Code::bad_argument, "the communicator is MPI_COMM_NULL"};
  int inter = 0;
  MPI_Comm_test_inter(user, &inter);
  if (inter != 0) return Status{Code::bad_argument, "the communicator is an intercommunicator; Windrow needs an intracommunicator"};
  auto& registry = CommRegistry::instance();
  if (Status status = registry.prepare(); !status.ok()) return status;
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(user, registry.keyval, &value, &found);
  if (found != 0) return *static_cast<std::shared_ptr<Comm>*>(value);
  auto made = make(user);
  if (!made.ok()) return made;
  const int rc = MPI_Comm_set_attr(user, registry.keyval, new std::shared_ptr<Comm>(made.value()));
  if (rc != MPI_SUCCESS) return mpi_status(rc, "MPI_Comm_set_attr");
  return made;
}

Result<std::shared_ptr<Comm>> Comm::make(MPI_Comm user) {
  std::shared_ptr<Comm> comm(new Comm);
  if (int rc = MPI_Comm_dup(user, &comm->raw_); rc != MPI_SUCCESS) return mpi_status(rc, "MPI_Comm_dup");
  MPI_Comm_set_errhandler(comm->raw_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm->raw_, &comm->rank_);
  MPI_Comm_size(comm->raw_, &comm->size_);
  if (Status status = comm->find_hosts(); !status.ok()) return status;
  return comm;
}

Status Comm::find_hosts() {
  char name[MPI_MAX_PROCESSOR_NAME + 1] = {};
  int length = 0;
  MPI_Get_processor_name(name, &length);
  host_name_.assign(name, static_cast<size_t>(length));
  if (int rc = MPI_Comm_split_type(raw_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host_); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Comm_split_type");
  MPI_Comm_set_errhandler(host_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(host_, &host_rank_);
  MPI_Comm_size(host_, &host_size_);
  // One flag a rank, once in a communicator's life: the only list here as long as there are ranks, and it is dropped at once.
  std::vector<unsigned char> is_root(static_cast<size_t>(size_));
  const unsigned char mine = host_rank_ == 0 ? 1 : 0;
  if (int rc = MPI_Allgather(&mine, 1, MPI_UNSIGNED_CHAR, is_root.data(), 1, MPI_UNSIGNED_CHAR, raw_); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Allgather");
  for (int rank = 0; rank < size_; ++rank)
    if (is_root[static_cast<size_t>(rank)] != 0) host_roots_.push_back(rank);
  int root = rank_;
  if (int rc = MPI_Bcast(&root, 1, MPI_INT, 0, host_); rc != MPI_SUCCESS) return mpi_status(rc, "MPI_Bcast");
  host_ranks_.resize(static_cast<size_t>(host_size_));
  if (int rc = MPI_Allgather(&rank_, 1, MPI_INT, host_ranks_.data(), 1, MPI_INT, host_); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Allgather");
  host_index_ = static_cast<int>(std::lower_bound(host_roots_.begin(), host_roots_.end(), root) - host_roots_.begin());
  return {};
}

int Comm::host_rank_of(int rank) const noexcept {
  const auto found = std::lower_bound(host_ranks_.begin(), host_ranks_.end(), rank);
  return found != host_ranks_.end() && *found == rank ? static_cast<int>(found - host_ranks_.begin()) : -1;
}

}  // namespace windrow
