// SPDX-License-Identifier: BSD-3-Clause
// State of all calls: groups and their files by number, and Call, a collective call from its arguments to its result.
#pragma once

#include <windrow/windrow.h>
#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scorpio.h"

namespace scorpio {

struct OpenFile {
  struct DatasetGroup {
    int64_t number;
    std::string path;  // "/a/b"; "" is the root
  };
  windrow_file* windrow = nullptr;
  std::vector<DatasetGroup> groups;  // open dataset groups; the last is the current one
  int64_t next_group = 1;

  // Path for writing `name`: in the current group, unless it begins with a slash.
  std::string path_to_write(std::string_view name) const;
};

// Plural ending of a noun: "1 text", "2 texts".
inline const char* plural(int64_t number) noexcept {
  return number == 1 ? "" : "s";
}

struct Group {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm team_comm = MPI_COMM_NULL, root_comm = MPI_COMM_NULL;  // for the program; not used by the library
  int rank = 0;
  int ranks = 1;
  int team = 1;                                  // ranks per team
  std::vector<std::unique_ptr<OpenFile>> files;  // [number - 1]; empty: free
  // [number] structs of files that programs see; 0: none. They exist as long as the group.
  std::vector<std::unique_ptr<iofile_t>> shown;
  // Their lists, the longest last: copies of the program's struct may have an older one.
  std::vector<std::vector<iofile_t*>> lists;

  // Local: allocates what the program sees of file `number`.
  void make_room_for(int number);
};

// Value for HDF5's file number in iofile_t.
int64_t fid_of(int group, int file) noexcept;
std::pair<int, int> group_and_file_of(int64_t fid) noexcept;  // {0, 0}: none

// Group numbers belong to the process, so they may differ between the ranks of one group.
int add_group(std::unique_ptr<Group> group);  // throws std::bad_alloc
Group* find_group(int number);                // nullptr: none, or after MPI_Finalize
std::unique_ptr<Group> remove_group(int number);
std::vector<int> group_numbers();  // throws std::bad_alloc

// One call of the interface. Local checks come first; errors are recorded by refuse(), not returned, and agreed() then
// shares them with all ranks. Between two collective steps either all ranks continue or none.
class Call {
 public:
  Call(const char* function, Group& group);
  Call(const char* function, const iogroup_t* group);            // without a file
  Call(const char* function, const iogroup_t* group, int file);  // on an open file

  Group* group() const noexcept { return group_; }  // nullptr: none
  OpenFile* file() const noexcept { return file_; }
  windrow_file* windrow() const noexcept { return file_->windrow; }
  bool refused() const noexcept { return refused_; }

  // Record an error in this rank's arguments, in printf format. The first one counts.
  void refuse(const char* format, ...) __attribute__((format(printf, 2, 3)));
  void refuse_as_windrow() { refuse("%s", windrow_error_message()); }

  // Values that must be the same on every rank.
  void same(int64_t value) noexcept;
  void same(std::string_view text) noexcept;
  void same(const int* values, int count) noexcept;

  // Local work before agreed(): skipped after an error; out of memory is recorded as an error.
  template <class Work>
  void prepare(const Work& work) {
    if (refused_)
      return;
    try {
      work();
    } catch (const std::bad_alloc&) {
      refuse("out of memory");
    }
  }

  // Collective over the group. False: a rank has an error, or the same() values differ; end with failed().
  bool agreed();

  // The result. The message is already set, or is set here.
  int failed();                               // -1, for a recorded error
  int64_t end(int code, int64_t result = 0);  // of the last call of Windrow, whose code is the same on all ranks

 private:
  void mix(const void* bytes, size_t count) noexcept;
  void tell(const char* format, ...) noexcept __attribute__((format(printf, 2, 3)));
  void name_difference();
  void print() const;

  const char* function_;
  Group* group_ = nullptr;
  OpenFile* file_ = nullptr;
  bool refused_ = false;
  std::array<char, 800> message_{};
  uint64_t hash_ = 14695981039346656037U;  // FNV-1a
  std::array<char, 300> told_{};           // the same() values, as far as they fit
};

// A set of options that frees itself.
class Options {
 public:
  Options() { code_ = windrow_options_create(&options_); }
  ~Options() { windrow_options_free(options_); }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  void set(const char* key, const std::string& value) {
    if (code_ == WINDROW_OK)
      code_ = windrow_options_set(options_, key, value.c_str());
  }
  int code() const noexcept { return code_; }
  const windrow_options* get() const noexcept { return options_; }

 private:
  windrow_options* options_ = nullptr;
  int code_ = WINDROW_OK;
};

// enum windrow_type of a type in memory; 0 for an invalid one. SCORPIO_STRING is WINDROW_TEXT.
int windrow_type_of(datatype_t type) noexcept;

}  // namespace scorpio
