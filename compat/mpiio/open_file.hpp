// SPDX-License-Identifier: BSD-3-Clause
// OpenFile: what the core knows about a file that MPI has opened. MPI's own file stays open beside it.
#pragma once

#include <mpi.h>
#include <windrow/windrow.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "communicator.hpp"
#include "file_facts.hpp"
#include "hints.hpp"
#include "hooks.h"
#include "report.hpp"

namespace mpiio {

// A handle of MPI as a word, and back. Open MPI's handles are pointers, those of MPICH integers.
template <class Handle>
Handle handle_of(mpi_word word) noexcept {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<Handle>(word);
  else
    return static_cast<Handle>(word);
}
template <class Handle>
mpi_word word_of(Handle handle) noexcept {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<mpi_word>(handle);
  else
    return static_cast<mpi_word>(handle);
}

bool is_predefined(MPI_Datatype type);

// The view of a rank: duplicates of the program's datatypes, which it may free.
class View {
 public:
  View() = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() { free_types(); }

  // `datarep`: only native data can be moved as bytes.
  void set(int64_t displacement, MPI_Datatype etype, MPI_Datatype filetype, const char* datarep);

  bool is_usable() const noexcept { return is_usable_; }
  bool is_plain() const noexcept { return !has_types_; }  // all bytes of the file from `displacement` on
  int64_t etype_size() const noexcept { return etype_size_; }
  windrow_byte_view as_windrow() const noexcept;

 private:
  void free_types() noexcept;

  bool is_usable_ = true;
  bool has_types_ = false;
  int64_t displacement_ = 0;
  int64_t etype_size_ = 1;
  MPI_Datatype etype_ = MPI_BYTE;
  MPI_Datatype filetype_ = MPI_BYTE;
};

struct OpenFile {
  std::string path;
  int amode = 0;
  std::shared_ptr<Communicator> ranks;  // nullptr if `refusal` is about opening
  Refusal refusal = Refusal::none;      // the same on all ranks
  bool is_atomic = false;               // the same on all ranks
  uint64_t device = 0, inode = 0;
  Hints hints;
  View view;
  windrow_bytes* bytes = nullptr;  // opened by the first call that is taken
  int64_t small_calls = 0;         // that went to MPI; the same on all ranks
  std::string message;             // rank 0: why Windrow could not open the file
  // A split call whose first half Windrow took.
  struct Split {
    bool is_taken = false;
    bool writes = false, has_offset = false;
    int64_t bytes = 0;
  } split;
  Tally tally;

  bool may_read() const noexcept { return (amode & (MPI_MODE_RDONLY | MPI_MODE_RDWR)) != 0; }
  bool may_write() const noexcept { return (amode & (MPI_MODE_WRONLY | MPI_MODE_RDWR)) != 0; }
};

// The open files by MPI's handle. Local; any thread.
void add_file(MPI_File handle, std::unique_ptr<OpenFile> file);  // throws std::bad_alloc
OpenFile* find_file(MPI_File handle) noexcept;                   // nullptr: MPI's alone
std::unique_ptr<OpenFile> remove_file(MPI_File handle) noexcept;

// MPI_File_open(): MPI opens the file, then the ranks agree whether it is taken. Collective.
int open_file(MPI_Comm comm, const char* name, int amode, MPI_Info info, MPI_File* handle);
// MPI_File_close(). Collective.
int close_file(MPI_File* handle);

// MPI's own functions.
extern const mpiio_functions* mpi;

}  // namespace mpiio
