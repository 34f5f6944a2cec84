// SPDX-License-Identifier: BSD-3-Clause
#include "comm/sparse.hpp"

#include <sched.h>

#include <algorithm>

#include "comm/agree.hpp"

namespace windrow {
namespace {

constexpr int64_t k_part = int64_t{1} << 30;  // largest single message: MPI counts are 32-bit

// Receives the notices that have arrived. A notice that there is no memory for is received all the same.
int drain(Comm& comm, int tag, std::vector<Notice>& in, Status& local) {
  for (;;) {
    int flag = 0;
    MPI_Status status;
    int rc = MPI_Iprobe(MPI_ANY_SOURCE, tag, comm.get(), &flag, &status);
    if (rc != MPI_SUCCESS || flag == 0) return rc;
    Notice notice{.peer = status.MPI_SOURCE};
    rc = MPI_Recv(&notice.value, 1, MPI_INT64_T, notice.peer, tag, comm.get(), MPI_STATUS_IGNORE);
    if (rc != MPI_SUCCESS) return rc;
    local.update(guard([&] { in.push_back(notice); return Status{}; }));
  }
}

int64_t parts_of(int64_t size) { return std::max<int64_t>(1, (size + k_part - 1) / k_part); }

template <class Post>
void for_each_part(int64_t size, Post&& post) {
  for (int64_t part = 0; part < parts_of(size); ++part)
    post(part * k_part, static_cast<int>(std::min(k_part, size - part * k_part)));
}

}  // namespace

Status exchange_notices(Comm& comm, std::span<const Notice> out, std::vector<Notice>& in) {
  // Two tags in turn: a rank that has left may begin the next exchange while others still poll in this one; it cannot be
  // two ahead, since each exchange ends in a barrier.
  const int tag = k_tag_notice + comm.next_parity();
  std::vector<MPI_Request> requests;
  Status local = guard([&] { requests.resize(out.size()); return Status{}; });
  in.clear();
  int rc = MPI_SUCCESS;
  if (local.ok())
    for (size_t i = 0; i < out.size() && rc == MPI_SUCCESS; ++i)
      rc = MPI_Issend(&out[i].value, 1, MPI_INT64_T, out[i].peer, tag, comm.get(), &requests[i]);
  MPI_Request barrier = MPI_REQUEST_NULL;
  int done = 0;
  while (done == 0 && rc == MPI_SUCCESS) {
    rc = drain(comm, tag, in, local);
    if (rc != MPI_SUCCESS) break;
    if (barrier == MPI_REQUEST_NULL) {
      int sent = 0;
      rc = MPI_Testall(static_cast<int>(requests.size()), requests.data(), &sent, MPI_STATUSES_IGNORE);
      if (rc == MPI_SUCCESS && sent != 0) rc = MPI_Ibarrier(comm.get(), &barrier);
    } else {
      rc = MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
    }
    if (done == 0) sched_yield();
  }
  if (rc != MPI_SUCCESS) return mpi_status(rc, "sparse exchange");
  std::sort(in.begin(), in.end(), [](const Notice& a, const Notice& b) { return a.peer < b.peer; });
  return local;
}

Status exchange_letters(Comm& comm, Status local, std::span<const Letter> out, std::vector<Letter>& in, LetterCounters& counters) {
  std::vector<Notice> sizes, incoming;
  in.clear();
  if (!local.ok()) out = {};
  local.update(guard([&] {
    for (const Letter& letter : out) sizes.push_back({letter.peer, static_cast<int64_t>(letter.bytes.size())});
    return Status{};
  }));
  if (!local.ok()) sizes.clear();
  local.update(exchange_notices(comm, sizes, incoming));
  std::vector<MPI_Request> requests;
  if (local.ok()) {
    local = guard([&] {
      int64_t messages = 0;
      in.resize(incoming.size());
      for (size_t i = 0; i < incoming.size(); ++i) {
        in[i].peer = incoming[i].peer;
        in[i].bytes.resize(static_cast<size_t>(incoming[i].value));
        messages += parts_of(incoming[i].value);
      }
      for (const Letter& letter : out) messages += parts_of(static_cast<int64_t>(letter.bytes.size()));
      requests.reserve(static_cast<size_t>(messages));
      return Status{};
    });
  }
  if (Status verdict = agree(comm, std::move(local)); !verdict.ok()) {
    in.clear();
    return verdict;
  }
  int rc = MPI_SUCCESS;
  for (Letter& letter : in)
    for_each_part(static_cast<int64_t>(letter.bytes.size()), [&](int64_t offset, int count) {
      if (rc != MPI_SUCCESS) return;
      rc = MPI_Irecv(letter.bytes.data() + offset, count, MPI_BYTE, letter.peer, k_tag_description, comm.get(),
                     &requests.emplace_back());
    });
  for (const Letter& letter : out)
    for_each_part(static_cast<int64_t>(letter.bytes.size()), [&](int64_t offset, int count) {
      if (rc != MPI_SUCCESS) return;
      rc = MPI_Isend(letter.bytes.data() + offset, count, MPI_BYTE, letter.peer, k_tag_description, comm.get(),
                     &requests.emplace_back());
      if (letter.peer != comm.rank()) ++counters.messages, counters.bytes += count;
    });
  if (rc == MPI_SUCCESS) rc = MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return mpi_status(rc, "exchange of descriptions");
}

}  // namespace windrow
