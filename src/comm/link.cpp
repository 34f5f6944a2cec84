// SPDX-License-Identifier: BSD-3-Clause
#include "comm/link.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <new>
#include <thread>

namespace windrow {
namespace {

// Collective: the maximum over all ranks. Waiting ranks sleep for long intervals, since they share cores with the ranks
// that measure.
Status wait_for_all(const Comm& comm, double& seconds) {
  MPI_Request request = MPI_REQUEST_NULL;
  double largest = 0;
  if (int rc = MPI_Iallreduce(&seconds, &largest, 1, MPI_DOUBLE, MPI_MAX, comm.get(), &request); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Iallreduce");
  for (int done = 0; done == 0;) {
    if (int rc = MPI_Test(&request, &done, MPI_STATUS_IGNORE); rc != MPI_SUCCESS)
      return mpi_status(rc, "MPI_Test");
    if (done == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  seconds = largest;
  return {};
}

}  // namespace

namespace {

constexpr std::array<int64_t, 5> k_sizes{4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20};
constexpr size_t k_long = 2;  // from this size on the fixed cost of a message is negligible
constexpr int k_repetitions = 3;

// The first size of the series; past its end if even the shortest messages exceed the limit.
size_t first_size(int64_t most_bytes) noexcept {
  for (size_t i = k_long + 1; i-- > 0;)
    if (k_repetitions * (1 + k_sizes[i]) <= most_bytes)
      return i;
  return k_sizes.size();
}

// Sends messages along the ring of hosts: each root to the next, all at the same time.
class Ring {
 public:
  explicit Ring(const Comm& comm) : comm_(comm), sends_(comm.host_rank() == 0) {
    const std::vector<int>& roots = comm.host_roots();
    const size_t hosts = roots.size(), host = static_cast<size_t>(comm.host_index());
    next_ = roots[(host + 1) % hosts];
    before_ = roots[(host + hosts - 1) % hosts];
    if (sends_)
      memory_.reset(new (std::nothrow) std::byte[2 * static_cast<size_t>(k_sizes.back())]());
  }

  // Collective: whether a root lacks the memory for its messages.
  Status find_shortage(bool& is_short) const {
    double shortage = sends_ && memory_ == nullptr ? 1 : 0;
    if (int rc = MPI_Allreduce(MPI_IN_PLACE, &shortage, 1, MPI_DOUBLE, MPI_MAX, comm_.get()); rc != MPI_SUCCESS)
      return mpi_status(rc, "MPI_Allreduce");
    is_short = shortage > 0;
    return {};
  }

  // Collective: the seconds of a message, of the slowest host.
  Status measure(int64_t size, double& seconds) {
    seconds = least_seconds(size);
    return wait_for_all(comm_, seconds);
  }

  int64_t sent() const noexcept { return sent_; }
  const Status& status() const noexcept { return status_; }  // of the messages of this rank

 private:
  // The minimum of several tries: ranks that share cores delay each other.
  double least_seconds(int64_t size) {
    double seconds = sends_ ? 1e9 : 0;
    for (int i = 0; sends_ && i < k_repetitions; ++i) {
      const double begin = MPI_Wtime();
      status_.update(mpi_status(send(static_cast<int>(size)), "MPI_Sendrecv"));
      seconds = std::min(seconds, MPI_Wtime() - begin);
      sent_ += size;
    }
    return seconds;
  }

  int send(int size) {
    return MPI_Sendrecv(memory_.get(), size, MPI_BYTE, next_, k_tag_link, memory_.get() + k_sizes.back(), size,
                        MPI_BYTE, before_, k_tag_link, comm_.get(), MPI_STATUS_IGNORE);
  }

  const Comm& comm_;
  bool sends_;
  int next_ = 0, before_ = 0;
  std::unique_ptr<std::byte[]> memory_;
  int64_t sent_ = 0;
  Status status_;
};

}  // namespace

Result<LinkProbe> measure_link(const Comm& comm, int64_t most_bytes) {
  constexpr double k_enough = 2e-3;
  constexpr double k_least_share = 0.25;  // minimum share of a short message's time that is attributed to its bytes
  const size_t first = first_size(most_bytes);
  if (comm.host_roots().size() < 2 || first == k_sizes.size())
    return LinkProbe{};
  Ring ring(comm);
  bool is_short = false;
  if (Status verdict = ring.find_shortage(is_short); !verdict.ok())
    return verdict;
  if (is_short)
    return LinkProbe{};
  LinkProbe probe;
  double latency = 0;
  if (Status verdict = ring.measure(1, latency); !verdict.ok())  // MPI connects at the first message
    return verdict;
  int64_t left = most_bytes - k_repetitions;
  for (size_t i = first; i < k_sizes.size() && k_repetitions * k_sizes[i] <= left; ++i) {
    double seconds = 0;
    if (Status verdict = ring.measure(k_sizes[i], seconds); !verdict.ok())
      return verdict;
    left -= k_repetitions * k_sizes[i];
    probe.rough = i < k_long;
    if (probe.rough)
      seconds = std::max(seconds - latency, k_least_share * seconds);
    probe.seconds_per_byte = seconds / static_cast<double>(k_sizes[i]);
    if (seconds > k_enough)
      break;
  }
  probe.sent = ring.sent();
  if (!ring.status().ok())
    return ring.status();
  return probe;
}

}  // namespace windrow
