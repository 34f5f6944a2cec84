// SPDX-License-Identifier: BSD-3-Clause
// The functions that the core puts in place of MPI's.
#include <array>
#include <cstdio>
#include <string>

#include "hooks.h"
#include "open_file.hpp"
#include "transfer.hpp"

namespace mpiio {

const mpiio_functions* mpi = nullptr;

namespace {

int core_open(mpi_word comm, const char* path, int amode, mpi_word info, mpi_word* file) {
  return open_file(handle_of<MPI_Comm>(comm), path, amode, handle_of<MPI_Info>(info),
                   reinterpret_cast<MPI_File*>(file));
}

int core_close(mpi_word* file) {
  return close_file(reinterpret_cast<MPI_File*>(file));
}

// MPI has the true view, for calls that go to it.
int core_set_view(mpi_word file, int64_t displacement, mpi_word etype, mpi_word filetype, const char* datarep,
                  mpi_word info) {
  const int code = mpi->set_view(file, displacement, etype, filetype, datarep, info);
  OpenFile* const known = find_file(handle_of<MPI_File>(file));
  if (code != MPI_SUCCESS || known == nullptr || known->refusal != Refusal::none)
    return code;
  known->view.set(displacement, handle_of<MPI_Datatype>(etype), handle_of<MPI_Datatype>(filetype), datarep);
  return code;
}

int core_set_atomicity(mpi_word file, int flag) {
  const int code = mpi->set_atomicity(file, flag);
  OpenFile* const known = find_file(handle_of<MPI_File>(file));
  if (code == MPI_SUCCESS && known != nullptr)
    known->is_atomic = flag != 0;
  return code;
}

int core_get_info(mpi_word file, void* info) {
  const int code = mpi->get_info(file, info);
  const OpenFile* const known = find_file(handle_of<MPI_File>(file));
  if (code == MPI_SUCCESS && known != nullptr) {
    const char* const reason = known->is_atomic ? "atomic" : name_of(known->refusal);
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%s%s", *reason == '\0' ? "taken" : "passed: ", reason);
    MPI_Info_set(*static_cast<MPI_Info*>(info), "windrow_mpiio", text.data());
  }
  return code;
}

int core_move(const mpiio_call* call) {
  return move(*call);
}

int core_end(const mpiio_call* call) {
  return end_split(*call);
}

const mpiio_functions functions{.open = core_open,
                                .close = core_close,
                                .set_view = core_set_view,
                                .set_atomicity = core_set_atomicity,
                                .get_info = core_get_info,
                                .move = core_move,
                                .end = core_end};

}  // namespace
}  // namespace mpiio

extern "C" __attribute__((visibility("default"))) const mpiio_functions* windrow_mpiio_core(
    const mpiio_functions* mpi, const void* library_version) {
  // Two libraries of MPI may be in the process, and only the program's is initialized.
  if (library_version != reinterpret_cast<const void*>(&PMPI_Get_library_version))
    return nullptr;
  mpiio::mpi = mpi;
  return &mpiio::functions;
}
