// SPDX-License-Identifier: BSD-3-Clause
#include "communicator.hpp"

#include <windrow/windrow.h>

#include <array>
#include <climits>
#include <cstdlib>

#include "agreement.hpp"
#include "failure.hpp"

namespace windrow_python {

void check_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS)
    return;
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

namespace {

void finalize() {
  if (!is_finalized())
    MPI_Finalize();
}

// Like mpi4py: initialises MPI if nothing else has, and only then finalizes it.
void initialise() {
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (is_finalized())
    throw Failure(WINDROW_BAD_STATE, -1, "MPI has been finalized");
  if (initialised != 0)
    return;
  int provided = 0;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
  std::atexit(finalize);
}

int on_free(MPI_Comm comm, int, void* value, void*) {
  const std::unique_ptr<Kept> kept(static_cast<Kept*>(value));
  *kept->is_there = false;
  // MPI_Finalize frees everything of MPI_COMM_WORLD.
  if (kept->agreements != nullptr && comm != MPI_COMM_WORLD)
    kept->agreements->lose_owner();
  return MPI_SUCCESS;
}

}  // namespace

Communicator::Communicator(MPI_Comm comm) : comm_(comm) {
  int inter = 0;
  check_mpi(MPI_Comm_test_inter(comm_, &inter), "MPI_Comm_test_inter");
  // An error on all of its ranks. Otherwise the first collective calls would return on some ranks and hang on others.
  if (inter != 0)
    throw Failure(WINDROW_BAD_ARGUMENT, -1,
                  "the communicator is an intercommunicator; Windrow needs an intracommunicator");
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

Communicator Communicator::named(const std::string& name) {
  initialise();
  return Communicator(name == "world" ? MPI_COMM_WORLD : MPI_COMM_SELF);
}

Communicator Communicator::from_fortran(int64_t handle) {
  initialise();
  if (handle < INT_MIN || handle > INT_MAX)
    throw Failure(WINDROW_BAD_ARGUMENT, -1, "not a communicator of this MPI");
  MPI_Comm comm = MPI_Comm_f2c(static_cast<MPI_Fint>(handle));
  if (comm == MPI_COMM_NULL)
    throw Failure(WINDROW_BAD_ARGUMENT, -1, "the communicator is MPI.COMM_NULL");
  return Communicator(comm);
}

Kept& Communicator::kept() const {
  static const int keyval = [] {
    int made = MPI_KEYVAL_INVALID;
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_free, &made, nullptr), "MPI_Comm_create_keyval");
    return made;
  }();
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(comm_, keyval, static_cast<void*>(&value), &found), "MPI_Comm_get_attr");
  if (found == 0) {
    value = new Kept;
    check_mpi(MPI_Comm_set_attr(comm_, keyval, value), "MPI_Comm_set_attr");
  }
  return *static_cast<Kept*>(value);
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
