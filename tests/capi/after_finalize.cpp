// SPDX-License-Identifier: BSD-3-Clause
// A program with mistakes: it needs no threads of MPI, uses the library before MPI_Init and closes its files after
// MPI_Finalize. It gets errors, no crash, and leaves no files, neither final nor temporary ones.
#include <mpi.h>
#include <windrow/windrow.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "mistakes.hpp"

namespace {

using windrow_test::mistakes;

windrow_file* create(const std::string& path) {
  windrow_file* file = nullptr;
  CHECK(windrow_create(MPI_COMM_WORLD, path.c_str(), nullptr, &file) == WINDROW_OK);
  int variable = -1, rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int64_t shape[1] = {size}, start[1] = {rank}, count[1] = {1};
  const double value = rank;
  CHECK(windrow_define_variable(file, "v", WINDROW_FLOAT64, 1, shape, &variable) == WINDROW_OK);
  CHECK(windrow_write_block(file, variable, start, count, &value) == WINDROW_OK);
  return file;
}

bool last_message_has(const char* words) {
  return std::string(windrow_error_message()).find(words) != std::string::npos;
}

}  // namespace

int main(int argc, char** argv) {
  windrow_file* early = nullptr;
  CHECK(windrow_create(MPI_COMM_WORLD, "early.raw", nullptr, &early) == WINDROW_BAD_STATE);
  CHECK(early == nullptr);
  CHECK(last_message_has("MPI_Init"));

  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  char folder[64] = "/tmp/windrow finalize XXXXXX";
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && mkdtemp(folder) == nullptr)
    return 1;
  MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
  const std::string base = std::string(folder) + "/";

  CHECK(windrow_close(create(base + "good.raw")) == WINDROW_OK);
  windrow_file* closed = create(base + "closed.raw");
  windrow_file* discarded = create(base + "discarded.raw");
  windrow_file* synced = create(base + "synced.raw");
  CHECK(windrow_sync(synced) == WINDROW_OK);
  windrow_file* used = create(base + "used.raw");
  windrow_file* read = nullptr;
  CHECK(windrow_open(MPI_COMM_WORLD, (base + "good.raw").c_str(), WINDROW_READ, nullptr, &read) == WINDROW_OK);
  windrow_file* hdf5 = windrow_has("hdf5") != 0 ? create(base + "late.h5") : nullptr;
  windrow_decomposition* rows = nullptr;
  CHECK(windrow_rows(MPI_COMM_WORLD, 9, WINDROW_EVEN, &rows) == WINDROW_OK);
  // Files with a flush under way.
  constexpr int64_t k_rows = 200'000;
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int64_t sparse_shape[2] = {k_rows, 2 * size}, sparse_start[2] = {0, 2 * rank}, sparse_count[2] = {k_rows, 1};
  const std::vector<double> sparse(k_rows, 1.0);
  windrow_decomposition* columns = nullptr;
  CHECK(windrow_block(MPI_COMM_WORLD, 2, sparse_shape, sparse_start, sparse_count, nullptr, nullptr, &columns) ==
        WINDROW_OK);
  windrow_options* options = nullptr;
  CHECK(windrow_options_create(&options) == WINDROW_OK);
  CHECK(windrow_options_set(options, "access", "sieve") == WINDROW_OK);
  CHECK(windrow_options_set(options, "domains", "even") == WINDROW_OK);
  windrow_file* begun[3] = {};
  for (windrow_file*& file : begun) {
    const std::string name = base + "begun" + std::to_string(&file - begun) + ".raw";
    int number = -1;
    CHECK(windrow_create(MPI_COMM_WORLD, name.c_str(), options, &file) == WINDROW_OK);
    CHECK(windrow_define_variable(file, "v", WINDROW_FLOAT64, 2, sparse_shape, &number) == WINDROW_OK);
    CHECK(windrow_put(file, number, columns, sparse.data()) == WINDROW_OK);
    CHECK(windrow_flush_begin(file) == WINDROW_OK);
  }
  // New files: one whose variables have no offsets yet, and one on which no call was made after its creation.
  windrow_file *unplaced = nullptr, *untouched = nullptr;
  const int64_t few[1] = {10};
  int number = -1;
  if (windrow_has("netcdf") != 0) {
    CHECK(windrow_create(MPI_COMM_WORLD, (base + "unplaced.nc").c_str(), nullptr, &unplaced) == WINDROW_OK);
    CHECK(windrow_define_variable(unplaced, "v", WINDROW_INT32, 1, few, &number) == WINDROW_OK);
  }
  CHECK(windrow_create(MPI_COMM_WORLD, (base + "untouched.raw").c_str(), nullptr, &untouched) == WINDROW_OK);
  MPI_Finalize();

  if (unplaced != nullptr) {
    CHECK(windrow_flush(unplaced) == WINDROW_BAD_STATE);
    CHECK(windrow_close(unplaced) == WINDROW_BAD_STATE);
  }
  CHECK(windrow_define_variable(untouched, "v", WINDROW_INT32, 1, few, &number) == WINDROW_BAD_STATE);
  CHECK(windrow_close(untouched) == WINDROW_BAD_STATE);
  CHECK(windrow_flush_end(begun[0]) == WINDROW_BAD_STATE);
  CHECK(windrow_discard(begun[0]) == WINDROW_BAD_STATE);
  CHECK(windrow_close(begun[1]) == WINDROW_BAD_STATE);
  CHECK(windrow_flush(begun[2]) == WINDROW_BAD_STATE);
  CHECK(windrow_close(begun[2]) == WINDROW_BAD_STATE);
  windrow_decomposition_free(columns);
  windrow_options_free(options);

  // An earlier message may have been printed; this one is expected now.
  int variable = -1;
  const int64_t shape[1] = {3}, start[1] = {0}, count[1] = {0};
  const char* text = nullptr;
  CHECK(windrow_flush(used) == WINDROW_BAD_STATE);
  CHECK(last_message_has("MPI_Finalize"));
  CHECK(windrow_define_variable(used, "w", WINDROW_FLOAT64, 1, shape, &variable) == WINDROW_BAD_STATE);
  CHECK(windrow_define_group(used, "g") == WINDROW_BAD_STATE);
  CHECK(windrow_put_attribute_text(used, "/", "a", "b") == WINDROW_BAD_STATE);
  CHECK(windrow_write_block(used, 0, start, count, &shape) == WINDROW_BAD_STATE);
  CHECK(windrow_sync(used) == WINDROW_BAD_STATE);
  CHECK(windrow_explain(used, "text", &text) == WINDROW_BAD_STATE);
  CHECK(windrow_close(used) == WINDROW_BAD_STATE);

  CHECK(windrow_close(closed) == WINDROW_BAD_STATE);
  CHECK(last_message_has("MPI_Finalize") && last_message_has("not published"));
  CHECK(windrow_discard(discarded) == WINDROW_BAD_STATE);
  CHECK(windrow_close(synced) == WINDROW_BAD_STATE);
  CHECK(windrow_close(read) == WINDROW_BAD_STATE);
  if (hdf5 != nullptr)
    CHECK(windrow_close(hdf5) == WINDROW_BAD_STATE);
  windrow_decomposition_free(rows);
  windrow_file* late = nullptr;
  CHECK(windrow_create(MPI_COMM_WORLD, (base + "late.raw").c_str(), nullptr, &late) == WINDROW_BAD_STATE);
  CHECK(windrow_rows(MPI_COMM_WORLD, 9, WINDROW_EVEN, &rows) == WINDROW_BAD_STATE);
  CHECK(last_message_has("MPI_Finalize"));
  if (rank == 0) {
    std::string names;
    for (const char* name : {"good.raw", "good.raw.json", "synced.raw", "synced.raw.json"}) {
      CHECK(std::filesystem::exists(base + name));
      std::filesystem::remove(base + name);
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      names += entry.path().filename().string() + " ";
    if (!names.empty())
      std::fprintf(stderr, "left behind: %s\n", names.c_str());
    CHECK(names.empty());
    std::filesystem::remove_all(folder);
  }
  return mistakes == 0 ? 0 : 1;
}
