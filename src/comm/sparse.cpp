// SPDX-License-Identifier: BSD-3-Clause
#include "comm/sparse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "base/units.hpp"
#include "base/varint.hpp"
#include "comm/agree.hpp"
#include "comm/arrivals.hpp"
#include "comm/backoff.hpp"
#include "comm/host_messages.hpp"

namespace windrow {
namespace {

constexpr int64_t k_part = int64_t{1} << 30;  // largest single message: MPI counts are 32-bit
// a notice has the length of a sparse message and, if it is short, the message itself
constexpr size_t k_head = sizeof(int64_t);
constexpr size_t k_short = 4096 - k_head;  // within the eager limit of MPI, and small enough for the stack

bool is_long(const SparseMessage& message) {
  return message.bytes.size() > k_short;
}

int64_t parts_of(int64_t size) {
  return std::max<int64_t>(1, (size + k_part - 1) / k_part);
}

template <class Post>
void for_each_part(int64_t size, Post&& post) {
  for (int64_t part = 0; part < parts_of(size); ++part)
    post(part * k_part, static_cast<int>(std::min(k_part, size - part * k_part)));
}

// What all ranks learn in the consensus.
struct Consensus {
  std::array<int64_t, 2> mine{};  // 1: this rank has an error; 1: it has a long message to send
  std::array<int64_t, 2> all{};
  bool any_error() const noexcept { return all[0] != 0; }
  bool any_long() const noexcept { return all[1] != 0; }
};

// The length of a sparse message, from its notice.
Result<int64_t> size_in(std::span<const std::byte> notice, int from) {
  int64_t size = -1;
  if (notice.size() >= k_head)
    std::memcpy(&size, notice.data(), sizeof size);
  const bool fits =
      size >= 0 && notice.size() == k_head + (size > static_cast<int64_t>(k_short) ? 0 : static_cast<size_t>(size));
  if (!fits)
    return Status{Code::internal,
                  fmt::format("internal error: malformed notice of {} from rank {} about a description of {}",
                              counted(notice.size(), "byte"), from, size)};
  return size;
}

// Receives the notices that have arrived, even if there is no memory to keep them.
int drain(Comm& comm, int tag, std::vector<SparseMessage>& in, Status& local) {
  for (;;) {
    int flag = 0;
    int64_t bytes = 0;
    MPI_Status status;
    int rc = MPI_Iprobe(MPI_ANY_SOURCE, tag, comm.get(), &flag, &status);
    if (rc != MPI_SUCCESS || flag == 0)
      return rc;
    alignas(int64_t) std::array<std::byte, k_head + k_short> notice;
    rc = receive_found(notice, status, comm.get(), bytes);
    if (rc != MPI_SUCCESS)
      return rc;
    local.update(guard([&] {
      if (bytes == k_too_long)
        return Status{
            Code::internal,
            fmt::format("internal error: a notice from rank {} about a description is too long", status.MPI_SOURCE)};
      const std::span<const std::byte> come = std::span(notice).first(static_cast<size_t>(bytes));
      const auto size = size_in(come, status.MPI_SOURCE);
      if (!size.ok())
        return size.status();
      SparseMessage message{.peer = status.MPI_SOURCE,
                            .bytes = std::vector<std::byte>(static_cast<size_t>(size.value()))};
      if (!is_long(message))
        std::copy(come.begin() + k_head, come.end(), message.bytes.begin());
      in.push_back(std::move(message));
      return Status{};
    }));
  }
}

// Sends and receives all notices. `notices` and `requests` were made for `out`, or are empty on a rank that sends
// nothing.
int exchange_notices(Comm& comm, std::span<const SparseMessage> out, std::span<const std::vector<std::byte>> notices,
                     std::span<MPI_Request> requests, std::vector<SparseMessage>& in, Status& local,
                     Consensus& consensus) {
  // Tags alternate: a rank that has left may begin the next exchange while others still poll in this one. It cannot be
  // two exchanges ahead, since each one ends in a consensus.
  const int tag = k_tag_notice + comm.next_parity();
  int rc = MPI_SUCCESS;
  for (size_t i = 0; i < requests.size() && rc == MPI_SUCCESS; ++i)
    rc = MPI_Issend(notices[i].data(), static_cast<int>(notices[i].size()), MPI_BYTE, out[i].peer, tag, comm.get(),
                    &requests[i]);
  MPI_Request waiting = MPI_REQUEST_NULL;
  Backoff backoff;
  for (int done = 0; done == 0 && rc == MPI_SUCCESS;) {
    const size_t before = in.size();
    rc = drain(comm, tag, in, local);
    if (rc != MPI_SUCCESS)
      break;
    if (in.size() > before)
      backoff.reset();
    if (waiting == MPI_REQUEST_NULL) {
      int sent = 0;
      rc = MPI_Testall(static_cast<int>(requests.size()), requests.data(), &sent, MPI_STATUSES_IGNORE);
      if (rc != MPI_SUCCESS || sent == 0) {
        backoff.wait();
        continue;
      }
      consensus.mine[0] = local.ok() ? 0 : 1;
      rc = MPI_Iallreduce(consensus.mine.data(), consensus.all.data(), 2, MPI_INT64_T, MPI_MAX, comm.get(), &waiting);
    } else {
      rc = MPI_Test(&waiting, &done, MPI_STATUS_IGNORE);
    }
    if (done == 0)
      backoff.wait();
  }
  return rc;
}

// The sparse messages that did not fit into their notices. Every part is received, whatever its length. It is probed
// first, since Open MPI 4.1 writes beyond a buffer that is too short.
class LongMessages {
 public:
  explicit LongMessages(Comm& comm) : comm_(comm) {}
  // Local: reserves the requests of all parts. `in` is sorted.
  Status prepare(std::span<const SparseMessage> out, std::span<const SparseMessage> in) {
    return guard([&] {
      size_t parts = 0;
      for (const std::span<const SparseMessage> messages : {in, out})
        for (const SparseMessage& message : messages)
          parts += is_long(message) ? static_cast<size_t>(parts_of(size_of(message))) : 0;
      requests_.reserve(parts);
      taken_.assign(in.size(), 0);
      for (const SparseMessage& message : in)
        awaited_ += is_long(message) ? parts_of(size_of(message)) : 0;
      return Status{};
    });
  }
  // Returns an MPI error. `local`: a part differs from the length in its notice.
  int exchange(std::span<const SparseMessage> out, std::span<SparseMessage> in, Status& local) {
    int rc = MPI_SUCCESS;
    for (const SparseMessage& message : out)
      if (is_long(message))
        for_each_part(size_of(message), [&](int64_t offset, int count) {
          if (rc == MPI_SUCCESS)
            rc = MPI_Isend(message.bytes.data() + offset, count, MPI_BYTE, message.peer, k_tag_description, comm_.get(),
                           &requests_.emplace_back());
        });
    Backoff backoff;
    for (int done = 0; rc == MPI_SUCCESS && (awaited_ > 0 || done == 0);) {
      int found = 0;
      MPI_Status about;
      if (awaited_ > 0)
        rc = MPI_Iprobe(MPI_ANY_SOURCE, k_tag_description, comm_.get(), &found, &about);
      if (rc == MPI_SUCCESS && found != 0)
        rc = take(about, in, local);
      if (rc == MPI_SUCCESS && awaited_ == 0)
        rc = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
      if (found != 0)
        backoff.reset();
      else if (done == 0)
        backoff.wait();
    }
    return rc;
  }

 private:
  static int64_t size_of(const SparseMessage& message) { return static_cast<int64_t>(message.bytes.size()); }
  int take(const MPI_Status& about, std::span<SparseMessage> in, Status& local) {
    const auto message = std::lower_bound(in.begin(), in.end(), about.MPI_SOURCE,
                                          [](const SparseMessage& each, int peer) { return each.peer < peer; });
    if (message == in.end() || message->peer != about.MPI_SOURCE || !is_long(*message) ||
        taken_[static_cast<size_t>(message - in.begin())] >= size_of(*message)) {
      local.update({Code::internal,
                    fmt::format("internal error: a description from rank {} came without a notice", about.MPI_SOURCE)});
      int64_t bytes = 0;
      return receive_found({}, about, comm_.get(), bytes);
    }
    int64_t& offset = taken_[static_cast<size_t>(message - in.begin())];
    const int64_t awaited = std::min(k_part, size_of(*message) - offset);
    std::byte* const place = message->bytes.data() + offset;
    offset += awaited;
    --awaited_;
    int count = 0;
    MPI_Get_count(&about, MPI_BYTE, &count);
    if (count == awaited)
      return MPI_Irecv(place, count, MPI_BYTE, about.MPI_SOURCE, k_tag_description, comm_.get(),
                       &requests_.emplace_back());
    local.update(
        {Code::internal, fmt::format("internal error: a description from rank {} has {} but its notice said {}",
                                     about.MPI_SOURCE, counted(count, "byte"), awaited)});
    int64_t bytes = 0;
    return receive_found({}, about, comm_.get(), bytes);
  }

  Comm& comm_;
  std::vector<MPI_Request> requests_;
  std::vector<int64_t> taken_;  // bytes received of each message
  int64_t awaited_ = 0;         // number of parts
};

std::vector<std::byte> notice_of(const SparseMessage& message) {
  const auto size = static_cast<int64_t>(message.bytes.size());
  std::vector<std::byte> notice(k_head + (is_long(message) ? 0 : message.bytes.size()));
  std::memcpy(notice.data(), &size, sizeof size);
  if (!is_long(message))
    std::copy(message.bytes.begin(), message.bytes.end(), notice.begin() + k_head);
  return notice;
}

void count(const Comm& comm, std::span<const SparseMessage> out, MessageCounters& counters) {
  for (const SparseMessage& message : out)
    if (message.peer != comm.rank())
      ++counters.messages, counters.bytes += static_cast<int64_t>(message.bytes.size());
}

void take_larger(const int64_t* from, int64_t* to, size_t count) noexcept {
  for (size_t i = 0; i < count; ++i)
    to[i] = std::max(to[i], from[i]);
}

}  // namespace

Status sparse_exchange(Comm& comm, Status local, std::span<const SparseMessage> out, std::vector<SparseMessage>& in,
                       MessageCounters& counters) {
  if (!comm.rounds().has_room())
    return sparse_exchange_by_messages(comm, std::move(local), out, in, counters);
  in.clear();
  if (Status lost = comm.check_in_step(); !lost.ok())
    return lost;
  const bool fits =
      store_messages(comm.rounds(), comm.rank(), comm.size(), local.ok() ? out : std::span<const SparseMessage>());
  std::array<int64_t, 2> any{local.ok() ? 0 : 1, fits ? 0 : 1};
  const auto& [any_error, any_without_room] = any;
  Mismatch mismatch;
  if (!comm.rounds().run({.numbers = any,
                          .step = {.call = comm.call_number(), .kind = 0},
                          .combine = take_larger,
                          .progress = comm.get()},
                         mismatch))
    return lose_step(comm, mismatch);
  if (any_error > 0)
    return agree(comm, std::move(local));
  if (any_without_room > 0)
    return sparse_exchange_by_messages(comm, {}, out, in, counters);
  count(comm, out, counters);
  return guard([&] {
    take_messages(comm.rounds(), comm.rank(), comm.size(), in);
    return Status{};
  });
}

Status sparse_exchange_by_messages(Comm& comm, Status local, std::span<const SparseMessage> out,
                                   std::vector<SparseMessage>& in, MessageCounters& counters) {
  in.clear();
  if (Status lost = comm.check_in_step(); !lost.ok())
    return lost;
  std::vector<std::vector<std::byte>> notices;
  std::vector<MPI_Request> requests;
  if (local.ok())
    local = guard([&] {
      notices.reserve(out.size());
      for (const SparseMessage& message : out)
        notices.push_back(notice_of(message));
      requests.resize(out.size(), MPI_REQUEST_NULL);
      return Status{};
    });
  if (!local.ok()) {
    out = {};
    requests.clear();
  }
  Consensus consensus;
  consensus.mine[1] = std::any_of(out.begin(), out.end(), is_long) ? 1 : 0;
  int rc = exchange_notices(comm, out, notices, requests, in, local, consensus);
  if (rc != MPI_SUCCESS)
    return mpi_status(rc, "sparse exchange");
  if (consensus.any_error()) {
    in.clear();
    return agree(comm, std::move(local));
  }
  count(comm, out, counters);
  std::sort(in.begin(), in.end(), [](const SparseMessage& a, const SparseMessage& b) { return a.peer < b.peer; });
  if (!consensus.any_long())
    return local;
  LongMessages messages(comm);
  if (local.ok())
    local = messages.prepare(out, in);
  if (Status verdict = agree(comm, std::move(local)); !verdict.ok()) {
    in.clear();
    return verdict;
  }
  local = {};
  rc = messages.exchange(out, in, local);
  return rc == MPI_SUCCESS ? local : mpi_status(rc, "exchange of descriptions");
}

namespace {

// A bundle is a sequence of sparse messages: the other rank, the length, the bytes.
void append_message(std::vector<std::byte>& bundle, int peer, std::span<const std::byte> bytes) {
  append_varint(bundle, static_cast<uint64_t>(peer));
  append_varint(bundle, bytes.size());
  bundle.insert(bundle.end(), bytes.begin(), bytes.end());
}

template <class Take>
Status open_bundle(std::span<const std::byte> bundle, int ranks, Take&& take) {
  for (size_t position = 0; position < bundle.size();) {
    const auto peer = read_varint(bundle, position);
    const auto size = peer ? read_varint(bundle, position) : std::nullopt;
    if (!size || *peer >= static_cast<uint64_t>(ranks) || *size > bundle.size() - position)
      return {Code::internal, "internal error: malformed bundle of descriptions from another rank"};
    take(static_cast<int>(*peer), bundle.subspan(position, *size));
    position += *size;
  }
  return {};
}

}  // namespace

Status sparse_exchange_by_host(Comm& comm, Status local, std::span<const SparseMessage> out,
                               std::vector<SparseMessage>& in, MessageCounters& counters) {
  in.clear();
  std::vector<SparseMessage> outgoing, incoming;
  if (local.ok())
    local = guard([&] {
      if (out.empty())
        return Status{};
      outgoing.push_back({.peer = comm.host_root(), .bytes = {}});
      for (const SparseMessage& message : out)
        append_message(outgoing.back().bytes, message.peer, message.bytes);
      return Status{};
    });
  local = sparse_exchange(comm, std::move(local), outgoing, incoming, counters);
  if (local.ok())
    local = guard([&]() -> Status {
      std::map<int, std::vector<std::byte>> bundles;  // by receiving rank
      for (const SparseMessage& from : incoming) {
        Status status = open_bundle(from.bytes, comm.size(), [&](int peer, std::span<const std::byte> bytes) {
          append_message(bundles[peer], from.peer, bytes);
        });
        if (!status.ok())
          return status;
      }
      outgoing.clear();
      for (auto& [peer, bytes] : bundles)
        outgoing.push_back({peer, std::move(bytes)});
      return {};
    });
  local = sparse_exchange(comm, std::move(local), outgoing, incoming, counters);
  if (local.ok())
    local = guard([&]() -> Status {
      for (const SparseMessage& from : incoming) {
        Status status = open_bundle(from.bytes, comm.size(), [&](int peer, std::span<const std::byte> bytes) {
          in.push_back({peer, std::vector<std::byte>(bytes.begin(), bytes.end())});
        });
        if (!status.ok())
          return status;
      }
      std::sort(in.begin(), in.end(), [](const SparseMessage& a, const SparseMessage& b) { return a.peer < b.peer; });
      return {};
    });
  return local;
}

Status gather_to_all(Comm& comm, Status local, std::vector<std::byte> mine, std::vector<std::byte>& all) {
  std::vector<SparseMessage> out, in;
  MessageCounters counters;
  if (local.ok())
    local = guard([&] {
      if (!mine.empty())
        out.push_back({0, std::move(mine)});
      return Status{};
    });
  local = sparse_exchange(comm, std::move(local), out, in, counters);
  if (local.ok() && comm.rank() == 0)
    local = guard([&] {
      for (const SparseMessage& message : in)
        all.insert(all.end(), message.bytes.begin(), message.bytes.end());
      return Status{};
    });
  return share_from_root(comm, std::move(local), all);
}

}  // namespace windrow
