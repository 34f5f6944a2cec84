// SPDX-License-Identifier: BSD-3-Clause
// A rank without free file descriptors, or whose /dev/shm gives nothing: all ranks get the same code in time, and what
// is written with code 0 is right.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "../capi/checked.hpp"

namespace {

using namespace windrow_test;

bool shared_memory_fails = false;  // on this rank

}  // namespace

// What takes the pages of shared memory, before the system's own.
extern "C" int posix_fallocate(int file, off_t offset, off_t length) {
  if (shared_memory_fails)
    return ENOSPC;
  using Function = int (*)(int, off_t, off_t);
  static const auto of_system = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "posix_fallocate"));
  return of_system(file, offset, length);
}

namespace {

// No more than `left` descriptors beside those that are open; as before at its end.
class FewDescriptors {
 public:
  explicit FewDescriptors(int left) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int first = open("/dev/null", O_RDONLY | O_CLOEXEC);  // the lowest that is free; MPI's are below it, mostly
    close(first);
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(first + left);
    setrlimit(RLIMIT_NOFILE, &few);
  }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

// Writes a variable by columns, so that ranks exchange, on a communicator of its own, and reads it. The code of the
// first call that failed.
int write_and_read(const std::string& path, const windrow_options* options) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int64_t rows = 300, shape[2] = {rows, size_of()}, start[2] = {0, rank_of()}, count[2] = {rows, 1};
  const std::vector<double> data(static_cast<size_t>(rows), rank_of() + 1.5);
  std::vector<double> read(data.size(), 0);
  windrow_file* file = nullptr;
  int variable = -1;
  const auto close = [&](int code) {
    expect_same_everywhere(code, comm);
    const int closed = code == WINDROW_OK ? windrow_close(file) : windrow_discard(file);
    if (code == WINDROW_OK)
      expect_same_everywhere(closed, comm);
    return code == WINDROW_OK ? closed : code;
  };
  int code = windrow_create(comm, path.c_str(), options, &file);
  if (code == WINDROW_OK)
    code = windrow_define_variable(file, "v", WINDROW_FLOAT64, 2, shape, &variable);
  if (code == WINDROW_OK)
    code = windrow_write_block(file, variable, start, count, data.data());
  code = close(code);
  if (code == WINDROW_OK) {
    code = windrow_open(comm, path.c_str(), WINDROW_READ, nullptr, &file);
    if (code == WINDROW_OK)
      code = windrow_find_variable(file, "v", &variable);
    if (code == WINDROW_OK)
      code = windrow_read_block(file, variable, start, count, read.data());
    if (code == WINDROW_OK) {
      EXPECT_EQ(read, data);
    }
    code = close(code);
  }
  MPI_Comm_free(&comm);
  return code;
}

TEST(Descriptors, ranks_without_any_hold_nobody_up) {
  SharedFolder folder;
  const Options subfiles{{"files", "subfiles(2)"}};
  int done = 0;
  for (const char* name : {"a.h5", "a.nc", "a.raw", "set.raw"}) {
    const std::string ending = std::string(name).substr(std::string(name).rfind('.') + 1);
    if ((ending == "h5" && windrow_has("hdf5") == 0) || (ending == "nc" && windrow_has("netcdf") == 0))
      continue;
    for (int victim = 0; victim < size_of() && !failed_anywhere(); ++victim)
      for (const int left : {0, 1, 2, 3, 4, 6, 9, 14}) {
        SCOPED_TRACE(std::string(name) + ", rank " + std::to_string(victim) + " has " + std::to_string(left));
        int code = WINDROW_OK;
        {
          std::unique_ptr<FewDescriptors> few;
          if (rank_of() == victim)
            few = std::make_unique<FewDescriptors>(left);
          code = write_and_read(folder.file(name),
                                name[0] == 's' ? static_cast<const windrow_options*>(subfiles) : nullptr);
        }
        done += code == WINDROW_OK ? 1 : 0;
        // Afterwards everything is as ever.
        const int after = left % 3 == 0 ? write_and_read(folder.file("after." + ending), nullptr) : WINDROW_OK;
        EXPECT_EQ(after, WINDROW_OK) << windrow_error_message();
      }
  }
  EXPECT_GT(done, 0) << "some have enough";
}

TEST(Descriptors, memory_that_one_rank_cannot_have_is_shared_by_none) {
  SharedFolder folder;
  const Options options{{"strategy", "two-phase"}, {"writers", "1"}};
  for (int victim = 0; victim < size_of() && !failed_anywhere(); ++victim) {
    shared_memory_fails = rank_of() == victim;
    EXPECT_EQ(write_and_read(folder.file("a.raw"), options), WINDROW_OK) << windrow_error_message();
    shared_memory_fails = false;
    EXPECT_EQ(write_and_read(folder.file("a.raw"), options), WINDROW_OK) << windrow_error_message();
  }
}

}  // namespace
