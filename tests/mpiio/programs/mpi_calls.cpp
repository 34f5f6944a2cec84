// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_calls.hpp"

namespace mpiio_test {

namespace {

// Calls the one of four functions that is for the access. `rest`: its arguments after the datatype.
class Caller {
 public:
  Caller(const File& file, const Access& access, Memory& memory)
      : handle_(file.handle), access_(access), buffer_(memory.buffer()), type_(memory.type()) {}

  int operator()(auto write, auto write_at, auto read, auto read_at, auto... rest) const {
    const auto count = static_cast<int>(access_.count);
    const MPI_Offset offset = access_.offset;
    if (access_.writing)
      return access_.by_pointer ? write(handle_, buffer_, count, type_, rest...)
                                : write_at(handle_, offset, buffer_, count, type_, rest...);
    return access_.by_pointer ? read(handle_, buffer_, count, type_, rest...)
                              : read_at(handle_, offset, buffer_, count, type_, rest...);
  }

 private:
  MPI_File handle_;
  const Access& access_;
  void* buffer_;
  MPI_Datatype type_;
};

}  // namespace

int start_collective(const File& file, const Access& access, Memory& memory, Call call, MPI_Status* status) {
  const Caller caller(file, access, memory);
#if MPI_VERSION >= 4
  if (call.is_large && call.is_split)
    return caller(MPI_File_write_all_begin_c, MPI_File_write_at_all_begin_c, MPI_File_read_all_begin_c,
                  MPI_File_read_at_all_begin_c);
  if (call.is_large)
    return caller(MPI_File_write_all_c, MPI_File_write_at_all_c, MPI_File_read_all_c, MPI_File_read_at_all_c, status);
#endif
  if (call.is_split)
    return caller(MPI_File_write_all_begin, MPI_File_write_at_all_begin, MPI_File_read_all_begin,
                  MPI_File_read_at_all_begin);
  return caller(MPI_File_write_all, MPI_File_write_at_all, MPI_File_read_all, MPI_File_read_at_all, status);
}

int end_collective(const File& file, const Access& access, Memory& memory, MPI_Status* status) {
  void* buffer = memory.buffer();
  if (access.writing)
    return access.by_pointer ? MPI_File_write_all_end(file.handle, buffer, status)
                             : MPI_File_write_at_all_end(file.handle, buffer, status);
  return access.by_pointer ? MPI_File_read_all_end(file.handle, buffer, status)
                           : MPI_File_read_at_all_end(file.handle, buffer, status);
}

int move_alone(const File& file, const Access& access, Memory& memory, bool waits, MPI_Status* status) {
  const Caller caller(file, access, memory);
  if (!waits)
    return caller(MPI_File_write, MPI_File_write_at, MPI_File_read, MPI_File_read_at, status);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = caller(MPI_File_iwrite, MPI_File_iwrite_at, MPI_File_iread, MPI_File_iread_at, &request);
  const int waited = MPI_Wait(&request, status);
  return code != MPI_SUCCESS ? code : waited;
}

}  // namespace mpiio_test
