// SPDX-License-Identifier: BSD-3-Clause
#include "comm/host_tree.hpp"

#include <algorithm>
#include <array>

#include "comm/comm.hpp"
#include "comm/wait.hpp"

namespace windrow {
namespace {

// Few steps, as each of them waits for a rank that may have to wait for its core; not so many messages to one that it is busy with them: 800 hosts are four steps away.
constexpr int k_children = 8;

// Travels along: a message that MPI failed to give to its round must not be taken for one of the next.
constexpr size_t k_round = HostTree::k_kinds;

// In the place of the first number.
constexpr int64_t k_different = -1;
constexpr int64_t k_failed = -2;  // MPI's code follows

bool is_whole(std::span<const int64_t> numbers) noexcept { return numbers[0] >= 0; }

void mark_failed(std::span<int64_t> numbers, int code) noexcept {
  numbers[0] = k_failed;
  numbers[1] = code;
}

// What came from another host into what is here: its numbers, or that there are none.
bool take_mark(std::span<const int64_t> come, std::span<int64_t> numbers) noexcept {
  if (!is_whole(numbers)) return false;
  if (come[k_round] != numbers[k_round]) {
    mark_failed(numbers, MPI_SUCCESS);
    return false;
  }
  if (!is_whole(come)) {
    std::copy_n(come.begin(), 2, numbers.begin());
    return false;
  }
  if (std::equal(numbers.begin(), numbers.begin() + HostTree::k_kinds, come.begin())) return true;
  numbers[0] = k_different;
  return false;
}

}  // namespace

void HostTree::prepare(MPI_Comm comm, std::span<const int> roots, int host_index, int machine_size, HostRounds* rounds) noexcept {
  comm_ = comm;
  roots_ = roots;
  host_ = host_index;
  machine_size_ = machine_size;
  rounds_ = rounds;
}

int HostTree::send(std::span<const int64_t> numbers, int host, int tag) const noexcept {
  MPI_Request request = MPI_REQUEST_NULL;
  const size_t count = is_whole(numbers) ? numbers.size() : k_head;
  const int rc = MPI_Isend(numbers.data(), static_cast<int>(count), MPI_INT64_T, roots_[static_cast<size_t>(host)], tag, comm_, &request);
  return rc == MPI_SUCCESS ? wait_for(&request, machine_size_) : rc;
}

int HostTree::receive(std::span<int64_t> numbers, int host, int tag) const noexcept {
  MPI_Request request = MPI_REQUEST_NULL;
  const int rc = MPI_Irecv(numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, roots_[static_cast<size_t>(host)], tag, comm_, &request);
  return rc == MPI_SUCCESS ? wait_for(&request, machine_size_) : rc;
}

// Collective over the lowest ranks of the hosts. Whatever one of them meets, it takes every step: the others count on it.
void HostTree::reduce(std::span<int64_t> numbers, Combine combine, Between between) noexcept {
  std::array<int64_t, HostRounds::k_most> come;
  numbers[k_round] = ++round_;
  const int hosts = static_cast<int>(roots_.size());
  const int first = host_ * k_children + 1, end = std::min(first + k_children, hosts);
  for (int child = first; child < end; ++child) {
    if (const int rc = receive(come, child, k_tag_up); rc != MPI_SUCCESS)
      mark_failed(numbers, rc);
    else if (take_mark(come, numbers))
      combine(come.data(), numbers.data(), numbers.size());
  }
  if (host_ > 0) {
    const int parent = (host_ - 1) / k_children;
    int rc = send(numbers, parent, k_tag_up);
    if (rc == MPI_SUCCESS) rc = receive(come, parent, k_tag_down);
    if (rc != MPI_SUCCESS)
      mark_failed(numbers, rc);
    else if (take_mark(come, numbers))
      std::copy_n(come.begin(), numbers.size(), numbers.begin());
  } else if (is_whole(numbers) && between) {
    between(numbers);
  }
  for (int child = first; child < end; ++child)
    if (const int rc = send(numbers, child, k_tag_down); rc != MPI_SUCCESS) mark_failed(numbers, rc);
}

HostTree::Outcome HostTree::run(std::span<int64_t> numbers, int64_t kind, Combine combine, Between between, int& code) noexcept {
  const auto among_hosts = [&](std::span<int64_t> of_host) { reduce(of_host, combine, between); };
  if (rounds_ == nullptr) {
    among_hosts(numbers);
  } else if (!rounds_->run(numbers, kind, combine, comm_, among_hosts)) {
    // Other hosts wait for this one.
    numbers[0] = k_different;
    if (rounds_->rank() == 0) among_hosts(numbers);
    return Outcome::different_calls;
  }
  if (is_whole(numbers)) return Outcome::combined;
  code = numbers[0] == k_failed ? static_cast<int>(numbers[1]) : MPI_SUCCESS;
  return numbers[0] == k_failed ? Outcome::failed : Outcome::different_calls;
}

}  // namespace windrow
