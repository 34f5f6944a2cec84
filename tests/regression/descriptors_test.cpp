// SPDX-License-Identifier: BSD-3-Clause
// A rank without free file descriptors, or whose storage fails, or whose /dev/shm gives nothing: all ranks get the same
// code in time, and what is written with code 0 is right. The error is the true one: no file is called damaged, or
// replaced, because a rank could not open or read it.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "../capi/checked.hpp"
#include "failing_storage.h"

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

constexpr int64_t k_rows = 120;

struct Kind {
  const char* name;
  bool is_set;
};
constexpr Kind k_kinds[] = {{"a.h5", false}, {"a.nc", false}, {"a.raw", false},
                            {"s.h5", true},  {"s.nc", true},  {"s.raw", true}};

bool is_there(const Kind& kind) {
  const std::string name = kind.name, ending = name.substr(name.rfind('.') + 1);
  return windrow_has(ending == "h5" ? "hdf5" : ending == "nc" ? "netcdf" : "raw") != 0;
}

// Calls that stop at the first error, of which they keep the code and the message.
struct Calls {
  int code = WINDROW_OK;
  std::string message;
  bool operator()(int result) {
    if (code == WINDROW_OK && result != WINDROW_OK)
      message = windrow_error_message();
    if (code == WINDROW_OK)
      code = result;
    return code == WINDROW_OK;
  }
};

// This rank's rows of a variable.
class OwnRows {
 public:
  OwnRows() : data_(static_cast<size_t>(count_[0])) {
    for (size_t i = 0; i < data_.size(); ++i)
      data_[i] = static_cast<double>(start_[0]) + static_cast<double>(i) + 0.5;
  }
  int write(windrow_file* file, int variable) {
    return windrow_write_block(file, variable, start_, count_, data_.data());
  }
  int read(windrow_file* file, int variable) {
    std::vector<double> found(data_.size(), -1);
    const int code = windrow_read_block(file, variable, start_, count_, found.data());
    if (code == WINDROW_OK) {
      EXPECT_EQ(found, data_);
    }
    return code;
  }

 private:
  int64_t start_[1] = {k_rows * rank_of() / size_of()};
  int64_t count_[1] = {k_rows * (rank_of() + 1) / size_of() - start_[0]};
  std::vector<double> data_;
};

Calls make(const std::string& path, bool is_set) {
  Calls calls;
  windrow_file* file = nullptr;
  const Options subfiles{{"files", "subfiles(3)"}};
  if (!calls(windrow_create(MPI_COMM_WORLD, path.c_str(),
                            is_set ? static_cast<const windrow_options*>(subfiles) : nullptr, &file)))
    return calls;
  int variable = -1;
  if (calls(windrow_define_variable(file, "v", WINDROW_FLOAT64, 1, &k_rows, &variable)))
    calls(OwnRows().write(file, variable));
  calls(windrow_close(file));
  return calls;
}

Calls read(const std::string& path) {
  Calls calls;
  windrow_file* file = nullptr;
  if (!calls(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_READ, nullptr, &file)))
    return calls;
  int variable = -1;
  if (calls(windrow_find_variable(file, "v", &variable)))
    calls(OwnRows().read(file, variable));
  calls(windrow_close(file));
  return calls;
}

// `name`: of a new variable. `left`: descriptors of this rank from the opening to the close; -1: all.
Calls change(const std::string& path, const std::string& name, int left = -1) {
  Calls calls;
  windrow_file* file = nullptr;
  if (!calls(windrow_open(MPI_COMM_WORLD, path.c_str(), WINDROW_UPDATE, nullptr, &file)))
    return calls;
  {
    const auto held = left < 0 ? nullptr : std::make_unique<FewDescriptors>(left);
    int variable = -1;
    if (calls(windrow_define_variable(file, name.c_str(), WINDROW_FLOAT64, 1, &k_rows, &variable)))
      calls(OwnRows().write(file, variable));
    calls(windrow_sync(file));
  }
  calls(windrow_close(file));
  return calls;
}

void expect_true(const Calls& calls, const std::string& error) {
  expect_same_everywhere(calls.code);
  if (calls.code == WINDROW_OK)
    return;
  EXPECT_EQ(calls.code, WINDROW_IO) << calls.message;
  EXPECT_NE(calls.message.find(error), std::string::npos) << calls.message;
  EXPECT_NE(calls.message.find('/'), std::string::npos) << "the file: " << calls.message;
  if (size_of() > 1) {
    EXPECT_NE(calls.message.find("rank "), std::string::npos) << calls.message;
  }
}

TEST(Descriptors, that_a_rank_lacks_are_the_error) {
  SharedFolder folder;
  int failed = 0;
  for (const Kind& kind : k_kinds) {
    if (!is_there(kind))
      continue;
    const std::string path = folder.file(kind.name);
    ASSERT_EQ(make(path, kind.is_set).code, WINDROW_OK) << windrow_error_message();
    for (const int victim : {0, size_of() - 1})
      for (const int left : {0, 1, 2, 3}) {
        SCOPED_TRACE(std::string(kind.name) + ", rank " + std::to_string(victim) + " has " + std::to_string(left));
        const bool is_victim = rank_of() == victim;
        Calls calls;
        {
          const auto held = is_victim ? std::make_unique<FewDescriptors>(left) : nullptr;
          calls = read(path);
        }
        expect_true(calls, "too many open files");
        failed += calls.code == WINDROW_OK ? 0 : 1;
        calls = change(path, "few" + std::to_string(victim) + std::to_string(left), is_victim ? left : -1);
        expect_true(calls, "too many open files");
        calls = read(path);
        EXPECT_EQ(calls.code, WINDROW_OK) << calls.message;
        if (failed_anywhere())
          return;
      }
  }
  EXPECT_GT(failed, 0) << "some have too few";
}

// Each opening, or each reading, of a file fails in turn.
class FailingCalls : public testing::TestWithParam<std::pair<failing_kind, const char*>> {
 protected:
  template <class Work>
  long calls_of(const std::string& folder, long nth, Work&& work, Calls& calls) {
    failing_start(folder.c_str(), GetParam().first, nth, nullptr);
    calls = work();
    MPI_Barrier(MPI_COMM_WORLD);
    return failing_stop();
  }
  template <class Work>
  void fail_each(const std::string& folder, Work&& work) {
    Calls calls;
    const long own = calls_of(folder, 0, work, calls);
    EXPECT_EQ(calls.code, WINDROW_OK) << calls.message;
    for (int victim = 0; victim < size_of(); ++victim) {
      long most = own;
      MPI_Bcast(&most, 1, MPI_LONG, victim, MPI_COMM_WORLD);
      for (long nth = 1; nth <= most; ++nth) {
        SCOPED_TRACE("call " + std::to_string(nth) + " of rank " + std::to_string(victim));
        (void)calls_of(folder, victim == rank_of() ? nth : 0, work, calls);
        expect_true(calls, GetParam().second);
        failed_ += calls.code == WINDROW_OK ? 0 : 1;
        if (failed_anywhere())
          return;
      }
    }
  }
  int failed_ = 0;
};

TEST_P(FailingCalls, are_the_error) {
  for (const Kind& kind : k_kinds) {
    if (!is_there(kind))
      continue;
    SCOPED_TRACE(kind.name);
    SharedFolder folder;
    const std::string path = folder.file(kind.name);
    ASSERT_EQ(make(path, kind.is_set).code, WINDROW_OK) << windrow_error_message();
    fail_each(folder.file(""), [&] { return read(path); });
    if (failed_anywhere())
      return;
    int changes = 0;
    fail_each(folder.file(""), [&] { return change(path, "n" + std::to_string(changes++)); });
    if (failed_anywhere())
      return;
    const Calls calls = read(path);
    EXPECT_EQ(calls.code, WINDROW_OK) << calls.message;
  }
  EXPECT_GT(failed_, 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, FailingCalls,
                         testing::Values(std::pair(FAILING_OPEN, "too many open files"),
                                         std::pair(FAILING_READ, "input/output error")));

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
