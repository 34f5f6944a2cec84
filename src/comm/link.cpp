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
constexpr size_t k_telling = 2;  // from this size on the fixed cost of a message is negligible
constexpr int k_repetitions = 3;

// The first size of the series; past its end if even the shortest messages exceed the limit.
size_t first_size(int64_t most_bytes) noexcept {
  for (size_t i = k_telling + 1; i-- > 0;)
    if (k_repetitions * (1 + k_sizes[i]) <= most_bytes)
      return i;
  return k_sizes.size();
}

}  // namespace

Result<LinkProbe> measure_link(const Comm& comm, int64_t most_bytes) {
  constexpr double k_enough = 2e-3;
  constexpr double k_least_share = 0.25;  // minimum share of a short message's time that is attributed to its bytes
  const std::vector<int>& roots = comm.host_roots();
  const size_t first = first_size(most_bytes);
  if (roots.size() < 2 || first == k_sizes.size())
    return LinkProbe{};
  const bool sends = comm.host_rank() == 0;
  const size_t hosts = roots.size(), host = static_cast<size_t>(comm.host_index());
  const int next = roots[(host + 1) % hosts], before = roots[(host + hosts - 1) % hosts];
  const std::unique_ptr<std::byte[]> memory(
      sends ? new (std::nothrow) std::byte[2 * static_cast<size_t>(k_sizes.back())]() : nullptr);
  double lacks = sends && memory == nullptr ? 1 : 0;
  if (int rc = MPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_DOUBLE, MPI_MAX, comm.get()); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Allreduce");
  if (lacks > 0)
    return LinkProbe{};
  LinkProbe probe;
  Status status;
  // The minimum of several tries: ranks that share cores delay each other.
  const auto least_seconds = [&](int64_t size) {
    double seconds = sends ? 1e9 : 0;
    for (int i = 0; sends && i < k_repetitions; ++i) {
      const double begin = MPI_Wtime();
      status.update(mpi_status(
          MPI_Sendrecv(memory.get(), static_cast<int>(size), MPI_BYTE, next, k_tag_link, memory.get() + k_sizes.back(),
                       static_cast<int>(size), MPI_BYTE, before, k_tag_link, comm.get(), MPI_STATUS_IGNORE),
          "MPI_Sendrecv"));
      seconds = std::min(seconds, MPI_Wtime() - begin);
      probe.sent += size;
    }
    return seconds;
  };
  double latency = least_seconds(1);  // MPI connects at the first message
  if (Status verdict = wait_for_all(comm, latency); !verdict.ok())
    return verdict;
  int64_t left = most_bytes - k_repetitions;
  for (size_t i = first; i < k_sizes.size() && k_repetitions * k_sizes[i] <= left; ++i) {
    double seconds = least_seconds(k_sizes[i]);
    left -= k_repetitions * k_sizes[i];
    if (Status verdict = wait_for_all(comm, seconds); !verdict.ok())
      return verdict;
    probe.rough = i < k_telling;
    if (probe.rough)
      seconds = std::max(seconds - latency, k_least_share * seconds);
    probe.seconds_per_byte = seconds / static_cast<double>(k_sizes[i]);
    if (seconds > k_enough)
      break;
  }
  if (!status.ok())
    return status;
  return probe;
}

}  // namespace windrow
