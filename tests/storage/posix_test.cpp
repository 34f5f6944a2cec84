// SPDX-License-Identifier: BSD-3-Clause
// What only a real file has: the system's errors and limits.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "../temporary_folder.hpp"
#include "storage/file_system.hpp"
#include "storage/posix/posix_store.hpp"
#include "storage/store.hpp"
#include "storage/system_error.hpp"

namespace windrow::test {
namespace {

using testing::HasSubstr;

std::unique_ptr<Store> create(const std::string& path) {
  auto store = open_store(path, StoreMode::create, {});
  EXPECT_TRUE(store.ok()) << store.status().message();
  return std::move(store).value();
}

// Runs in a child process: limits and identities that a test sets must not outlive it. True: all held.
template <class Check>
bool in_a_child(Check check) {
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(check() ? 0 : 1);
  int result = 0;
  ::waitpid(child, &result, 0);
  return WIFEXITED(result) && WEXITSTATUS(result) == 0;
}

}  // namespace

// Of a low limit as much is left alone as the program and MPI want.
TEST(PosixStore, few_files_are_kept_open_where_few_may_be) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto with_limit = [&](rlim_t limit) {
    rlimit low = before;
    low.rlim_cur = std::min(limit, before.rlim_max);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
    const size_t kept = files_kept_open(64);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    return kept;
  };
  EXPECT_EQ(with_limit(16), 2u);
  EXPECT_EQ(with_limit(64), 8u);
  EXPECT_EQ(with_limit(100), 17u);
  EXPECT_EQ(with_limit(1024), 64u);
}

TEST(PosixStore, a_full_device_is_no_space_and_says_so) {
  auto store = open_store("/dev/full", StoreMode::update, {});
  ASSERT_TRUE(store.ok());
  const std::vector<std::byte> bytes(4'200'000);
  const Status status = store.value()->write_at(0, bytes);
  EXPECT_EQ(status.code(), Code::no_space);
  EXPECT_EQ(status.message(), "write of 4.2 MB at offset 0 of \"/dev/full\": no space left on device");
  EXPECT_EQ(store.value()->counters().write_requests, 1);
  EXPECT_EQ(store.value()->counters().bytes_written, 0);
}

TEST(PosixStore, reads_several_at_the_same_time_as_one_after_the_other) {
  constexpr size_t k_pieces = 37, k_bytes = 1003;
  TemporaryFolder folder;
  auto store = create(folder.path("several"));
  std::vector<std::byte> bytes(k_pieces * k_bytes);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i * 31 >> 3);
  ASSERT_TRUE(store->write_at(0, bytes).ok());
  auto& posix = dynamic_cast<PosixStore&>(*store);
  for (const bool lanes : {true, false})
    for (const size_t count : {size_t{0}, size_t{1}, size_t{3}, k_pieces}) {
      std::vector<std::byte> read(bytes.size());
      std::vector<ReadRequest> requests;
      for (size_t i = 0; i < count; ++i) {
        const size_t at = i * 5 % k_pieces * k_bytes;
        requests.push_back({static_cast<int64_t>(at), std::span(read).subspan(at, k_bytes)});
      }
      const StoreCounters before = store->counters();
      EXPECT_TRUE((lanes ? posix.read_in_lanes(requests) : store->read_several(requests)).ok());
      EXPECT_EQ(store->counters().read_requests - before.read_requests, static_cast<int64_t>(count));
      EXPECT_EQ(store->counters().bytes_read - before.bytes_read, static_cast<int64_t>(count * k_bytes));
      for (const ReadRequest& request : requests)
        EXPECT_TRUE(std::equal(request.bytes.begin(), request.bytes.end(), bytes.begin() + request.offset))
            << request.offset;
    }
  std::vector<std::byte> read(k_bytes);
  std::vector<ReadRequest> requests(9, {0, read});
  for (size_t i = 0; i < requests.size(); ++i)
    requests[i].offset = static_cast<int64_t>(bytes.size() - (i == 6 ? 1 : k_bytes));
  read.resize(9 * k_bytes);
  for (size_t i = 0; i < requests.size(); ++i)
    requests[i].bytes = std::span(read).subspan(i * k_bytes, k_bytes);
  EXPECT_EQ(posix.read_in_lanes(requests).code(), Code::bad_file) << "one of them goes on behind the end";
  EXPECT_EQ(store->read_several(requests).code(), Code::bad_file);
}

TEST(PosixStore, reads_a_long_request_in_pieces_that_count_as_one) {
  constexpr size_t k_bytes = (size_t{5} << 20) + 12345;
  TemporaryFolder folder;
  auto store = create(folder.path("long"));
  std::vector<std::byte> bytes(k_bytes), read(k_bytes);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i * 2654435761U >> 13);
  ASSERT_TRUE(store->write_at(0, bytes).ok());
  auto& posix = dynamic_cast<PosixStore&>(*store);
  const std::array requests{ReadRequest{777, std::span(read).subspan(777, (size_t{3} << 20) + 1)},
                            ReadRequest{3, std::span(read).subspan(3, 700)},
                            ReadRequest{(3 << 20) + 778, std::span(read).subspan((size_t{3} << 20) + 778)}};
  for (const bool lanes : {true, false}) {
    std::fill(read.begin(), read.end(), std::byte{0});
    const StoreCounters before = store->counters();
    EXPECT_TRUE((lanes ? posix.read_in_lanes(requests) : store->read_several(requests)).ok());
    EXPECT_EQ(store->counters().read_requests - before.read_requests, 3);
    EXPECT_EQ(store->counters().bytes_read - before.bytes_read, static_cast<int64_t>(k_bytes - 777 + 700));
    EXPECT_TRUE(std::equal(read.begin() + 3, read.begin() + 703, bytes.begin() + 3));
    EXPECT_TRUE(std::equal(read.begin() + 777, read.end(), bytes.begin() + 777));
  }
  // The first million is there already: neither read nor counted again.
  std::fill(read.begin(), read.end(), std::byte{0});
  const StoreCounters before = store->counters();
  EXPECT_TRUE(posix.read_in_lanes(requests, 1'000'000).ok());
  EXPECT_EQ(store->counters().read_requests - before.read_requests, 2);
  EXPECT_EQ(store->counters().bytes_read - before.bytes_read, static_cast<int64_t>(k_bytes - 777 + 700 - 1'000'000));
  EXPECT_EQ(read[1'000'776], std::byte{0});
  EXPECT_TRUE(std::equal(read.begin() + 1'000'777, read.end(), bytes.begin() + 1'000'777));
  const std::array beyond{ReadRequest{2 << 20, std::span(read).first(size_t{4} << 20)}};
  EXPECT_EQ(posix.read_in_lanes(beyond).code(), Code::bad_file);
}

TEST(PosixStore, writes_a_long_request_in_calls_that_count_as_one) {
  TemporaryFolder folder;
  auto store = create(folder.path("long"));
  std::vector<std::byte> bytes((size_t{5} << 20) + 12345), read(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i * 2654435761U >> 13);
  const int64_t half = 2'500'001, rest = static_cast<int64_t>(bytes.size()) - half;
  ASSERT_TRUE(store
                  ->write_slices_at(7, std::array{ConstSlice{bytes.data(), half}, ConstSlice{nullptr, 0},
                                                  ConstSlice{bytes.data() + half, rest}})
                  .ok());
  EXPECT_EQ(store->counters().write_requests, 1);
  EXPECT_EQ(store->counters().bytes_written, half + rest);
  ASSERT_TRUE(store->read_at(7, read).ok());
  EXPECT_EQ(read, bytes);
}

// Preallocated space (on ext4) is not visible: neither in the length of the file nor in reads of bytes that were not
// written.
TEST(PosixStore, room_for_long_requests_leaves_length_and_holes_as_they_are) {
  constexpr int64_t k_bytes = (3 << 20) + 17, k_begin = 1 << 20, k_behind = 9 << 20;
  TemporaryFolder folder(std::filesystem::current_path());  // rather than in memory
  auto store = create(folder.path("room"));
  const std::vector<std::byte> bytes(k_bytes, std::byte{7});
  ASSERT_TRUE(store->write_at(k_begin, bytes).ok());
  EXPECT_EQ(store->size().value(), k_begin + k_bytes);
  ASSERT_TRUE(store->write_at(k_behind, bytes).ok());
  EXPECT_EQ(store->size().value(), k_behind + k_bytes);
  ASSERT_TRUE(store->write_at(k_begin, bytes).ok());  // again, between holes
  EXPECT_EQ(store->size().value(), k_behind + k_bytes);
  EXPECT_EQ(store->counters().write_requests, 3);
  std::vector<std::byte> all(k_behind + k_bytes), expected(all.size());
  std::fill_n(expected.begin() + k_begin, k_bytes, std::byte{7});
  std::fill_n(expected.begin() + k_behind, k_bytes, std::byte{7});
  ASSERT_TRUE(store->read_at(0, all).ok());
  EXPECT_EQ(all, expected);
}

// Announced bytes are allocated at once, if the file system supports it. Only the blocks of the file show this, and all
// of them are used in the end.
TEST(PosixStore, room_for_what_is_expected_is_found_at_once) {
  constexpr int64_t k_begin = 2048, k_bytes = int64_t{5} << 20, k_part = int64_t{1} << 20;
  const TemporaryFolder folder(std::filesystem::current_path());  // rather than in memory
  const std::string path = folder.path("expected file");
  auto store = create(path);
  store->expect(k_begin, k_bytes);
  EXPECT_EQ(store->size().value(), 0);
  struct stat about {};
  ASSERT_EQ(::stat(path.c_str(), &about), 0);
  struct statfs system {};
  ASSERT_EQ(::statfs(path.c_str(), &system), 0);
  const bool reserves = static_cast<uint64_t>(system.f_type) == EXT4_SUPER_MAGIC;
  if (reserves) {
    EXPECT_GE(about.st_blocks * 512, k_bytes);
  }
  const std::vector<std::byte> part(k_part, std::byte{7});
  for (int64_t offset = k_begin; offset < k_begin + k_bytes; offset += k_part)
    ASSERT_TRUE(store->write_at(offset, part).ok());
  EXPECT_EQ(store->size().value(), k_begin + k_bytes);
  ASSERT_EQ(::stat(path.c_str(), &about), 0);
  if (reserves) {
    EXPECT_LE(about.st_blocks * 512, k_begin + k_bytes + 4096) << "no block that nothing is in";
  }
  std::vector<std::byte> back(k_part);
  ASSERT_TRUE(store->read_at(k_begin + k_bytes - k_part, back).ok());
  EXPECT_EQ(back, part);
  store->expect(k_begin, k_bytes);  // nothing new
  ASSERT_TRUE(store->write_at(k_begin, part).ok());
  EXPECT_EQ(store->size().value(), k_begin + k_bytes);
  EXPECT_TRUE(store->close().ok());
}

// If the address is a few bytes after the offset in the file, modulo the page size, the bytes are read in another way.
TEST(PosixStore, reads_into_memory_at_any_distance_from_a_page) {
  constexpr size_t k_bytes = 700'001;
  TemporaryFolder folder;
  auto store = create(folder.path("distances"));
  std::vector<std::byte> bytes(k_bytes + 5000), memory(k_bytes + 3 * 4096);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i * 2654435761U >> 13);
  ASSERT_TRUE(store->write_at(0, bytes).ok());
  std::byte* const page = memory.data() + (4096 - reinterpret_cast<uintptr_t>(memory.data()) % 4096);
  int64_t requests = store->counters().read_requests;
  for (const int64_t offset : {0, 1, 2048, 4096, 4999})
    for (const int64_t apart : {0, 1, 16, 31, 32, 4095}) {
      std::byte* const place = page + (offset + apart) % 4096;
      std::fill(memory.begin(), memory.end(), std::byte{0});
      const int64_t first = 300'000, last = static_cast<int64_t>(k_bytes) - first;
      ASSERT_TRUE(store->read_slices_at(offset, std::array{Slice{place, first}, Slice{place + first, last}}).ok());
      EXPECT_TRUE(std::equal(place, place + k_bytes, bytes.data() + offset)) << offset << " " << apart;
      EXPECT_TRUE(std::all_of(memory.data(), place, [](std::byte byte) { return byte == std::byte{0}; }));
      EXPECT_TRUE(std::all_of(place + k_bytes, memory.data() + memory.size(),
                              [](std::byte byte) { return byte == std::byte{0}; }));
      EXPECT_EQ(store->counters().read_requests, ++requests);
    }
  EXPECT_EQ(store->read_at(static_cast<int64_t>(bytes.size()) - 100'000, std::span(page + 16, 100'001)).code(),
            Code::bad_file)
      << "behind the end";
}

TEST(PosixStore, the_process_file_size_limit_is_an_error_and_not_a_signal) {
  TemporaryFolder folder;
  EXPECT_TRUE(in_a_child([&] {
    auto store = create(folder.path("limited"));
    const rlimit limit{.rlim_cur = 1000, .rlim_max = 1000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0)
      return false;
    const std::vector<std::byte> bytes(1001);
    const Status beyond = store->write_at(0, bytes);
    const Status within = store->write_at(0, std::span(bytes).first(1000));
    return beyond.code() == Code::io && beyond.message().find("too large") != std::string::npos && within.ok() &&
           store->resize(1001).code() == Code::io && store->resize(1000).ok();
  }));
}

TEST(PosixStore, maps_the_errors_of_open) {
  TemporaryFolder folder;
  EXPECT_EQ(open_store(folder.path("no/such/folder"), StoreMode::create, {}).status().code(), Code::not_found);
  for (const StoreMode mode : {StoreMode::read, StoreMode::update, StoreMode::create}) {
    const auto store = open_store(folder.path(), mode, {});
    ASSERT_FALSE(store.ok()) << "a folder is not a file";
    EXPECT_EQ(store.status().code(), Code::bad_argument);
    EXPECT_THAT(store.status().message(), HasSubstr("is a directory"));
  }
}

TEST(PosixStore, does_not_wait_for_the_other_end_of_a_pipe) {
  TemporaryFolder folder;
  const std::string pipe = folder.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const StoreMode mode : {StoreMode::read, StoreMode::update}) {
    const auto store = open_store(pipe, mode, {});
    ASSERT_FALSE(store.ok());
    EXPECT_EQ(store.status().code(), Code::bad_file);
    EXPECT_THAT(store.status().message(), HasSubstr("pipe"));
  }
}

TEST(PosixStore, maps_missing_permission) {
  TemporaryFolder folder;
  ASSERT_TRUE(create(folder.path("guarded"))->close().ok());
  std::filesystem::permissions(folder.path("guarded"), std::filesystem::perms::none);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  EXPECT_TRUE(in_a_child([&] {
    if (::getuid() == 0 && ::setuid(65534) != 0)
      return false;  // root may do everything
    const auto store = open_store(folder.path("guarded"), StoreMode::read, {});
    return !store.ok() && store.status().code() == Code::no_permission;
  }));
}

TEST(PosixStore, maps_error_numbers) {
  EXPECT_EQ(code_of_errno(ENOSPC), Code::no_space);
  EXPECT_EQ(code_of_errno(EDQUOT), Code::no_space);
  EXPECT_EQ(code_of_errno(EACCES), Code::no_permission);
  EXPECT_EQ(code_of_errno(EPERM), Code::no_permission);
  EXPECT_EQ(code_of_errno(EROFS), Code::no_permission);
  EXPECT_EQ(code_of_errno(ENOENT), Code::not_found);
  EXPECT_EQ(code_of_errno(ENOMEM), Code::out_of_memory);
  EXPECT_EQ(code_of_errno(EIO), Code::io);
  EXPECT_EQ(text_of_errno(EIO), "input/output error");
}

TEST(PosixStore, batches_slices_by_what_one_call_takes) {
  TemporaryFolder folder;
  auto store = create(folder.path("batches"));
  const std::byte one{1};
  const std::vector<ConstSlice> slices(2050, ConstSlice{&one, 1});
  ASSERT_TRUE(store->write_slices_at(0, slices).ok());
  EXPECT_EQ(store->counters().write_requests, 3) << "1024 + 1024 + 2";
  EXPECT_EQ(store->counters().bytes_written, 2050);
}

// 2.5 GB of untouched zero pages read from, and a sparse file to read into them: needs neither memory nor disk.
TEST(PosixStore, splits_reads_and_writes_larger_than_one_call_may_be) {
  constexpr size_t k_size = 2'500'000'000;
  void* memory = ::mmap(nullptr, k_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const std::span<const std::byte> zeros(static_cast<const std::byte*>(memory), k_size);
  auto sink = open_store("/dev/null", StoreMode::update, {});
  ASSERT_TRUE(sink.ok());
  ASSERT_TRUE(sink.value()->write_at(0, zeros).ok());
  EXPECT_EQ(sink.value()->counters().bytes_written, int64_t{k_size});
  EXPECT_EQ(sink.value()->counters().write_requests, 2) << "0x7ffff000 bytes and the rest";
  const std::vector<ConstSlice> slices{{zeros.data(), 2'000'000'000}, {zeros.data(), 2'000'000'000}};
  ASSERT_TRUE(sink.value()->write_slices_at(0, slices).ok());
  EXPECT_EQ(sink.value()->counters().write_requests, 4);
  ::munmap(memory, k_size);
}

TEST(PosixStore, a_signal_does_not_interrupt_a_lock) {
  TemporaryFolder folder;
  auto mine = create(folder.path("signalled"));
  auto other = open_store(folder.path("signalled"), StoreMode::update, {});
  ASSERT_TRUE(mine->lock(0, 10).ok());
  struct sigaction action {};
  action.sa_handler = [](int) {};  // no SA_RESTART: fcntl() returns EINTR
  struct sigaction before {};
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  Status status(Code::internal, "not set");
  std::thread waiter([&] { status = other.value()->lock(0, 10); });
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ::pthread_kill(waiter.native_handle(), SIGUSR1);
  }
  ASSERT_TRUE(mine->unlock(0, 10).ok());
  waiter.join();
  ::sigaction(SIGUSR1, &before, nullptr);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(PosixStore, goes_on_after_a_call_that_a_signal_interrupted) {
  TemporaryFolder folder;
  int interruptions = 3;
  auto store = open_hooked_posix_store(folder.path("interrupted"), StoreMode::create, [&](Operation operation) {
    const bool now = (operation == Operation::write || operation == Operation::read) && interruptions-- > 0;
    return now ? Intervention{.error = EINTR} : Intervention{};
  });
  ASSERT_TRUE(store.ok());
  const std::vector<std::byte> bytes(100, std::byte{5});
  ASSERT_TRUE(store.value()->write_at(0, bytes).ok());
  EXPECT_EQ(store.value()->counters().write_requests, 1) << "the storage never saw the interrupted ones";
  interruptions = 2;
  std::vector<std::byte> back(100);
  ASSERT_TRUE(store.value()->read_at(0, back).ok());
  EXPECT_EQ(back, bytes);
}

TEST(PosixStore, a_lock_of_another_process_is_waited_for) {
  TemporaryFolder folder;
  auto mine = create(folder.path("two processes"));
  ASSERT_TRUE(mine->lock(0, 100).ok());
  const pid_t child = ::fork();
  if (child == 0) {
    auto other = open_store(folder.path("two processes"), StoreMode::update, {});
    const bool locked = other.ok() && other.value()->lock(50, 1).ok();
    std::byte byte{};
    ::_exit(locked && other.value()->read_at(0, {&byte, 1}).ok() && byte == std::byte{7} ? 0 : 1);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  const std::byte seven{7};
  ASSERT_TRUE(mine->write_at(0, {&seven, 1}).ok());
  ASSERT_TRUE(mine->unlock(0, 100).ok());
  int result = 1;
  ASSERT_EQ(::waitpid(child, &result, 0), child);
  EXPECT_EQ(result, 0) << "the other process saw what was written under the lock";
}

// Nobody would give back a lock that the waiting process holds itself.
TEST(PosixStore, a_process_lock_of_this_process_is_an_error) {
  TemporaryFolder folder;
  auto store = create(folder.path("own lock"));
  const int own = ::open(folder.path("own lock").c_str(), O_RDWR);
  ASSERT_GE(own, 0);
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = 10;
  range.l_len = 10;
  ASSERT_EQ(::fcntl(own, F_SETLK, &range), 0);
  EXPECT_TRUE(store->lock(0, 10).ok());
  for (const bool shared : {false, true}) {
    const Status status = shared ? store->lock_shared(15, 1) : store->lock(15, 1);
    EXPECT_EQ(status.code(), Code::bad_state);
    EXPECT_THAT(status.message(), testing::HasSubstr("this process holds a lock"));
  }
  range.l_type = F_UNLCK;
  ASSERT_EQ(::fcntl(own, F_SETLK, &range), 0);
  EXPECT_TRUE(store->lock(15, 1).ok());
  ::close(own);
}

// A writer of long requests waits for others of the same file, on a disk of this host; it does not wait for another
// program's lock of the whole file.
TEST(PosixStore, writes_long_requests_in_turns) {
  TemporaryFolder folder;
  const std::string path = folder.path("turns");
  auto store = create(path);
  if (file_system_of(path) != FileSystem::local)
    GTEST_SKIP() << "the folder of this test is not on a local disk";
  const int other = ::open(path.c_str(), O_RDWR);
  ASSERT_GE(other, 0);
  const auto lock = [other](int command, short type, off_t begin, off_t length) {
    struct flock range {};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_start = begin;
    range.l_len = length;
    return ::fcntl(other, command, &range);
  };
  const std::vector<std::byte> bytes(size_t{2} << 20, std::byte{7});
  ASSERT_EQ(lock(F_OFD_SETLK, F_WRLCK, INT64_MAX - 1, 1), 0);
  std::atomic<bool> written = false;
  std::thread writer([&] { written = store->write_at(0, bytes).ok(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(written) << "it did not wait for its turn";
  ASSERT_EQ(lock(F_OFD_SETLK, F_UNLCK, INT64_MAX - 1, 1), 0);
  writer.join();
  EXPECT_TRUE(written);

  for (const int command : {F_OFD_SETLK, F_SETLK}) {
    ASSERT_EQ(lock(command, F_WRLCK, 0, 0), 0);
    EXPECT_TRUE(store->write_at(0, bytes).ok());
    ASSERT_EQ(lock(command, F_UNLCK, 0, 0), 0);
  }
  ::close(other);
}

TEST(PosixStore, shows_bytes_where_the_system_keeps_them) {
  TemporaryFolder folder;
  auto store = create(folder.path("mapped"));
  std::vector<std::byte> bytes(100'000);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i % 251);
  ASSERT_TRUE(store->write_at(0, bytes).ok());
  EXPECT_TRUE(store->in_memory(0, 100'000));
  for (const int64_t begin : {int64_t{0}, int64_t{5'001}, int64_t{99'999}}) {
    const auto mapped = store->map(begin, 100'000 - begin);
    ASSERT_TRUE(mapped.ok()) << mapped.status().message();
    EXPECT_TRUE(std::equal(bytes.begin() + begin, bytes.end(), mapped.value()));
    EXPECT_TRUE(store->unmap().ok());
  }
  const std::byte seven{7};
  ASSERT_TRUE(store->write_at(50, {&seven, 1}).ok());
  const auto again = store->map(0, 100);
  EXPECT_EQ(again.value()[50], seven) << "what is written later shows";
  EXPECT_TRUE(store->unmap().ok());
  EXPECT_EQ(store->counters().read_requests, 0);
  EXPECT_EQ(store->map(1, 100'000).status().code(), Code::bad_file);
  EXPECT_THAT(store->map(1, 100'000).status().message(), HasSubstr("the file ends at byte 100000"));
}

TEST(PosixStore, survives_a_file_that_is_cut_short_while_it_is_read) {
  TemporaryFolder folder;
  auto store = create(folder.path("cut"));
  const std::vector<std::byte> bytes(1'000'000, std::byte{5});
  ASSERT_TRUE(store->write_at(0, bytes).ok());
  struct sigaction before {
  }, after{};
  ::sigaction(SIGBUS, nullptr, &before);
  auto mapped = store->map(0, 1'000'000);
  ASSERT_TRUE(mapped.ok());
  ASSERT_EQ(::truncate(folder.path("cut").c_str(), 10), 0);
  int64_t sum = 0;
  for (int64_t i = 0; i < 1'000'000; ++i)
    sum += static_cast<int64_t>(mapped.value()[i]);
  EXPECT_LT(sum, 5'000'000) << "what is gone reads as zeros";
  const Status status = store->unmap();
  EXPECT_EQ(status.code(), Code::bad_file);
  EXPECT_THAT(status.message(), HasSubstr("the file ends at byte 10"));
  ::sigaction(SIGBUS, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler) << "the program's own handling is back";
  ASSERT_TRUE(store->write_at(0, bytes).ok());
  mapped = store->map(0, 1'000'000);
  ASSERT_TRUE(mapped.ok());
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), mapped.value())) << "no zeros are kept";
  EXPECT_TRUE(store->unmap().ok());
}

TEST(PosixStore, leaves_other_bus_errors_to_the_program) {
  EXPECT_TRUE(in_a_child([] {
    static volatile int caught = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { caught = 1; };
    ::sigaction(SIGBUS, &action, nullptr);
    TemporaryFolder folder;
    auto store = create(folder.path("own"));
    const std::vector<std::byte> bytes(10'000);
    if (!store->write_at(0, bytes).ok() || !store->map(0, 10'000).ok())
      return false;
    ::raise(SIGBUS);
    return store->unmap().ok() && caught == 1;
  }));
  TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGBUS, SIG_DFL);
    auto store = create(folder.path("default"));
    const std::vector<std::byte> bytes(10'000);
    (void)store->write_at(0, bytes);
    (void)store->map(0, 10'000);
    const struct rlimit no_core { 0, 0 };
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::raise(SIGBUS);
    ::_exit(0);
  }
  int result = 0;
  ::waitpid(child, &result, 0);
  EXPECT_TRUE(WIFSIGNALED(result) && WTERMSIG(result) == SIGBUS);
}

}  // namespace windrow::test
