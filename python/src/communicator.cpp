// SPDX-License-Identifier: BSD-3-Clause
#include "communicator.hpp"

#include <windrow/windrow.h>

#include <array>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <functional>
#include <thread>

#include "failure.hpp"

namespace windrow_python {
namespace {

void check_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Failure(WINDROW_MPI, -1, std::string(what) + ": " + text.data());
}

bool is_finalized() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized != 0;
}

void finalize() {
  if (!is_finalized()) MPI_Finalize();
}

// As mpi4py does: whoever comes first initialises, and who initialised finalizes.
void initialise() {
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (is_finalized()) throw Failure(WINDROW_BAD_STATE, -1, "MPI has been finalized");
  if (initialised != 0) return;
  int provided = 0;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
  std::atexit(finalize);
}

int on_free(MPI_Comm, int, void* value, void*) {
  auto* is_there = static_cast<std::shared_ptr<bool>*>(value);
  **is_there = false;
  delete is_there;
  return MPI_SUCCESS;
}

// What the ranks tell each other, and the smallest of each number. MPI may go on writing to it where this rank has waited long enough.
struct Words {
  std::array<int64_t, 4> mine;
  std::array<int64_t, 4> all;
};

// Whether a request ends in time. Waiting is counted in steps, so that a process that was stopped for a while has not been impatient.
bool ends(MPI_Request* request, double seconds) {
  using namespace std::chrono_literals;
  int done = 0;
  for (auto left = static_cast<int64_t>(seconds * 1000); done == 0 && left >= 0; --left) {
    check_mpi(MPI_Test(request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) std::this_thread::sleep_for(1ms);
  }
  return done != 0;
}

// The same text has the same number on every rank, whatever its library.
int64_t number_of(const std::string& text) {
  uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return static_cast<int64_t>(hash >> 2U);  // so that it can be negated
}

}  // namespace

Communicator::Communicator(MPI_Comm comm) : comm_(comm) {
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

Communicator Communicator::named(const std::string& name) {
  initialise();
  return Communicator(name == "world" ? MPI_COMM_WORLD : MPI_COMM_SELF);
}

Communicator Communicator::from_fortran(int64_t handle) {
  initialise();
  if (handle < INT_MIN || handle > INT_MAX) throw Failure(WINDROW_BAD_ARGUMENT, -1, "not a communicator of this MPI");
  MPI_Comm comm = MPI_Comm_f2c(static_cast<MPI_Fint>(handle));
  if (comm == MPI_COMM_NULL) throw Failure(WINDROW_BAD_ARGUMENT, -1, "the communicator is MPI.COMM_NULL");
  return Communicator(comm);
}

Communicator Communicator::duplicate() const {
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(comm_, &copy), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  return Communicator(copy);
}

void Communicator::free() {
  if (comm_ != MPI_COMM_NULL && !is_finalized()) MPI_Comm_free(&comm_);
  comm_ = MPI_COMM_NULL;
}

std::shared_ptr<const bool> Communicator::watch() const {
  static int keyval = MPI_KEYVAL_INVALID;
  if (keyval == MPI_KEYVAL_INVALID) {
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_free, &keyval, nullptr), "MPI_Comm_create_keyval");
  }
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(comm_, keyval, static_cast<void*>(&value), &found), "MPI_Comm_get_attr");
  if (found == 0) {
    value = new std::shared_ptr<bool>(std::make_shared<bool>(true));
    check_mpi(MPI_Comm_set_attr(comm_, keyval, value), "MPI_Comm_set_attr");
  }
  return *static_cast<std::shared_ptr<bool>*>(value);
}

std::string Communicator::from_rank(int root, const std::string& text) const {
  int length = static_cast<int>(text.size());
  check_mpi(MPI_Bcast(&length, 1, MPI_INT, root, comm_), "MPI_Bcast");
  std::string result = rank_ == root ? text : std::string(static_cast<size_t>(length), ' ');
  check_mpi(MPI_Bcast(result.data(), length, MPI_CHAR, root, comm_), "MPI_Bcast");
  return result;
}

std::string Communicator::first(const std::string& text) const {
  const int mine = text.empty() ? size_ : rank_;
  int lowest = mine;
  check_mpi(MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
  return lowest == size_ ? "" : from_rank(lowest, text);
}

Verdict Communicator::agree(const std::string& call, const std::string& problem, bool abandon) const {
  return *agree_within(k_forever, call, problem, abandon);
}

std::optional<Verdict> Communicator::agree_within(double seconds, const std::string& call, const std::string& problem,
                                                  bool abandon) const {
  if (is_finalized()) throw Failure(WINDROW_BAD_STATE, -1, call + " after MPI has been finalized");
  const int64_t number = number_of(call);
  // The lowest rank with a problem, whether any abandons, and the smallest and largest call: one minimum for all.
  auto words = std::make_unique<Words>();
  words->mine = {problem.empty() ? size_ : rank_, abandon ? 0 : 1, number, -number};
  words->all = words->mine;
  if (size_ > 1) {
    // Not MPI_Allreduce, since a rank that does not wait for ever must meet those that do.
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Iallreduce(words->mine.data(), words->all.data(), 4, MPI_INT64_T, MPI_MIN, comm_, &request),
              call.c_str());
    if (seconds == k_forever) {
      check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), call.c_str());
    } else if (!ends(&request, seconds)) {
      (void)words.release();
      return std::nullopt;
    }
  }
  return verdict_of(words->all, call, problem);
}

Verdict Communicator::verdict_of(const std::array<int64_t, 4>& all, const std::string& call,
                                 const std::string& problem) const {
  Verdict verdict{.rank = -1, .abandoned = all[1] == 0, .message = {}};
  if (all[0] < size_) {
    verdict.rank = static_cast<int>(all[0]);
    verdict.message = from_rank(verdict.rank, problem);
  } else if (all[2] != -all[3]) {
    const std::string first = from_rank(0, call);
    const int64_t other = call == first ? size_ : rank_;
    int64_t lowest = other;
    check_mpi(MPI_Allreduce(&other, &lowest, 1, MPI_INT64_T, MPI_MIN, comm_), call.c_str());
    verdict.rank = static_cast<int>(lowest);
    verdict.message = "the ranks are in different calls: rank 0 in " + first + ", rank " + std::to_string(lowest) +
                      " in " + from_rank(verdict.rank, call);
  }
  return verdict;
}

bool Communicator::any(bool mine) const {
  const int local = mine ? 1 : 0;
  int all = local;
  check_mpi(MPI_Allreduce(&local, &all, 1, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce");
  return all != 0;
}

std::pair<int64_t, int64_t> Communicator::place(int64_t count) const {
  int64_t up_to_here = count;
  int64_t all = count;
  check_mpi(MPI_Scan(&count, &up_to_here, 1, MPI_INT64_T, MPI_SUM, comm_), "MPI_Scan");
  check_mpi(MPI_Allreduce(&count, &all, 1, MPI_INT64_T, MPI_SUM, comm_), "MPI_Allreduce");
  return {up_to_here - count, all};
}

int world_size() {
  initialise();
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

std::string mpi_library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return text.data();
}

}  // namespace windrow_python
