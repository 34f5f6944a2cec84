// SPDX-License-Identifier: BSD-3-Clause
// A program that closes its files from MPI_Finalize, by an attribute of MPI_COMM_SELF, set before the library's first
// use or after it: the files are whole.
#include <mpi.h>
#include <windrow/windrow.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "mistakes.hpp"

namespace {

using windrow_test::mistakes;

constexpr int64_t k_rows = 5000;

// What is left open: one that has plans and shared buffers, and one whose puts are all in its queue.
struct Files {
  std::string base;
  windrow_file* flushed = nullptr;
  windrow_file* fresh = nullptr;
  int variable = -1;
};
Files before{.base = "before "}, after{.base = "after "};
windrow_decomposition* columns = nullptr;
std::vector<double> data;

int close_all(MPI_Comm, int, void* value, void*) {
  const Files& files = *static_cast<Files*>(value);
  CHECK(windrow_put(files.flushed, files.variable, columns, data.data()) == WINDROW_OK);
  CHECK(windrow_close(files.flushed) == WINDROW_OK);
  CHECK(windrow_close(files.fresh) == WINDROW_OK);
  return MPI_SUCCESS;
}

void close_in_finalize(Files& files) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_all, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &files);
}

void open_two(const std::string& folder, int size, Files& files) {
  const int64_t shape[2] = {k_rows, size};
  for (windrow_file** file : {&files.flushed, &files.fresh}) {
    const std::string name = folder + files.base + (file == &files.flushed ? "flushed.raw" : "fresh.raw");
    CHECK(windrow_create(MPI_COMM_WORLD, name.c_str(), nullptr, file) == WINDROW_OK);
    CHECK(windrow_define_variable(*file, "v", WINDROW_FLOAT64, 2, shape, &files.variable) == WINDROW_OK);
    CHECK(windrow_put(*file, files.variable, columns, data.data()) == WINDROW_OK);
  }
  CHECK(windrow_flush(files.flushed) == WINDROW_OK);
}

bool is_right(const std::string& path, int size) {
  std::vector<double> found(static_cast<size_t>(k_rows * size), -1.0);
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(found.data()), static_cast<std::streamsize>(found.size() * sizeof(double)));
  for (size_t i = 0; i < found.size(); ++i)
    if (found[i] != static_cast<double>(i % static_cast<size_t>(size)))
      return false;
  return in.good();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  close_in_finalize(before);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char folder[64] = "/tmp/windrow in finalize XXXXXX";
  if (rank == 0 && mkdtemp(folder) == nullptr)
    return 1;
  MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
  const std::string base = std::string(folder) + "/";

  // A column a rank, so that every window has bytes of all.
  const int64_t shape[2] = {k_rows, size}, start[2] = {0, rank}, count[2] = {k_rows, 1};
  CHECK(windrow_block(MPI_COMM_WORLD, 2, shape, start, count, nullptr, nullptr, &columns) == WINDROW_OK);
  data.assign(k_rows, rank);
  close_in_finalize(after);
  open_two(base, size, after);
  open_two(base, size, before);
  MPI_Finalize();

  windrow_decomposition_free(columns);
  if (rank == 0) {
    for (const Files& files : {before, after})
      for (const char* name : {"flushed.raw", "fresh.raw"})
        CHECK(is_right(base + files.base + name, size));
    const std::filesystem::directory_iterator all(folder);
    CHECK(std::distance(begin(all), end(all)) == 8);  // with their descriptions
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  return mistakes == 0 ? 0 : 1;
}
