// SPDX-License-Identifier: BSD-3-Clause
// Does not use MPI_Win_allocate_shared: if one rank has no descriptor or memory left, Open MPI (4.1) returns on that
// rank only, and the others wait forever. Here each step that can fail is local, and the ranks agree on it.
#include "comm/shared_segment.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "base/checked.hpp"
#include "comm/comm.hpp"

namespace windrow {

class SegmentFile {
 public:
  explicit SegmentFile(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  SegmentFile(SegmentFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  SegmentFile& operator=(SegmentFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  SegmentFile(const SegmentFile&) = delete;
  SegmentFile& operator=(const SegmentFile&) = delete;
  ~SegmentFile() {
    if (descriptor_ >= 0)
      close(descriptor_);
  }
  bool is_open() const noexcept { return descriptor_ >= 0; }
  int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

namespace {

constexpr int64_t k_shared_page = 4096;
constexpr const char* k_folder = "/dev/shm";
constexpr const char* k_begin = "windrow-memory-";

// Three quarters of the free space of /dev/shm: others may need the rest. 0: there is none.
int64_t free_shared_bytes() {
  struct statvfs info {};
  if (statvfs(k_folder, &info) != 0)
    return 0;
  return static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize) / 4 * 3;
}

// The maximum length of a file of this process. Shared memory is a file, and exceeding the limit raises a signal.
int64_t longest_file() {
  struct rlimit limit {};
  // RLIM_INFINITY is larger
  const bool has_limit = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < static_cast<rlim_t>(INT64_MAX);
  return has_limit ? static_cast<int64_t>(limit.rlim_cur) : INT64_MAX;
}

// Serializes the query of free memory and its allocation: two communicators on a machine would otherwise both count the
// same memory. Only a rank whose host waits in the same call takes the lock, so its holder never waits for a rank that
// waits for the lock. After a timeout the caller continues without it: a stopped job must not stop this one.
class MemoryLock {
 public:
  MemoryLock() : file_(open(k_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    for (int tries = 0; file_.is_open() && tries < k_tries && flock(file_.get(), LOCK_EX | LOCK_NB) != 0; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  static constexpr int k_tries = 2000;
  SegmentFile file_;
};

using Name = std::array<char, 64>;

Name name_of(uint64_t number) noexcept {
  Name name{};
  std::snprintf(name.data(), name.size(), "%s/%s%016" PRIx64, k_folder, k_begin, number);
  return name;
}

// Whether the file still has a name and no other process holds its lock. This process then holds the lock.
bool take_lock(int descriptor) noexcept {
  struct stat about {};
  return flock(descriptor, LOCK_EX | LOCK_NB) == 0 && fstat(descriptor, &about) == 0 && about.st_nlink > 0;
}

// Removes segments of jobs that were killed before they unlinked the name. The creator holds a lock during that time.
void remove_leftovers() noexcept {
  DIR* const folder = opendir(k_folder);
  if (folder == nullptr)
    return;
  while (const dirent* entry = readdir(folder)) {
    if (std::strncmp(entry->d_name, k_begin, std::strlen(k_begin)) != 0)
      continue;
    const SegmentFile file(openat(dirfd(folder), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.is_open() && take_lock(file.get()))
      unlinkat(dirfd(folder), entry->d_name, 0);
  }
  closedir(folder);
}

// Allocates all pages of this rank's part. Otherwise a page fault without memory would kill the process.
bool take_pages(int file, int64_t begin, int64_t bytes) noexcept {
  int error = EINTR;
  while (bytes > 0 && error == EINTR)
    error = posix_fallocate(file, begin, bytes);
  return bytes == 0 || error == 0;
}

}  // namespace

// Memory that one rank of the host has created, with the name under which the others open it.
struct SharedSegment::Made {
  uint64_t number = 0;    // part of its name
  uint64_t identity = 0;  // of the file: ranks that count as one host may have different /dev/shm
  SegmentFile file;       // on the creating rank: holds the lock

  // Local. False: not available.
  bool make(int64_t bytes) noexcept {
    remove_leftovers();
    if (getentropy(&number, sizeof number) != 0)
      return false;
    file = SegmentFile(open(name_of(number).data(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    struct stat about {};
    const bool made =
        file.is_open() && take_lock(file.get()) && fstat(file.get(), &about) == 0 && ftruncate(file.get(), bytes) == 0;
    identity = about.st_ino;
    if (!made)
      remove();
    return made;
  }

  void remove() noexcept {
    if (file.is_open())
      unlink(name_of(number).data());
    file = SegmentFile();
  }

  // Local, on any rank: maps all of the memory and allocates the pages of [begin, begin + bytes). nullptr: not
  // available.
  std::byte* map(int64_t total, int64_t begin, int64_t bytes) const noexcept {
    const SegmentFile own(open(name_of(number).data(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    struct stat about {};
    if (!own.is_open() || fstat(own.get(), &about) != 0 || about.st_ino != identity || about.st_size != total)
      return nullptr;
    if (total > longest_file() || !take_pages(own.get(), begin, bytes))
      return nullptr;
    void* const memory = mmap(nullptr, static_cast<size_t>(total), PROT_READ | PROT_WRITE, MAP_SHARED, own.get(), 0);
    if (memory == MAP_FAILED)
      return nullptr;
    auto* const start = static_cast<std::byte*>(memory);
#ifdef MADV_POPULATE_WRITE
    if (bytes > 0)
      // in one call, if the system supports it
      (void)madvise(start + begin, static_cast<size_t>(bytes), MADV_POPULATE_WRITE);
#endif
    return start;
  }
};

Result<bool> SharedSegment::reserve(MPI_Comm host, int64_t bytes) {
  // One reduction: whether any rank needs more, the total, and whether all ranks have memory for the lists.
  int size = 1, rank = 0;
  MPI_Comm_size(host, &size);
  MPI_Comm_rank(host, &rank);
  const Status room = guard([&] {
    for (auto* list : {&begins_, &given_, &wanted_})
      list->resize(static_cast<size_t>(size));
    return Status{};
  });
  const int64_t wanted = std::max(bytes, mine_);
  std::array<int64_t, 3> totals{bytes > mine_ ? 1 : 0, round_up(wanted, k_shared_page), room.ok() ? 0 : 1};
  if (int rc = MPI_Allreduce(MPI_IN_PLACE, totals.data(), 3, MPI_INT64_T, MPI_SUM, host); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Allreduce");
  if (totals[2] > 0)
    return room.ok() ? Result<bool>(false) : Result<bool>(room);
  if (totals[0] == 0)
    return memory_ != nullptr;
  std::optional<MemoryLock> lock;
  if (rank == 0)
    lock.emplace();
  Made made;
  const bool fits =
      rank == 0 && totals[1] <= std::min(free_shared_bytes() / parts_, longest_file()) && made.make(totals[1]);
  std::array<uint64_t, 3> shared{fits ? 1U : 0U, made.number, made.identity};
  const int rc = MPI_Bcast(shared.data(), 3, MPI_UINT64_T, 0, host);
  made.number = shared[1];
  made.identity = shared[2];
  auto answer = rc != MPI_SUCCESS ? Result<bool>(mpi_status(rc, "MPI_Bcast"))
                : shared[0] == 0  ? Result<bool>(false)
                                  : allocate(host, wanted, totals[1], made);
  made.remove();
  return answer;
}

Result<bool> SharedSegment::allocate(MPI_Comm host, int64_t bytes, int64_t total, const Made& made) {
  int rank = 0;
  MPI_Comm_rank(host, &rank);
  const int64_t asked = round_up(bytes, k_shared_page);
  if (int rc = MPI_Allgather(&asked, 1, MPI_INT64_T, wanted_.data(), 1, MPI_INT64_T, host); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Allgather");
  int64_t begin = 0;
  for (int i = 0; i < rank; ++i)
    begin += wanted_[static_cast<size_t>(i)];
  std::byte* const memory = made.map(total, begin, asked);
  int mapped = memory != nullptr ? 1 : 0;
  const int rc = MPI_Allreduce(MPI_IN_PLACE, &mapped, 1, MPI_INT, MPI_MIN, host);
  if (rc != MPI_SUCCESS || mapped == 0) {
    if (memory != nullptr)
      munmap(memory, static_cast<size_t>(total));
    return rc != MPI_SUCCESS ? Result<bool>(mpi_status(rc, "MPI_Allreduce")) : Result<bool>(false);
  }
  free();
  memory_ = memory;
  length_ = total;
  mine_ = bytes;
  given_.swap(wanted_);
  for (size_t i = 1; i < given_.size(); ++i)
    begins_[i] = begins_[i - 1] + given_[i - 1];
  return true;
}

void SharedSegment::free() noexcept {
  if (memory_ != nullptr)
    munmap(memory_, static_cast<size_t>(length_));
  memory_ = nullptr;
  mine_ = 0;
}

}  // namespace windrow
