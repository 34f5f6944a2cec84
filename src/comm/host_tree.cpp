// SPDX-License-Identifier: BSD-3-Clause
#include "comm/host_tree.hpp"

#include <algorithm>
#include <array>

#include "comm/comm.hpp"
#include "comm/wait.hpp"

namespace windrow {
namespace {

// Few levels, since each level waits for a rank that may have to wait for its core. Few messages for each rank: 800
// hosts need four levels.
constexpr int k_children = 8;

// The round is sent along: after an MPI error, a late message must not be taken for one of the next round.
constexpr size_t k_round = HostTree::k_kinds;

// stored in place of the first number
constexpr int64_t k_different = -1;
constexpr int64_t k_failed = -2;  // followed by the MPI error code

bool is_whole(std::span<const int64_t> numbers) noexcept {
  return numbers[0] >= 0;
}

void mark_failed(std::span<int64_t> numbers, int code) noexcept {
  numbers[0] = k_failed;
  numbers[1] = code;
}

void mark_different(std::span<int64_t> numbers, const Mismatch& found) noexcept {
  numbers[0] = k_different;
  found.store(numbers.data() + HostTree::k_head);
}

// The calls of ranks that were combined on one host.
Mismatch mismatch_of(std::span<const int64_t> numbers, int rank) noexcept {
  return is_whole(numbers) ? Mismatch::of(rank, numbers[HostTree::k_kinds - 1])
                           : Mismatch::read(numbers.data() + HostTree::k_head);
}

}  // namespace

void HostTree::prepare(MPI_Comm comm, std::span<const int> roots, int host_index, int machine_size, HostRounds* rounds,
                       std::span<const int> host_ranks) noexcept {
  prepare(comm, static_cast<int>(roots.size()), host_index, machine_size);
  roots_ = roots;
  rounds_ = rounds;
  host_ranks_ = host_ranks;
}

void HostTree::prepare(MPI_Comm comm, int size, int rank, int machine_size) noexcept {
  comm_ = comm;
  hosts_ = size;
  host_ = rank;
  machine_size_ = machine_size;
}

// Merges a marker from another host into `numbers`: a mismatch or an MPI error instead of numbers. `host`: the other
// host.
bool HostTree::take_mark(std::span<const int64_t> come, std::span<int64_t> numbers, int host) const noexcept {
  if (numbers[0] == k_failed)
    return false;
  if (come[k_round] != numbers[k_round]) {
    mark_failed(numbers, MPI_SUCCESS);
    return false;
  }
  if (come[0] == k_failed) {
    std::copy_n(come.begin(), 2, numbers.begin());
    return false;
  }
  if (is_whole(numbers) && std::equal(numbers.begin(), numbers.begin() + k_kinds, come.begin()))
    return true;
  Mismatch found = mismatch_of(numbers, root_of(host_));
  found.combine(mismatch_of(come, root_of(host)));
  mark_different(numbers, found);
  return false;
}

int HostTree::send(std::span<const int64_t> numbers, int host, int tag) const noexcept {
  MPI_Request request = MPI_REQUEST_NULL;
  const size_t count = is_whole(numbers) ? numbers.size() : k_least;
  const int rc = MPI_Isend(numbers.data(), static_cast<int>(count), MPI_INT64_T, root_of(host), tag, comm_, &request);
  return rc == MPI_SUCCESS ? wait_for(&request, machine_size_) : rc;
}

int HostTree::receive(std::span<int64_t> numbers, int host, int tag) const noexcept {
  MPI_Request request = MPI_REQUEST_NULL;
  const int rc =
      MPI_Irecv(numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, root_of(host), tag, comm_, &request);
  return rc == MPI_SUCCESS ? wait_for(&request, machine_size_) : rc;
}

// Collective over the lowest ranks of the hosts. After any error a rank still takes every step, since the others wait
// for it.
void HostTree::reduce(std::span<int64_t> numbers, Combine combine, Between between) noexcept {
  std::array<int64_t, HostRounds::k_most> come;
  numbers[k_round] = ++round_;
  const int first = host_ * k_children + 1, end = std::min(first + k_children, hosts_);
  for (int child = first; child < end; ++child) {
    if (const int rc = receive(come, child, k_tag_up); rc != MPI_SUCCESS)
      mark_failed(numbers, rc);
    else if (take_mark(come, numbers, child))
      combine(come.data(), numbers.data(), numbers.size());
  }
  if (host_ > 0) {
    const int parent = (host_ - 1) / k_children;
    int rc = send(numbers, parent, k_tag_up);
    if (rc == MPI_SUCCESS)
      rc = receive(come, parent, k_tag_down);
    if (rc != MPI_SUCCESS)
      mark_failed(numbers, rc);
    else if (take_mark(come, numbers, parent))
      std::copy_n(come.begin(), numbers.size(), numbers.begin());
  } else if (is_whole(numbers) && between) {
    between(numbers);
  }
  for (int child = first; child < end; ++child)
    if (const int rc = send(numbers, child, k_tag_down); rc != MPI_SUCCESS)
      mark_failed(numbers, rc);
}

HostTree::Outcome HostTree::run(const HostRounds::Round& round, int& code, Mismatch& mismatch) noexcept {
  const auto among_hosts = [&](std::span<int64_t> combined) { reduce(combined, round.combine, round.between); };
  HostRounds::Round of_host = round;
  of_host.between = among_hosts;
  std::span<int64_t>& numbers = of_host.numbers;
  if (rounds_ == nullptr) {
    among_hosts(numbers);
  } else if (!rounds_->run(of_host, mismatch)) {
    // The other hosts wait for this one, and its ranks must get the same result as theirs.
    mismatch.rank = host_ranks_[static_cast<size_t>(mismatch.rank)];
    mismatch.other_rank = host_ranks_[static_cast<size_t>(mismatch.other_rank)];
    numbers = numbers.first(k_least);
    mark_different(numbers, mismatch);
    const auto keep = [](const int64_t*, int64_t*, size_t) noexcept {};  // the numbers are equal on all ranks
    of_host.step = {};
    of_host.combine = keep;
    (void)rounds_->run(of_host, mismatch);
  }
  if (is_whole(numbers))
    return Outcome::combined;
  if (numbers[0] == k_different)
    mismatch = Mismatch::read(numbers.data() + k_head);
  code = numbers[0] == k_failed ? static_cast<int>(numbers[1]) : MPI_SUCCESS;
  return numbers[0] == k_failed ? Outcome::failed : Outcome::different_calls;
}

}  // namespace windrow
