// SPDX-License-Identifier: BSD-3-Clause
#include "storage/posix/mapping.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>

namespace windrow {
namespace {

int64_t page_bytes() noexcept {
  static const int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

// State for the signal handler. An entry is free while its end is 0.
struct Guarded {
  std::atomic<uintptr_t> begin{0}, end{0};
  std::atomic<bool> failed{false};
};
std::array<Guarded, 16> guarded;
static_assert(std::atomic<uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a signal handler uses them");

std::mutex install_mutex;
int installed = 0;
struct sigaction before;  // the previous action of the program

// Replaces the page by zeros, so that the copy continues, like systemd's journal (src/basic/sigbus.c). mmap is a plain
// system call, although POSIX does not list it as async-signal-safe.
bool replace_page(uintptr_t address) noexcept {
  for (Guarded& range : guarded) {
    if (address < range.begin.load(std::memory_order_acquire) || address >= range.end.load(std::memory_order_acquire))
      continue;
    const auto page = static_cast<uintptr_t>(page_bytes());
    void* const start = reinterpret_cast<void*>(address / page * page);
    const int error = errno;
    const bool replaced = mmap(start, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == start;
    errno = error;
    range.failed.store(true, std::memory_order_release);
    return replaced;
  }
  return false;
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  if (replace_page(reinterpret_cast<uintptr_t>(info->si_addr)))
    return;
  // Not a guarded page: run the previous action.
  if ((before.sa_flags & SA_SIGINFO) != 0)
    return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    return before.sa_handler(signal);
  sigaction(signal, &before, nullptr);
  if (before.sa_handler == SIG_DFL)
    (void)raise(signal);  // is delivered when this handler returns, and ends the program
}

bool install() noexcept {
  const std::lock_guard<std::mutex> lock(install_mutex);
  if (installed == 0) {
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    page_bytes();
    if (sigaction(SIGBUS, &action, &before) != 0)
      return false;
  }
  ++installed;
  return true;
}

void uninstall() noexcept {
  const std::lock_guard<std::mutex> lock(install_mutex);
  if (--installed == 0)
    sigaction(SIGBUS, &before, nullptr);
}

}  // namespace

bool Mapping::cover(int descriptor, int64_t begin, int64_t end) noexcept {
  if (memory_ != nullptr && begin >= begin_ && end <= end_)
    return true;
  drop();
  const int64_t from = begin / page_bytes() * page_bytes();
  void* const memory = mmap(nullptr, static_cast<size_t>(end - from), PROT_READ, MAP_SHARED, descriptor, from);
  if (memory == MAP_FAILED)
    return false;
  memory_ = static_cast<std::byte*>(memory);
  begin_ = from;
  end_ = end;
  return true;
}

void Mapping::drop() noexcept {
  if (memory_ != nullptr)
    munmap(memory_, static_cast<size_t>(end_ - begin_));
  memory_ = nullptr;
  begin_ = end_ = 0;
}

BusErrorGuard::BusErrorGuard(const Mapping& mapping) noexcept {
  if (!install())
    return;
  const auto begin = reinterpret_cast<uintptr_t>(mapping.memory_);
  for (size_t i = 0; i < guarded.size(); ++i) {
    uintptr_t free = 0;
    if (!guarded[i].begin.compare_exchange_strong(free, begin))
      continue;
    guarded[i].failed.store(false, std::memory_order_relaxed);
    guarded[i].end.store(begin + static_cast<uintptr_t>(mapping.end_ - mapping.begin_), std::memory_order_release);
    place_ = static_cast<int>(i);
    return;
  }
  uninstall();
}

BusErrorGuard::~BusErrorGuard() {
  if (place_ < 0)
    return;
  Guarded& range = guarded[static_cast<size_t>(place_)];
  range.end.store(0, std::memory_order_release);
  range.begin.store(0, std::memory_order_release);
  uninstall();
}

bool BusErrorGuard::failed() const noexcept {
  return guarded[static_cast<size_t>(place_)].failed.load(std::memory_order_acquire);
}

}  // namespace windrow
