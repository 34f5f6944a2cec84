// SPDX-License-Identifier: BSD-3-Clause
#include "comm/shared_segment.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "comm/comm.hpp"

namespace windrow {
namespace {

constexpr uintptr_t k_shared_page = 4096;

// What /dev/shm has left, less a part that others may need; INT64_MAX where there is none to ask.
int64_t free_shared_bytes() {
  struct statvfs info {};
  if (statvfs("/dev/shm", &info) != 0) return INT64_MAX;
  return static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize) / 4 * 3;
}

// The longest file that this process may make: shared memory is one.
int64_t longest_file() {
  struct rlimit limit {};
  const bool has_limit = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < static_cast<rlim_t>(INT64_MAX);  // RLIM_INFINITY is more
  return has_limit ? static_cast<int64_t>(limit.rlim_cur) : INT64_MAX;
}

// Held from the question how much is free until it is taken: two communicators of a machine that ask at once would both be told of the same memory.
// Only by a rank whose host waits in the same call, so that who holds it waits for nobody who waits for it. After a while without it we go on all
// the same: a stopped job of somebody else must not stop this one.
class MemoryLock {
 public:
  MemoryLock() : file_(open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    for (int tries = 0; file_ >= 0 && tries < k_tries && flock(file_, LOCK_EX | LOCK_NB) != 0; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  MemoryLock(const MemoryLock&) = delete;
  MemoryLock& operator=(const MemoryLock&) = delete;
  ~MemoryLock() {
    if (file_ >= 0) close(file_);
  }

 private:
  static constexpr int k_tries = 2000;
  int file_;
};

// What a rank's part takes, with the page that may be lost before it begins.
constexpr int64_t asked_for(int64_t bytes) noexcept {
  constexpr auto k_page = static_cast<int64_t>(k_shared_page);
  return bytes > 0 ? (bytes + k_page + k_page - 1) / k_page * k_page : 0;
}

// What MPI takes beside the parts: words for all of them together, a page or less for each. Open MPI 4.1 (osc/sm) looks for room on one rank, and where there is
// too little, that one returns and the others wait for ever: so it must not be asked.
constexpr int64_t taken_by_mpi(int64_t ranks) noexcept { return (16 + ranks) * static_cast<int64_t>(k_shared_page); }

// Takes all pages of fresh memory now. MPI hands it out before there is any, and whoever touches a page that is not to be had dies of it. False: there
// is not enough.
bool take_pages(std::byte* memory, int64_t bytes) noexcept {
  if (bytes == 0) return true;
  const auto begin = reinterpret_cast<uintptr_t>(memory) / k_shared_page * k_shared_page;
  const auto length = reinterpret_cast<uintptr_t>(memory) + static_cast<uintptr_t>(bytes) - begin;
#ifdef MADV_POPULATE_WRITE
  int rc = 0;
  do rc = madvise(reinterpret_cast<void*>(begin), length, MADV_POPULATE_WRITE);
  while (rc != 0 && errno == EINTR);
  if (rc == 0) return true;
  if (errno != EINVAL) return false;
#endif
  for (int64_t at = 0; at < bytes; at += static_cast<int64_t>(k_shared_page)) memory[at] = std::byte{0};  // before Linux 5.14: soon, at least
  return true;
}

// Some implementations of MPI begin a rank's part in the middle of a page, behind words of their own. Each rank maps the memory
// at a page of its own, so all find the same first whole page.
std::byte* first_page_of(std::byte* memory) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(memory);
  return memory + ((k_shared_page - address % k_shared_page) % k_shared_page);
}

}  // namespace

// Those that have a window, by age: links in the segments themselves, so that a rank without memory comes as far as the others.
struct SharedSegment::Living {
  SharedSegment* oldest = nullptr;
  SharedSegment* newest = nullptr;
  std::mutex mutex;

  void add(SharedSegment& segment) {
    const std::lock_guard<std::mutex> lock(mutex);
    segment.older_ = newest;
    segment.newer_ = nullptr;
    (newest != nullptr ? newest->newer_ : oldest) = &segment;
    newest = &segment;
  }

  void remove(SharedSegment& segment) {
    const std::lock_guard<std::mutex> lock(mutex);
    (segment.older_ != nullptr ? segment.older_->newer_ : oldest) = segment.newer_;
    (segment.newer_ != nullptr ? segment.newer_->older_ : newest) = segment.older_;
  }
};

constinit SharedSegment::Living SharedSegment::living;
bool SharedSegment::all_free_ = false;

Result<bool> SharedSegment::reserve(MPI_Comm host, int64_t bytes) {
  // One reduction: whether anybody needs more, what all need together, and whether the lists fit into everybody's memory.
  int size = 1, rank = 0;
  MPI_Comm_size(host, &size);
  MPI_Comm_rank(host, &rank);
  const Status room = guard([&] {
    bases_.resize(static_cast<size_t>(size));
    given_.resize(static_cast<size_t>(size));
    return Status{};
  });
  const int64_t wanted = std::max(bytes, mine_);
  std::array<int64_t, 3> totals{bytes > mine_ ? 1 : 0, asked_for(wanted), room.ok() ? 0 : 1};
  if (int rc = MPI_Allreduce(MPI_IN_PLACE, totals.data(), 3, MPI_INT64_T, MPI_SUM, host); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Allreduce");
  if (totals[2] > 0) return room.ok() ? Result<bool>(false) : Result<bool>(room);
  if (totals[0] == 0) return window_ != MPI_WIN_NULL;
  std::optional<MemoryLock> lock;
  if (rank == 0) lock.emplace();
  int fits = rank == 0 && totals[1] + taken_by_mpi(size) <= std::min(free_shared_bytes() / parts_, longest_file()) ? 1 : 0;
  if (int rc = MPI_Bcast(&fits, 1, MPI_INT, 0, host); rc != MPI_SUCCESS) return mpi_status(rc, "MPI_Bcast");
  return fits != 0 ? allocate(host, wanted) : Result<bool>(false);
}

Result<bool> SharedSegment::allocate(MPI_Comm host, int64_t bytes) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");  // each rank's part begins at a page
  std::byte* mine = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  const int64_t asked = asked_for(bytes);
  const int rc = MPI_Win_allocate_shared(static_cast<MPI_Aint>(asked), 1, info, host, &mine, &window);
  MPI_Info_free(&info);
  // MPI may have refused on one rank only, or the system some pages.
  std::array<int, 2> made{rc == MPI_SUCCESS ? 1 : 0, rc == MPI_SUCCESS && take_pages(mine, asked) ? 1 : 0};
  if (int all = MPI_Allreduce(MPI_IN_PLACE, made.data(), 2, MPI_INT, MPI_MIN, host); all != MPI_SUCCESS) return mpi_status(all, "MPI_Allreduce");
  if (made[0] == 0) return false;
  if (made[1] == 0) return MPI_Win_free(&window) == MPI_SUCCESS ? Result<bool>(false) : Result<bool>(Status{Code::mpi, "MPI_Win_free"});
  if (Status status = free(); !status.ok()) return status;
  window_ = window;
  living.add(*this);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  for (size_t rank = 0; rank < bases_.size(); ++rank) {
    MPI_Aint size = 0;
    int unit = 1;
    MPI_Win_shared_query(window_, static_cast<int>(rank), &size, &unit, &bases_[rank]);
    bases_[rank] = first_page_of(bases_[rank]);
    given_[rank] = size > 0 ? static_cast<int64_t>(size) - static_cast<int64_t>(k_shared_page) : 0;
  }
  mine_ = bytes;
  return true;
}

Status SharedSegment::free() {
  if (window_ == MPI_WIN_NULL) return {};
  living.remove(*this);
  MPI_Win_unlock_all(window_);
  const int rc = MPI_Win_free(&window_);
  window_ = MPI_WIN_NULL;
  mine_ = 0;
  return mpi_status(rc, "MPI_Win_free");
}

void SharedSegment::free_all() {
  all_free_ = true;
  while (living.oldest != nullptr) (void)living.oldest->free();
}

}  // namespace windrow
