// SPDX-License-Identifier: BSD-3-Clause
// Memory, network and compressors.
#include "calibration/measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "codec/codec.hpp"
#include "comm/agree.hpp"
#include "comm/backoff.hpp"
#include "comm/link.hpp"
#include "dataio/io_thread.hpp"

namespace windrow {
namespace {

constexpr double k_least_seconds = 1e-9;  // resolution of a clock

double rate_of(double bytes, double seconds) noexcept {
  return std::clamp(bytes / std::max(seconds, k_least_seconds), 1.0, 1e18);
}

// Minimum of several runs, because other activity only adds time.
template <class Work>
Result<double> best_of(const Comm& comm, int times, const Work& work, Clock clock = Clock::slowest) {
  double best = INFINITY;
  Status status;
  for (int i = 0; i < times && status.ok(); ++i) {
    auto seconds = timed_together(comm, work, clock);
    status = seconds.status();
    if (seconds.ok())
      best = std::min(best, seconds.value());
  }
  if (!status.ok())
    return status;
  return best;
}

// Round trips between two ranks.
void ping_pong(const Comm& comm, int first, int second, std::span<std::byte> memory, int times, Status& status) {
  const int other = comm.rank() == first ? second : first, length = static_cast<int>(memory.size());
  if (comm.rank() != first && comm.rank() != second)
    return;
  for (int i = 0; i < times; ++i)
    for (const int sender : {first, second})
      status.update(
          comm.rank() == sender
              ? mpi_status(MPI_Send(memory.data(), length, MPI_BYTE, other, k_tag_link, comm.get()), "MPI_Send")
              : mpi_status(MPI_Recv(memory.data(), length, MPI_BYTE, other, k_tag_link, comm.get(), MPI_STATUS_IGNORE),
                           "MPI_Recv"));
}

struct Link {
  double latency_s = 0, bytes_per_s = 0;
};

// Collective. The other ranks sleep.
Result<Link> measure_pair(const Comm& comm, int first, int second, std::span<std::byte> memory) {
  constexpr int k_short = 50, k_long = 4;
  Status status;
  const auto sends = [&](size_t bytes, int times) {
    return [&, bytes, times] { ping_pong(comm, first, second, memory.first(bytes), times, status); };
  };
  auto connected = timed_together(comm, sends(memory.size(), 1));  // MPI connects with the first message
  auto latency = best_of(comm, 3, sends(1, k_short));
  auto bandwidth = best_of(comm, 3, sends(memory.size(), k_long));
  for (const auto* each : {&connected, &latency, &bandwidth})
    status.update(each->status());
  if (!status.ok())
    return status;
  return Link{latency.value() / (2 * k_short),
              rate_of(2.0 * k_long * static_cast<double>(memory.size()), bandwidth.value())};
}

// Another rank on rank 0's host; -1: none.
int neighbour_of_root(const Comm& comm) {
  int local = comm.host_index() == 0 && comm.host_rank() == 1 ? comm.rank() : -1, found = -1;
  return MPI_Allreduce(&local, &found, 1, MPI_INT, MPI_MAX, comm.get()) == MPI_SUCCESS ? found : -1;
}

// Data like that of simulations: smooth, with incompressible low digits.
void fill_like_a_field(std::span<std::byte> bytes) noexcept {
  for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    const double value = std::floor(1e4 * std::sin(1e-3 * static_cast<double>(i / 8))) * 1e-4;
    std::memcpy(bytes.data() + i, &value, 8);
  }
}

Status measure_codec(const Compressor* compressor, std::span<const std::byte> raw, std::span<std::byte> frame,
                     std::span<std::byte> back, Machine& machine) {
  auto workspace = CodecWorkspace::make(static_cast<int64_t>(raw.size()), std::span(&compressor, 1));
  if (!workspace.ok())
    return workspace.status();
  double encode = INFINITY, decode = INFINITY;
  for (int i = 0; i < 3; ++i) {
    const double begin = seconds_now();
    const int64_t length = encode_frame(raw, {.compressor = compressor}, false, *workspace.value(), frame);
    encode = std::min(encode, seconds_now() - begin);
    if (length == 0)
      return {};  // incompressible: nothing to decode
    const double middle = seconds_now();
    if (Status status = decode_frame(frame.first(static_cast<size_t>(length)), back, *workspace.value()); !status.ok())
      return status;
    decode = std::min(decode, seconds_now() - middle);
  }
  const auto bytes = static_cast<double>(raw.size());
  machine.codecs.push_back({.name = std::string(compressor->name()),
                            .encode_bytes_per_s = rate_of(bytes, encode),
                            .decode_bytes_per_s = rate_of(bytes, decode)});
  return {};
}

}  // namespace

Status largest(const Comm& comm, double& number) {
  MPI_Request request = MPI_REQUEST_NULL;
  double most = 0;
  if (int rc = MPI_Iallreduce(&number, &most, 1, MPI_DOUBLE, MPI_MAX, comm.get(), &request); rc != MPI_SUCCESS)
    return mpi_status(rc, "MPI_Iallreduce");
  int done = 0;
  for (Backoff backoff; done == 0; backoff.wait())
    if (int rc = MPI_Test(&request, &done, MPI_STATUS_IGNORE); rc != MPI_SUCCESS)
      return mpi_status(rc, "MPI_Test");
  number = most;
  return {};
}

Status measure_memory(const Comm& comm, Machine& machine) {
  // A program's data is not in a cache, a window is: copies from a large part of a host's memory into a small buffer.
  constexpr size_t k_host_bytes = size_t{128} << 20, k_window = size_t{1} << 20, k_piece = 64;
  const size_t bytes =
      std::max(k_window, k_host_bytes / static_cast<size_t>(machine.ranks_per_host) / k_window * k_window);
  std::vector<std::byte> from, to;
  Status local = guard([&] { return from.resize(bytes, std::byte{1}), to.resize(k_window), Status{}; });
  if (Status verdict = agree(comm, std::move(local)); !verdict.ok())
    return verdict;
  const auto copy = [&] {
    for (size_t at = 0; at < bytes; at += k_window)
      std::memcpy(to.data(), from.data() + at, k_window);
  };
  // Like packing: gathers short scattered pieces.
  const auto copy_pieces = [&] {
    for (size_t i = 0; i < bytes / k_piece / 2; ++i)
      std::memcpy(to.data() + i * k_piece % k_window, from.data() + 2 * i * k_piece, k_piece);
  };
  auto one = best_of(comm, 3, [&] {
    if (comm.rank() == 0)
      copy();
  });
  auto all = best_of(comm, 3, copy, Clock::common);
  auto pieces = best_of(comm, 3, [&] {
    if (comm.rank() == 0)
      copy_pieces();
  });
  Status status = one.status();
  status.update(all.status());
  status.update(pieces.status());
  if (!status.ok())
    return status;
  machine.memory.copy_bytes_per_s = rate_of(static_cast<double>(bytes), one.value());
  machine.memory.host_copy_bytes_per_s =
      rate_of(static_cast<double>(bytes) * static_cast<double>(machine.ranks_per_host), all.value());
  const double pieces_bytes = static_cast<double>(bytes) / 2;
  machine.memory.piece_s = std::clamp(
      (pieces.value() - pieces_bytes / machine.memory.copy_bytes_per_s) / (pieces_bytes / k_piece), 1e-9, 1e-5);
  return {};
}

Status measure_network(const Comm& comm, Machine& machine) {
  constexpr size_t k_message = size_t{1} << 20;
  constexpr int k_few = 10, k_many = 200;
  std::vector<std::byte> memory;
  Status local = guard([&] { return memory.resize(k_message), Status{}; });
  if (Status verdict = agree(comm, std::move(local)); !verdict.ok())
    return verdict;
  // Like agreements. If cores are oversubscribed, each takes until all ranks had a turn.
  std::array<double, 16> numbers{}, sums{};
  const auto agreements = [&](int times) {
    return [&, times] {
      for (int i = 0; i < times; ++i)
        local.update(mpi_status(MPI_Allreduce(numbers.data(), sums.data(), 16, MPI_DOUBLE, MPI_MAX, comm.get()),
                                "MPI_Allreduce"));
    };
  };
  auto few = timed_together(comm, agreements(k_few));
  if (!few.ok())
    return few.status();
  const bool fast = few.value() < 0.05;  // the same on all ranks, because it is the maximum over all
  if (fast)
    few = timed_together(comm, agreements(k_many));
  if (!few.ok())
    return few.status();
  if (comm.size() > 1)
    machine.network.agree_s = std::clamp(few.value() / (fast ? k_many : k_few), 1e-7, 10.0);
  if (const int neighbour = neighbour_of_root(comm); neighbour >= 0) {
    auto link = measure_pair(comm, 0, neighbour, memory);
    if (!link.ok())
      return link.status();
    machine.network.within_host_latency_s = link.value().latency_s;
    machine.network.within_host_bytes_per_s = link.value().bytes_per_s;
  }
  if (comm.host_roots().size() > 1) {
    auto link = measure_pair(comm, 0, comm.host_roots()[1], memory);
    if (!link.ok())
      return link.status();
    machine.network.latency_s = link.value().latency_s;
    machine.network.bytes_per_s = machine.network.host_bytes_per_s = link.value().bytes_per_s;
    machine.network.message_s = std::min(link.value().latency_s, 1e-4);
    // All hosts at once, to include shared switches and cores.
    auto ring = measure_link(comm, k_unbounded_probe);
    if (!ring.ok())
      return ring.status();
    if (ring.value().seconds_per_byte > 0)
      machine.network.host_bytes_per_s = rate_of(1, ring.value().seconds_per_byte);
    machine.network.bytes_per_s = std::max(machine.network.bytes_per_s, machine.network.host_bytes_per_s);
  }
  return agree(comm, std::move(local));
}

Status measure_codecs(const Comm& comm, Machine& machine) {
  constexpr size_t k_message = size_t{1} << 20;
  Status local;
  auto waited = timed_together(comm, [&] {
    if (comm.rank() != 0)
      return;
    local = guard([&]() -> Status {
      std::vector<std::byte> raw(k_message), frame(k_message), back(k_message);
      fill_like_a_field(raw);
      Status status;
      for (const Compressor* compressor : compressors())
        status.update(measure_codec(compressor, raw, frame, back, machine));
      return status;
    });
  });
  local.update(waited.status());
  return agree(comm, std::move(local));
}

}  // namespace windrow
