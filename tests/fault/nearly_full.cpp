// SPDX-License-Identifier: BSD-3-Clause
// Shared memory asked for again and again while /dev/shm has ever fewer pages left: nearly_full PAGES. Or while no file
// may be longer than ever fewer pages: nearly_full PAGES limit. Each rank fills what it was given. Prints how often it
// was given and how often refused.
#include <fcntl.h>
#include <mpi.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "comm/shared_segment.hpp"

namespace {

constexpr int64_t k_page = 4096;
constexpr const char* k_path = "/dev/shm/nearly full";

int64_t free_pages() {
  struct statvfs info {};
  return statvfs("/dev/shm", &info) == 0 ? static_cast<int64_t>(info.f_bavail) : 0;
}

bool fill_up_to(int64_t pages) {
  const int file = open(k_path, O_CREAT | O_RDWR, 0600);
  const int64_t length = lseek(file, 0, SEEK_END) + (free_pages() - pages) * k_page;
  const bool filled = file >= 0 && length > 0 && posix_fallocate(file, 0, length) == 0;
  if (file >= 0)
    close(file);
  return filled;
}

bool limit_files_to(int64_t pages) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
    return false;
  limit.rlim_cur = static_cast<rlim_t>(pages * k_page);
  return setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, failed = 0, given = 0, refused = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool limits = argc == 3 && std::strcmp(argv[2], "limit") == 0;
  if (argc != 2 && !limits)
    MPI_Abort(MPI_COMM_WORLD, 1);
  for (int64_t pages = std::atoll(argv[1]); pages >= 0; --pages) {
    int filled = limits ? limit_files_to(pages) : rank != 0 || fill_up_to(pages);
    MPI_Allreduce(MPI_IN_PLACE, &filled, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (filled == 0)
      ++failed;
    for (const int64_t bytes : {int64_t{8}, k_page, 3 * k_page}) {
      windrow::SharedSegment segment;
      const auto reserved = segment.reserve(MPI_COMM_WORLD, bytes);
      if (!reserved.ok()) {
        ++failed;
      } else if (!reserved.value()) {
        ++refused;
      } else {
        ++given;
        std::memset(segment.base_of(rank), 17, static_cast<size_t>(bytes));
      }
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("given %d refused %d failed %d\n", given, refused, failed);
    if (!limits)
      unlink(k_path);
  }
  MPI_Finalize();
  return failed == 0 ? 0 : 1;
}
