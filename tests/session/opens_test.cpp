// SPDX-License-Identifier: BSD-3-Clause
// The cost of a file in openings, requests and messages, exactly and for any number of ranks: one opening of the
// metadata by rank 0 and one of the data by each writer or reader. This program counts the openings at the system
// calls, and compares them with the report.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

#include "../capi/report.hpp"
#include "../fault/scene.hpp"

namespace {

// Of files below the folders of these tests.
struct Openings {
  std::atomic<int> made{0};  // a name that did not exist (O_EXCL)
  std::atomic<int> opened{0};
};
Openings openings;

int open_and_count(int folder, const char* path, int flags, mode_t mode) {
  const bool is_ours = path != nullptr && std::string_view(path).find("windrow test ") != std::string_view::npos;
  if (is_ours && (flags & (O_DIRECTORY | O_PATH)) == 0)  // O_PATH asks for a name, and opens nothing
    ++((flags & O_EXCL) != 0 ? openings.made : openings.opened);
  return static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
}

mode_t mode_of(int flags, va_list& more) {
  return (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
}

}  // namespace

// In place of the C library's, for the whole program with its libraries.
#define WINDROW_TEST_OPEN(name)                                                                  \
  extern "C" __attribute__((visibility("default"))) int name(const char* path, int flags, ...) { \
    va_list more;                                                                                \
    va_start(more, flags);                                                                       \
    const mode_t mode = mode_of(flags, more);                                                    \
    va_end(more);                                                                                \
    return open_and_count(AT_FDCWD, path, flags, mode);                                          \
  }
#define WINDROW_TEST_OPENAT(name)                                                                            \
  extern "C" __attribute__((visibility("default"))) int name(int folder, const char* path, int flags, ...) { \
    va_list more;                                                                                            \
    va_start(more, flags);                                                                                   \
    const mode_t mode = mode_of(flags, more);                                                                \
    va_end(more);                                                                                            \
    return open_and_count(folder, path, flags, mode);                                                        \
  }
WINDROW_TEST_OPEN(open)
WINDROW_TEST_OPEN(open64)
WINDROW_TEST_OPENAT(openat)
WINDROW_TEST_OPENAT(openat64)

namespace {

using namespace windrow_test;
using nlohmann::json;

constexpr int64_t k_buffer = 65536, k_windows = 2;                      // of one rank's row
constexpr int64_t k_elements = k_windows * k_buffer / sizeof(int32_t);  // of it

struct Way {
  std::string name;
  KeyValues options;
  int64_t team = 1;  // ranks of one writer
  int64_t most_writers = 1 << 20;
  bool buffered = true;  // through windows of a buffer each; else from the program's memory
  int64_t writers() const { return std::min((size_of() + team - 1) / team, most_writers); }
};

std::vector<Way> ways() {
  std::vector<Way> all{{"auto", {}, 1, 1 << 20, false}};
  for (const int64_t team : {1, 2, 3, 4, 1024}) {
    const bool alone = std::min<int64_t>(team, size_of()) == 1;  // no team
    all.push_back({"team", {{"gather", "team(" + std::to_string(team) + ")"}}, team, 1 << 20, !alone});
  }
  for (const int64_t writers : {1, 2})
    all.push_back({"domains", {{"strategy", "two-phase"}, {"writers", std::to_string(writers)}}, 1, writers});
  for (Way& way : all)
    for (const char* key : {"buffer", "alignment"})
      way.options.push_back({key, std::to_string(k_buffer)});
  return all;
}

// On all ranks: [ranks] of what each has counted since the last call.
std::vector<int> counted(std::atomic<int>& mine) {
  const int count = mine.exchange(0);
  std::vector<int> all(static_cast<size_t>(size_of()));
  MPI_Allgather(&count, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  return all;
}

std::vector<int> on_rank_0(int count) {
  std::vector<int> all(static_cast<size_t>(size_of()), 0);
  all[0] = count;
  return all;
}

int64_t sum(const std::vector<int>& counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

class Opens : public testing::Test {
 protected:
  void SetUp() override {
    if (windrow_has("hdf5") == 0)
      GTEST_SKIP() << "built without HDF5";
    const int64_t rows = k_elements * size_of();
    shape_ = rows;
    windrow_decomposition* made = nullptr;
    ASSERT_WINDROW_OK(windrow_rows(MPI_COMM_WORLD, rows, k_elements, &made));
    decomposition_.reset(made);
    data_.assign(static_cast<size_t>(k_elements), rank_of());
  }

  // `first`: of a file, in which each rank that touches it for data opens it; later ones open nothing.
  void expect_data_opens(windrow_file* file, int64_t ranks_at_the_file, bool first) {
    const std::vector<int> opened = counted(openings.opened);
    EXPECT_EQ(sum(opened), first ? ranks_at_the_file : 0);
    EXPECT_LE(*std::max_element(opened.begin(), opened.end()), 1);
    const json report = report_of(file);
    EXPECT_EQ(report["writers"], ranks_at_the_file);
    EXPECT_EQ(report["data_opens"], ranks_at_the_file);
    EXPECT_EQ(report["metadata_opens"], 1);
    EXPECT_EQ(sum(counted(openings.made)), 0);
  }

  int64_t shape_ = 0;
  Decomposition decomposition_;
  std::vector<int32_t> data_;
  SharedFolder folder_;
};

TEST_F(Opens, are_one_of_the_metadata_and_one_a_writer) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(text_of(way.options));
    const std::string path = folder_.file("opens.h5");
    const Options options(way.options);
    (void)counted(openings.made), (void)counted(openings.opened);
    windrow_file* file = nullptr;
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, path.c_str(), options, &file));
    ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT32, 1, &shape_, &variable));
    EXPECT_EQ(counted(openings.made), on_rank_0(1)) << "the draft gets its name";
    EXPECT_EQ(counted(openings.opened), on_rank_0(1));
    for (int step = 0; step < 3; ++step) {
      ASSERT_WINDROW_OK(windrow_write(file, variable, decomposition_.get(), data_.data()));
      expect_data_opens(file, way.writers(), step == 0);
    }
    ASSERT_WINDROW_OK(windrow_close(file));
    EXPECT_EQ(sum(counted(openings.opened)), 0) << "to close";
    for (const int mode : {WINDROW_READ, WINDROW_UPDATE}) {
      ASSERT_WINDROW_OK(windrow_open(MPI_COMM_WORLD, path.c_str(), mode, options, &file));
      ASSERT_WINDROW_OK(windrow_find_variable(file, "v", &variable));
      // The lock that keeps other programs from updating has a descriptor of its own.
      EXPECT_EQ(counted(openings.opened), on_rank_0(mode == WINDROW_UPDATE ? 2 : 1));
      std::vector<int32_t> read(data_.size(), -1);
      for (int step = 0; step < 2; ++step) {
        ASSERT_WINDROW_OK(windrow_read(file, variable, decomposition_.get(), read.data()));
        expect_data_opens(file, way.writers(), step == 0);
      }
      EXPECT_EQ(read, data_);
      ASSERT_WINDROW_OK(windrow_close(file));
      EXPECT_EQ(sum(counted(openings.opened)), 0) << "to close";
    }
  }
}

// Members hand each window's bytes to their root in a message; a writer writes a window in a request.
TEST_F(Opens, go_with_requests_and_messages_that_are_known_beforehand) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(text_of(way.options));
    KeyValues values = way.options;
    values.push_back({"shared_memory", "false"});
    const Options options(values);
    windrow_file* file = nullptr;
    int variable = -1;
    ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder_.file("counts.h5").c_str(), options, &file));
    ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT32, 1, &shape_, &variable));
    const int64_t roots = way.writers(), windows = k_windows * size_of();
    for (int step = 0; step < 2; ++step) {
      ASSERT_WINDROW_OK(windrow_write(file, variable, decomposition_.get(), data_.data()));
      const json report = report_of(file);
      EXPECT_EQ(report["bytes_written"], shape_ * 4);
      EXPECT_EQ(report["read_requests"], 0);
      if (!way.buffered) {
        EXPECT_EQ(report["write_requests"], size_of());
        EXPECT_EQ(report["messages"], 0);
      } else if (way.name == "team") {
        EXPECT_EQ(report["write_requests"], windows);
        EXPECT_EQ(report["messages"], (size_of() - roots) * k_windows);
        EXPECT_EQ(report["bytes_sent"], (size_of() - roots) * k_windows * k_buffer);
      } else if (roots == 1) {
        EXPECT_EQ(report["write_requests"], windows);
        EXPECT_EQ(report["messages"], windows - k_windows);
      }
      EXPECT_EQ(report["messages"], report["plans"][0]["expected"]["messages"]);
      EXPECT_EQ(report["write_requests"], report["plans"][0]["expected"]["write_requests"]);
      EXPECT_EQ(report["description_messages"] == 0, step == 1 || way.writers() == size_of()) << "described once";
    }
    ASSERT_WINDROW_OK(windrow_close(file));
  }
}

TEST_F(Opens, are_in_the_report_as_text) {
  windrow_file* file = nullptr;
  int variable = -1;
  ASSERT_WINDROW_OK(windrow_create(MPI_COMM_WORLD, folder_.file("text.h5").c_str(), nullptr, &file));
  ASSERT_WINDROW_OK(windrow_define_variable(file, "v", WINDROW_INT32, 1, &shape_, &variable));
  ASSERT_WINDROW_OK(windrow_write(file, variable, decomposition_.get(), data_.data()));
  const char* text = nullptr;
  ASSERT_WINDROW_OK(windrow_report(file, "text", &text));
  const std::string expected = "1 for metadata and " + std::to_string(size_of()) + " for data";
  EXPECT_NE(std::string(text).find(expected), std::string::npos) << text;
  EXPECT_WINDROW_OK(windrow_close(file));
}

}  // namespace
