// SPDX-License-Identifier: BSD-3-Clause
#include "comm/comm.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "comm/handle.hpp"
#include "comm/host_messages.hpp"
#include "comm/wait.hpp"

namespace windrow {

bool mpi_is_running() noexcept {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

Status mpi_status(int mpi_code, const char* call) {
  if (mpi_code == MPI_SUCCESS)
    return {};
  char text[MPI_MAX_ERROR_STRING] = "unknown error";
  int length = 0;
  MPI_Error_string(mpi_code, text, &length);
  return {Code::mpi, fmt::format("{}: {}", call, text)};
}

// Duplicates are stored as an attribute of the user's communicator. MPI_Comm_free is collective, so a duplicate is
// freed only when the user frees the communicator, and only if no rank still holds a file or a decomposition on it.
// Otherwise it stays until the last file on it is closed, or until MPI ends. Nothing is freed in MPI_Finalize, which
// deletes attributes of MPI_COMM_SELF first; our attribute there sets a flag.
struct CommRegistry {
  int keyval = MPI_KEYVAL_INVALID;
  int self_keyval = MPI_KEYVAL_INVALID;
  bool finalizing = false;
  std::mutex mutex;  // threads may open and close files at the same time; not held during communication
  std::shared_ptr<Comm>
      // the newest; a linked list within the objects, since a rank without memory must complete every collective step
      orphans;

  static CommRegistry& instance() {
    // Never destroyed, since MPI may call back after main(). Not on the heap, since a rank without memory must complete
    // every collective step.
    alignas(CommRegistry) static std::byte place[sizeof(CommRegistry)];
    static CommRegistry* registry = new (place) CommRegistry;
    return *registry;
  }

  static int on_finalize(MPI_Comm, int, void*, void*) {
    instance().finalizing = true;
    return MPI_SUCCESS;
  }

  static int on_free(MPI_Comm, int, void* value, void*) {
    auto* kept = static_cast<std::shared_ptr<Comm>*>(value);
    if (!instance().finalizing)
      release(*kept);
    delete kept;
    return MPI_SUCCESS;
  }

  // Collective.
  static void release(const std::shared_ptr<Comm>& comm) {
    int last = comm.use_count() == 1 ? 1 : 0, all_last = 0;
    MPI_Allreduce(&last, &all_last, 1, MPI_INT, MPI_MIN, comm->raw_);
    if (all_last == 1)
      free(*comm);
    else
      instance().add_orphan(comm);
  }

  void add_orphan(const std::shared_ptr<Comm>& comm) {
    const std::scoped_lock lock(mutex);
    comm->older_orphan_ = std::move(orphans);
    orphans = comm;
  }

  // The link that points to it, or nullptr if the communicator still exists.
  std::shared_ptr<Comm>* orphan(const std::shared_ptr<Comm>& comm) noexcept {
    for (std::shared_ptr<Comm>* at = &orphans; *at != nullptr; at = &(*at)->older_orphan_)
      if (*at == comm)
        return at;
    return nullptr;
  }

  // Collective.
  static void free(Comm& comm) {
    comm.shared_.free();
    comm.rounds_.free();
    comm.host_rounds_.free();
    MPI_Comm_free(&comm.host_);
    MPI_Comm_free(&comm.raw_);
  }

  Status prepare() {
    const std::scoped_lock lock(mutex);
    if (keyval != MPI_KEYVAL_INVALID)
      return {};
    int rc = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &self_keyval, nullptr);
    if (rc == MPI_SUCCESS)
      rc = MPI_Comm_set_attr(MPI_COMM_SELF, self_keyval, nullptr);
    if (rc == MPI_SUCCESS)
      rc = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_free, &keyval, nullptr);
    return mpi_status(rc, "MPI_Comm_create_keyval");
  }
};

namespace {

Status check_communicator(MPI_Comm user) {
  if (!mpi_is_running())
    return {Code::bad_state, "MPI is not running: call MPI_Init before and MPI_Finalize afterwards"};
  if (user == MPI_COMM_NULL)
    return {Code::bad_argument, "the communicator is MPI_COMM_NULL"};
  int inter = 0;
  MPI_Comm_test_inter(user, &inter);
  if (inter != 0)
    return {Code::bad_argument, "the communicator is an intercommunicator; Windrow needs an intracommunicator"};
  return CommRegistry::instance().prepare();
}

}  // namespace

Result<std::shared_ptr<Comm>> Comm::of(MPI_Comm user) {
  if (Status status = check_communicator(user); !status.ok())
    return status;
  const auto& registry = CommRegistry::instance();
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(user, registry.keyval, &value, &found);
  if (found != 0)
    return *static_cast<std::shared_ptr<Comm>*>(value);
  std::unique_ptr<std::shared_ptr<Comm>> kept;
  if (Status status = make(user, kept); !status.ok())
    return status;
  std::shared_ptr<Comm> made = *kept;
  const int rc = MPI_Comm_set_attr(user, registry.keyval, kept.get());
  if (rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Comm_set_attr");
  (void)kept.release();  // owned by the attribute: see on_free()
  return made;
}

// The duplicate of a file is an orphan from the start: it is freed when the file is closed.
Result<std::shared_ptr<Comm>> Comm::for_file(MPI_Comm user) {
  if (Status status = check_communicator(user); !status.ok())
    return status;
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE)
    return of(user);
  std::unique_ptr<std::shared_ptr<Comm>> made;
  if (Status status = make(user, made); !status.ok())
    return status;
  (*made)->is_of_file_ = true;
  CommRegistry::instance().add_orphan(*made);
  return *made;
}

namespace {

// A test or user may divide a machine into several hosts, such as one for each memory controller. 0: not divided; -1:
// not a valid number of ranks.
int asked_ranks_per_host() noexcept {
  const char* text = std::getenv("WINDROW_RANKS_PER_HOST");
  if (text == nullptr)
    return 0;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return end != text && *end == '\0' && value > 0 && value < INT_MAX ? static_cast<int>(value) : -1;
}

constexpr uint32_t k_root = 1;  // bit in a rank's mark: the first rank of its host

// Equal on ranks that share cores, even in different containers, namespaces or parts of a machine; 0: unknown.
uint32_t machine_mark() noexcept {
  char id[64] = {};
  const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  const ssize_t length = read(file, id, sizeof id);
  close(file);
  uint32_t mark = 2166136261U;  // FNV-1a
  for (ssize_t i = 0; i < length; ++i)
    mark = (mark ^ static_cast<unsigned char>(id[i])) * 16777619U;
  return length > 0 ? mark & ~k_root : 0;
}

// Collective; the same result on every rank. The largest requested division counts. `ranks`, `parts`: of this machine.
Status split_host(MPI_Comm raw, MPI_Comm& host, int& ranks, int& parts) {
  const int wish = asked_ranks_per_host();
  int most[2] = {wish, wish < 0 ? 1 : 0}, rank = 0;
  MPI_Comm_size(host, &ranks);
  if (int rc = MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT, MPI_MAX, raw); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Allreduce");
  if (most[1] != 0)
    return guard([] {
      return Status{Code::bad_argument, "WINDROW_RANKS_PER_HOST must be a whole number of at least 1"};
    });
  if (most[0] == 0)
    return {};
  MPI_Comm_rank(host, &rank);
  MPI_Comm part = MPI_COMM_NULL;
  if (int rc = MPI_Comm_split(host, rank / most[0], rank, &part); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Comm_split");
  MPI_Comm_free(&host);
  host = part;
  parts = (ranks + most[0] - 1) / most[0];
  return {};
}

}  // namespace

// A rank without memory completes every collective step with the others: everything needed before the agreement is on
// the stack.
Status Comm::make(MPI_Comm user, std::unique_ptr<std::shared_ptr<Comm>>& kept) {
  MPI_Comm raw = MPI_COMM_NULL, host = MPI_COMM_NULL;
  if (int rc = MPI_Comm_dup(user, &raw); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Comm_dup");
  MPI_Comm_set_errhandler(raw, MPI_ERRORS_RETURN);
  int rank = 0, host_rank = 0, hosts = 0;
  MPI_Comm_rank(raw, &rank);
  if (int rc = MPI_Comm_split_type(raw, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Comm_split_type");
  int ranks = 1, parts = 1;
  if (Status status = split_host(raw, host, ranks, parts); !status.ok()) {
    MPI_Comm_free(&host);
    MPI_Comm_free(&raw);
    return status;
  }
  MPI_Comm_set_errhandler(host, MPI_ERRORS_RETURN);
  MPI_Comm_rank(host, &host_rank);
  const int mine = host_rank == 0 ? 1 : 0;
  if (int rc = MPI_Allreduce(&mine, &hosts, 1, MPI_INT, MPI_SUM, raw); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Allreduce");
  // One mark for each rank, once for a communicator. This is the only list with an entry for each rank, and it is freed
  // at once.
  std::vector<uint32_t> marks;
  const Status local = guard([&] {
    kept = std::make_unique<std::shared_ptr<Comm>>();
    kept->reset(new Comm);
    (*kept)->shared_.share_machine(parts);
    (*kept)->machine_size_ = ranks;
    return (*kept)->take(raw, host, hosts, marks);
  });
  int failed = local.ok() ? INT_MAX : rank, lowest = INT_MAX;
  if (int rc = MPI_Allreduce(&failed, &lowest, 1, MPI_INT, MPI_MIN, raw); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Allreduce");
  if (lowest != INT_MAX) {
    MPI_Comm_free(&host);
    MPI_Comm_free(&raw);
    return {Code::out_of_memory, out_of_memory().message(), lowest};
  }
  return (*kept)->find_hosts(marks);
}

// Local: stores the handles, and allocates everything that find_hosts() needs.
Status Comm::take(MPI_Comm raw, MPI_Comm host, int hosts, std::vector<uint32_t>& marks) {
  raw_ = raw;
  host_ = host;
  MPI_Comm_rank(raw_, &rank_);
  MPI_Comm_size(raw_, &size_);
  MPI_Comm_rank(host_, &host_rank_);
  MPI_Comm_size(host_, &host_size_);
  char name[MPI_MAX_PROCESSOR_NAME + 1] = {};
  int length = 0;
  MPI_Get_processor_name(name, &length);
  host_name_.assign(name, static_cast<size_t>(length));
  host_roots_.reserve(static_cast<size_t>(hosts));
  host_ranks_.resize(static_cast<size_t>(host_size_));
  marks.resize(static_cast<size_t>(size_));
  if (hosts > 1)
    host_table_.resize(size_);
  return {};
}

// Collective: the roots of all hosts, and the ranks that share this machine.
Status Comm::find_roots(std::vector<uint32_t>& marks) {
  const uint32_t machine = machine_mark(), mine = machine | (host_rank_ == 0 ? k_root : 0);
  if (int rc = MPI_Allgather(&mine, 1, MPI_UINT32_T, marks.data(), 1, MPI_UINT32_T, raw_); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Allgather");
  int sharing = 0;
  for (int rank = 0; rank < size_; ++rank) {
    const uint32_t mark = marks[static_cast<size_t>(rank)];
    if ((mark & k_root) != 0)
      host_roots_.push_back(rank);
    if ((mark & ~k_root) == machine)
      ++sharing;
  }
  if (machine != 0)
    machine_size_ = sharing;
  return {};
}

void Comm::prepare_one_host() {
  if (size_ < 2)
    return;
  rounds_.prepare(host_, host_rank_, host_size_, message_room(size_));
  if (!rounds_.is_ready())
    tree_.prepare(raw_, size_, rank_, machine_size_);
}

// Collective. `root`: of this host.
Status Comm::prepare_hosts(int root) {
  std::vector<int>& roots = host_table_.resize(size_);  // allocated by take()
  if (int rc = MPI_Allgather(&root, 1, MPI_INT, roots.data(), 1, MPI_INT, raw_); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Allgather");
  host_table_.number(host_roots_);
  if (host_size_ > 1)
    host_rounds_.prepare(host_, host_rank_, host_size_, 0, ranks_per_core(machine_size_));
  int ready = host_size_ == 1 || host_rounds_.is_ready() ? 1 : 0, all_ready = 0;
  if (int rc = MPI_Allreduce(&ready, &all_ready, 1, MPI_INT, MPI_MIN, raw_); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Allreduce");
  if (all_ready != 0)
    tree_.prepare(raw_, host_roots_, host_index_, machine_size_, host_size_ > 1 ? &host_rounds_ : nullptr, host_ranks_);
  else
    tree_.prepare(raw_, size_, rank_, machine_size_);
  return {};
}

Status Comm::find_hosts(std::vector<uint32_t>& marks) {
  if (Status status = find_roots(marks); !status.ok())
    return status;
  int root = rank_;
  if (int rc = MPI_Bcast(&root, 1, MPI_INT, 0, host_); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Bcast");
  if (int rc = MPI_Allgather(&rank_, 1, MPI_INT, host_ranks_.data(), 1, MPI_INT, host_); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Allgather");
  host_index_ = static_cast<int>(std::lower_bound(host_roots_.begin(), host_roots_.end(), root) - host_roots_.begin());
  if (host_size_ < size_)
    return prepare_hosts(root);
  prepare_one_host();
  return {};
}

void Comm::enter(OpenFile& file) noexcept {
  file.number = ++files_opened_;
  file.next = std::exchange(open_files_, &file);
}

void Comm::leave(OpenFile& file) noexcept {
  OpenFile** at = &open_files_;
  while (*at != nullptr && *at != &file)
    at = &(*at)->next;
  if (*at != nullptr)
    *at = file.next;
}

void Comm::lose_step(const Mismatch& found) const noexcept {
  if (scope_ != nullptr)
    scope_->lose_step(found);
  for (OpenFile* file = open_files_; file != nullptr; file = file->next)
    if (found.affects(file->number))
      file->out_of_step = true;
}

bool Comm::is_last(const std::shared_ptr<Comm>& held) {
  const std::scoped_lock lock(CommRegistry::instance().mutex);
  return held.use_count() == 2 && CommRegistry::instance().orphan(held) != nullptr;
}

void Comm::end(const std::shared_ptr<Comm>& held) {
  {
    const std::scoped_lock lock(CommRegistry::instance().mutex);
    if (std::shared_ptr<Comm>* const link = CommRegistry::instance().orphan(held))
      *link = std::exchange(held->older_orphan_, nullptr);
  }
  CommRegistry::free(*held);
}

void Comm::end_unused(const std::shared_ptr<Comm>& held) {
  if (held->is_of_file_)
    end(held);
}

int Comm::host_rank_of(int rank) const noexcept {
  const auto found = std::lower_bound(host_ranks_.begin(), host_ranks_.end(), rank);
  return found != host_ranks_.end() && *found == rank ? static_cast<int>(found - host_ranks_.begin()) : -1;
}

}  // namespace windrow
