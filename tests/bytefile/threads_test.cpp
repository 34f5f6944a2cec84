// SPDX-License-Identifier: BSD-3-Clause
// Two threads of each rank in collective calls on two files of one communicator, each at its own pace. A program of its
// own, because it needs MPI_THREAD_MULTIPLE.
#include <mpi.h>
#include <windrow/windrow.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../capi/mistakes.hpp"
#include "../temporary_folder.hpp"

namespace {

constexpr int k_steps = 40, k_bytes = 5000;

struct Outcome {
  int wrong = 0;
  std::string message;
};

void note(Outcome& outcome, bool good) {
  if (good || ++outcome.wrong > 1)
    return;
  outcome.message = windrow_error_message();
}

// Writes and reads parts of the file; every rank has every ranks-th part of 100 bytes.
void work(windrow_bytes* file, int number, int rank, int ranks, Outcome& outcome) {
  std::mt19937 random(static_cast<unsigned>(7 * rank + number));
  std::vector<int64_t> offsets, lengths;
  for (int64_t at = 100 * rank; at < k_bytes; at += 100 * ranks) {
    offsets.push_back(at);
    lengths.push_back(100);
  }
  windrow_byte_list* list = nullptr;
  note(outcome, windrow_byte_list_pieces(static_cast<int64_t>(offsets.size()), offsets.data(), nullptr, lengths.data(),
                                         &list) == WINDROW_OK);
  for (int step = 0; step < k_steps; ++step) {
    std::vector<char> mine(100 * offsets.size(), static_cast<char>('a' + (step + number) % 26)), found(mine.size());
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
    note(outcome, windrow_bytes_write(file, list, mine.data()) == WINDROW_OK);
    int64_t bytes = 0;
    note(outcome, windrow_bytes_read(file, list, found.data(), &bytes) == WINDROW_OK);
    note(outcome, bytes == static_cast<int64_t>(mine.size()) && found == mine);
  }
  windrow_byte_list_free(list);
}

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE, rank = 0, ranks = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (level < MPI_THREAD_MULTIPLE) {
    std::printf("skipped: this MPI has no MPI_THREAD_MULTIPLE\n");
    MPI_Finalize();
    return 77;
  }
  std::array<char, 4096> name{};
  std::unique_ptr<windrow::test::TemporaryFolder> made;
  if (rank == 0) {
    made = std::make_unique<windrow::test::TemporaryFolder>();
    made->path().copy(name.data(), name.size() - 1);
  }
  MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  const std::string folder = name.data();
  constexpr int k_files = 2;
  windrow_bytes* files[k_files] = {};
  for (int i = 0; i < k_files; ++i)
    CHECK(windrow_bytes_open(MPI_COMM_WORLD, (folder + "/bytes of threads " + std::to_string(i)).c_str(),
                             WINDROW_UPDATE_OR_CREATE, nullptr, &files[i]) == WINDROW_OK);
  windrow_bytes* none = nullptr;
  CHECK(windrow_bytes_open(MPI_COMM_WORLD, folder.c_str(), WINDROW_UPDATE, nullptr, &none) != WINDROW_OK);
  Outcome outcomes[k_files];
  std::vector<std::thread> threads;
  for (int i = 0; i < k_files; ++i)
    threads.emplace_back(work, files[i], i, rank, ranks, std::ref(outcomes[i]));
  for (std::thread& thread : threads)
    thread.join();
  for (int i = 0; i < k_files; ++i) {
    if (outcomes[i].wrong > 0)
      std::fprintf(stderr, "rank %d, file %d: %d mistakes; %s\n", rank, i, outcomes[i].wrong,
                   outcomes[i].message.c_str());
    windrow_test::mistakes += outcomes[i].wrong;
    CHECK(windrow_bytes_close(files[i]) == WINDROW_OK);
  }
  int any = 0;
  made.reset();
  MPI_Allreduce(&windrow_test::mistakes, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return any == 0 ? 0 : 1;
}
