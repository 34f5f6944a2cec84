// SPDX-License-Identifier: BSD-3-Clause
// Helpers of tests of the C interface: checks of codes with the library's message, options from text, a folder that all
// ranks share.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>
#include <windrow/windrow.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#define EXPECT_WINDROW_OK(call) EXPECT_EQ((call), WINDROW_OK) << windrow_error_message()
#define ASSERT_WINDROW_OK(call) ASSERT_EQ((call), WINDROW_OK) << windrow_error_message()

namespace windrow_test {

inline int rank_of(MPI_Comm comm = MPI_COMM_WORLD) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
inline int size_of(MPI_Comm comm = MPI_COMM_WORLD) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

// The number of ranks per host: from the environment, or those that share memory by MPI. Collective.
inline int ranks_per_host() {
  if (const char* text = std::getenv("WINDROW_RANKS_PER_HOST"))
    return std::atoi(text);
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  const int ranks = size_of(host);
  MPI_Comm_free(&host);
  return ranks;
}

using KeyValues = std::vector<std::pair<std::string, std::string>>;

class Options {
 public:
  Options(std::initializer_list<std::pair<std::string, std::string>> values) : Options(KeyValues(values)) {}
  explicit Options(const KeyValues& values) {
    EXPECT_WINDROW_OK(windrow_options_create(&raw_));
    for (const auto& [key, value] : values)
      EXPECT_WINDROW_OK(windrow_options_set(raw_, key.c_str(), value.c_str()));
  }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  ~Options() { windrow_options_free(raw_); }
  operator const windrow_options*() const { return raw_; }  // NOLINT: it stands for the handle

 private:
  windrow_options* raw_ = nullptr;
};

// A new folder, the same on every rank; removed by rank 0 at the end. Collective.
class SharedFolder {
 public:
  SharedFolder() {
    char name[4096] = {};
    if (rank_of() == 0) {
      const std::string pattern = (std::filesystem::temp_directory_path() / "windrow test XXXXXX").string();
      std::copy(pattern.begin(), pattern.end(), name);
      EXPECT_NE(mkdtemp(name), nullptr);
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    path_ = name;
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  ~SharedFolder() {
    MPI_Barrier(MPI_COMM_WORLD);
    std::error_code ignored;
    if (rank_of() == 0)
      std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  std::string path_;
};

// Whether it is a folder of subfiles, but not of a set that was replaced.
inline bool is_set_in_use(const std::string& folder) {
  return std::filesystem::is_directory(folder) && !std::filesystem::exists(folder + "/.windrow-replaced");
}

inline std::string bytes_of_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.good()) << path;
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Whether all ranks have the same code and message as rank 0.
inline void expect_same_everywhere(int code, MPI_Comm comm = MPI_COMM_WORLD) {
  int from_root = code;
  MPI_Bcast(&from_root, 1, MPI_INT, 0, comm);
  EXPECT_EQ(code, from_root) << windrow_error_message();
  if (from_root == WINDROW_OK)
    return;
  char text[4096] = {};
  std::string(windrow_error_message()).copy(text, sizeof text - 1);
  const std::string mine = text;
  MPI_Bcast(text, sizeof text, MPI_CHAR, 0, comm);
  EXPECT_EQ(mine, text);
}

// Whether a check has failed on any rank. Tests stop on this, so that all ranks stop together. Collective.
inline bool failed_anywhere() {
  int failed = testing::Test::HasFailure() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return failed != 0;
}

struct FreeDecomposition {
  void operator()(windrow_decomposition* d) const { windrow_decomposition_free(d); }
};
using Decomposition = std::unique_ptr<windrow_decomposition, FreeDecomposition>;

}  // namespace windrow_test
