// SPDX-License-Identifier: BSD-3-Clause
// A ring of io_uring by its system calls, as much of it as moving a file's part needs: buffered, a fixed number of
// requests of 1 MiB under way. Where the kernel has none, open() fails.
#pragma once

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bench {

inline constexpr int64_t k_call = 1 << 20;

class Ring {
 public:
  Ring() = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() { close(); }

  bool open(int depth) {
    io_uring_params parameters{};
    depth_ = static_cast<unsigned>(depth);
    file_ = static_cast<int>(::syscall(SYS_io_uring_setup, depth_, &parameters));
    if (file_ < 0)
      return false;
    if (!(parameters.features & IORING_FEAT_SINGLE_MMAP)) {  // Linux 5.4: one mapping for both queues
      errno = ENOSYS;
      return false;
    }
    const io_sqring_offsets& sq = parameters.sq_off;
    const io_cqring_offsets& cq = parameters.cq_off;
    rings_size_ = std::max(sq.array + parameters.sq_entries * sizeof(unsigned),
                           cq.cqes + parameters.cq_entries * sizeof(io_uring_cqe));
    requests_size_ = parameters.sq_entries * sizeof(io_uring_sqe);
    rings_ = map(rings_size_, IORING_OFF_SQ_RING);
    requests_ = map(requests_size_, IORING_OFF_SQES);
    if (!rings_ || !requests_)
      return false;
    tail_ = at(sq.tail);
    array_ = at(sq.array);
    request_mask_ = *at(sq.ring_mask);
    done_head_ = at(cq.head);
    done_tail_ = at(cq.tail);
    done_mask_ = *at(cq.ring_mask);
    done_offset_ = cq.cqes;
    return true;
  }

  void close() {
    if (rings_)
      ::munmap(rings_, rings_size_);
    if (requests_)
      ::munmap(requests_, requests_size_);
    if (file_ >= 0)
      ::close(file_);
    rings_ = requests_ = nullptr;
    file_ = -1;
  }

  // A short transfer is a failure: a regular file gives none short of its end.
  bool move(bool write, int file, std::byte* buffer, int64_t begin, int64_t end) {
    unsigned under_way = 0;
    for (int64_t next = begin; next < end || under_way > 0;) {
      unsigned added = 0;
      for (; next < end && under_way < depth_; ++added, ++under_way) {
        const int64_t size = std::min(k_call, end - next);
        add(write, file, buffer + (next - begin), next, size);
        next += size;
      }
      const long taken = ::syscall(SYS_io_uring_enter, file_, added, 1u, IORING_ENTER_GETEVENTS, nullptr, 0);
      if (taken != static_cast<long>(added))
        return false;
      if (!reap(under_way))
        return false;
    }
    return true;
  }

 private:
  std::byte* map(size_t size, uint64_t offset) const {
    void* memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_, static_cast<off_t>(offset));
    return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
  }
  unsigned* at(size_t offset) const { return reinterpret_cast<unsigned*>(rings_ + offset); }

  // `user_data` is the size that is expected.
  void add(bool write, int file, std::byte* bytes, int64_t offset, int64_t size) {
    const unsigned tail = *tail_, slot = tail & request_mask_;
    auto& request = reinterpret_cast<io_uring_sqe*>(requests_)[slot];
    std::memset(&request, 0, sizeof request);
    request.opcode = write ? IORING_OP_WRITE : IORING_OP_READ;
    request.fd = file;
    request.addr = reinterpret_cast<uint64_t>(bytes);
    request.len = static_cast<uint32_t>(size);
    request.off = static_cast<uint64_t>(offset);
    request.user_data = static_cast<uint64_t>(size);
    array_[slot] = slot;
    __atomic_store_n(tail_, tail + 1, __ATOMIC_RELEASE);
  }

  bool reap(unsigned& under_way) {
    bool good = true;
    unsigned head = *done_head_;
    const unsigned tail = __atomic_load_n(done_tail_, __ATOMIC_ACQUIRE);
    for (; head != tail; ++head, --under_way) {
      const auto& done = reinterpret_cast<const io_uring_cqe*>(rings_ + done_offset_)[head & done_mask_];
      good = good && done.res >= 0 && static_cast<uint64_t>(done.res) == done.user_data;
    }
    __atomic_store_n(done_head_, head, __ATOMIC_RELEASE);
    return good;
  }

  int file_ = -1;
  unsigned depth_ = 0, request_mask_ = 0, done_mask_ = 0;
  std::byte *rings_ = nullptr, *requests_ = nullptr;
  size_t rings_size_ = 0, requests_size_ = 0, done_offset_ = 0;
  unsigned *tail_ = nullptr, *array_ = nullptr, *done_head_ = nullptr, *done_tail_ = nullptr;
};

}  // namespace bench
