// SPDX-License-Identifier: BSD-3-Clause
// The calls for Fortran: external procedures with a trailing underscore, arguments by reference, lengths of texts last.
// Groups, files and dataset groups are default integers. docs/scorpio.md lists the arguments.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "state.hpp"

namespace {

// A text from Fortran: up to a NUL that the caller appended, else without trailing blanks. nullptr: out of memory.
class Text {
 public:
  Text(const char* text, size_t length) {
    const size_t end = strnlen(text, length);
    std::string_view view(text, end);
    if (end == length)
      view = view.substr(0, view.find_last_not_of(' ') + 1);
    copy_ = static_cast<char*>(std::malloc(view.size() + 1));
    if (copy_ == nullptr)
      return;
    std::copy(view.begin(), view.end(), copy_);
    copy_[view.size()] = '\0';
  }
  ~Text() { std::free(copy_); }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
  operator char*() const noexcept { return copy_; }

 private:
  char* copy_ = nullptr;
};

// A group, by its number in Fortran.
struct GroupNumber : iogroup_t {
  explicit GroupNumber(const int* value) : iogroup_t{} { number = *value; }
};

int status_of(int64_t result) {
  return result < 0 ? -1 : 0;
}

void start(int groups, int preferred, const MPI_Fint* comm, int* group, int* ierr) {
  iogroup_conf_t configuration{groups, preferred, MPI_COMM_NULL};
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (begun != 0 && ended == 0)
    configuration.commIncoming = MPI_Comm_f2c(*comm);
  iogroup_t made{};
  *ierr = scorpio_IOgroup_init(&configuration, &made);
  *group = *ierr == 0 ? made.number : -1;
}

}  // namespace

extern "C" {

WINDROW_API void fscorpio_iogroup_init_(const int* groups, const MPI_Fint* comm, int* group, int* ierr) {
  start(*groups, 0, comm, group, ierr);
}

WINDROW_API void fscorpio_iogroup_init2_(const int* preferred, const int* groups, const MPI_Fint* comm, int* group,
                                         int* ierr) {
  start(*groups, *preferred, comm, group, ierr);
}

WINDROW_API void fscorpio_iogroup_cleanup_(const int* group, int* ierr) {
  GroupNumber number(group);
  *ierr = scorpio_IOgroup_cleanup(&number);
}

WINDROW_API void fscorpio_cleanup_(int* ierr) {
  *ierr = 0;
  try {
    for (int number : scorpio::group_numbers()) {
      GroupNumber group(&number);
      if (scorpio_IOgroup_cleanup(&group) != 0)
        *ierr = -1;
    }
  } catch (const std::bad_alloc&) {
    *ierr = -1;
  }
}

WINDROW_API void fscorpio_open_file_(const char* path, const int* group, const int* mode, int* file, int* ierr,
                                     size_t length) {
  GroupNumber number(group);
  *file = scorpio_open_file(Text(path, length), &number, static_cast<file_mode_t>(*mode));
  *ierr = status_of(*file);
}

WINDROW_API void fscorpio_close_file_(const int* file, const int* group, int* ierr) {
  GroupNumber number(group);
  *ierr = scorpio_close_file(*file, &number);
}

WINDROW_API void fscorpio_read_dataset_(void* data, const int* type, const int* ndims, int* globaldims, int* localdims,
                                        const int* file, const char* name, const int* group, const int* pattern,
                                        int* ierr, size_t length) {
  GroupNumber number(group);
  *ierr = scorpio_read_dataset(data, static_cast<datatype_t>(*type), *ndims, globaldims, localdims, *file,
                               Text(name, length), &number, static_cast<iopattern_t>(*pattern));
}

WINDROW_API void fscorpio_write_dataset_(void* data, const int* type, const int* ndims, int* globaldims, int* localdims,
                                         const int* file, const char* name, const int* group, const int* pattern,
                                         int* ierr, size_t length) {
  GroupNumber number(group);
  *ierr = scorpio_write_dataset(data, static_cast<datatype_t>(*type), *ndims, globaldims, localdims, *file,
                                Text(name, length), &number, static_cast<iopattern_t>(*pattern));
}

WINDROW_API void fscorpio_write_dataset_block_(void* data, const int* type, const int* ndims, int* globaldims,
                                               int* localdims, int* localstarts, const int* file, const char* name,
                                               const int* group, int* ierr, size_t length) {
  GroupNumber number(group);
  *ierr = scorpio_write_dataset_block(data, static_cast<datatype_t>(*type), *ndims, globaldims, localdims, localstarts,
                                      *file, Text(name, length), &number);
}

WINDROW_API void fscorpio_read_same_sub_dataset_(void* data, const int* type, const int* ndims, int* dims, int* starts,
                                                 const int* file, const char* name, const int* group, int* ierr,
                                                 size_t length) {
  GroupNumber number(group);
  *ierr = scorpio_read_same_sub_dataset(data, static_cast<datatype_t>(*type), *ndims, dims, starts, *file,
                                        Text(name, length), &number);
}

WINDROW_API void fscorpio_get_dataset_ndims_(int* ndims, const int* file, const char* name, const int* group, int* ierr,
                                             size_t length) {
  GroupNumber number(group);
  *ierr = scorpio_get_dataset_ndims(ndims, *file, Text(name, length), &number);
}

WINDROW_API void fscorpio_get_dataset_dims_(int* dims, const int* file, const char* name, const int* group, int* ierr,
                                            size_t length) {
  GroupNumber number(group);
  *ierr = scorpio_get_dataset_dims(dims, *file, Text(name, length), &number);
}

WINDROW_API void fscorpio_get_dataset_size_(int* size, const int* file, const char* name, const int* group, int* ierr,
                                            size_t length) {
  GroupNumber number(group);
  *ierr = scorpio_get_dataset_size(size, *file, Text(name, length), &number);
}

WINDROW_API void fscorpio_create_dataset_group_(int* made, const char* name, const int* file, const int* group,
                                                int* ierr, size_t length) {
  GroupNumber number(group);
  *made = static_cast<int>(scorpio_create_dataset_group(Text(name, length), *file, &number));
  *ierr = status_of(*made);
}

WINDROW_API void fscorpio_close_dataset_group_(const int* made, const int* file, const int* group, int* ierr) {
  GroupNumber number(group);
  *ierr = scorpio_close_dataset_group(*made, *file, &number);
}

WINDROW_API void fscorpio_group_exists_(const char* name, const int* file, const int* group, int* exists,
                                        size_t length) {
  GroupNumber number(group);
  *exists = scorpio_group_exists(Text(name, length), *file, &number);
}

WINDROW_API void fscorpio_dataset_exists_(const char* name, const int* file, const int* group, int* exists,
                                          size_t length) {
  GroupNumber number(group);
  *exists = scorpio_dataset_exists(Text(name, length), *file, &number);
}

}  // extern "C"
