// SPDX-License-Identifier: BSD-3-Clause
#include "queueing/orphaned_puts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "base/numbering.hpp"
#include "base/units.hpp"
#include "base/varint.hpp"
#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "comm/sparse.hpp"
#include "queueing/queued_request.hpp"

namespace windrow {
namespace {

constexpr int64_t k_no_rank = -std::numeric_limits<int64_t>::max();

bool is_by_same(const SharedDecomposition& decomposition) noexcept {
  return decomposition.local().kind == DecompositionKind::same;
}

// A number that identifies what is put. It is so small that a sum over many ranks and puts does not overflow.
int64_t number_of(const QueuedRequest& entry) noexcept {
  const std::array<int64_t, 3> put{entry.variable, entry.decomposition->identity(), entry.record};
  return static_cast<int64_t>(hash_of({{reinterpret_cast<const char*>(put.data()), sizeof put}}) >> 34U);
}

// A put of one rank, in a message to rank 0.
struct PutMessage {
  int variable = 0;
  int64_t record = 0, identity = 0, sharers = 0;
  bool is_by_same = false, loses = false;
};

constexpr size_t k_numbers = 5;

void append(const QueuedRequest& entry, bool loses, std::vector<std::byte>& bytes) {
  const SharedDecomposition& by = *entry.decomposition;
  for (const int64_t number : {int64_t{entry.variable}, entry.record + 1, by.identity(), by.sharers(),
                               int64_t{(is_by_same(by) ? 2 : 0) + (loses ? 1 : 0)}})
    append_varint(bytes, static_cast<uint64_t>(number));
}

Result<std::vector<PutMessage>> read(std::span<const std::byte> bytes) {
  std::vector<PutMessage> puts;
  for (size_t position = 0; position < bytes.size();) {
    std::array<int64_t, k_numbers> numbers{};
    for (int64_t& number : numbers) {
      const auto next = read_varint(bytes, position);
      if (!next)
        return Status{Code::internal, "internal error: malformed description of puts"};
      number = static_cast<int64_t>(*next);
    }
    puts.push_back({.variable = static_cast<int>(numbers[0]),
                    .record = numbers[1] - 1,
                    .identity = numbers[2],
                    .sharers = numbers[3],
                    .is_by_same = (numbers[4] & 2) != 0,
                    .loses = (numbers[4] & 1) != 0});
  }
  return puts;
}

// The puts of all ranks to the same elements.
struct Puts {
  int64_t sharers = 0, put = 0;
  bool is_by_same = false, by_root = false;
  int lowest_losing = -1;  // the lowest rank that loses elements to others
  bool lose() const noexcept { return lowest_losing >= 0 && (is_by_same ? !by_root : put < sharers); }
};

Status verdict_on(const std::vector<SparseMessage>& messages, std::span<const Variable> variables) {
  using Put = std::tuple<int, int64_t, int64_t>;
  std::map<std::pair<Put, int64_t>, Puts> all;  // the key includes how often the rank has put the same before
  for (const SparseMessage& message : messages) {
    auto sent = read(message.bytes);
    if (!sent.ok())
      return sent.status();
    std::map<Put, int64_t> before;
    for (const PutMessage& one : sent.value()) {
      const Put put{one.variable, one.record, one.identity};
      Puts& puts = all[{put, before[put]++}];
      puts.sharers = one.sharers;
      puts.is_by_same = one.is_by_same;
      puts.by_root = puts.by_root || message.peer == 0;
      ++puts.put;
      if (one.loses && (puts.lowest_losing < 0 || message.peer < puts.lowest_losing))
        puts.lowest_losing = message.peer;
    }
  }
  for (const auto& [key, puts] : all) {
    if (!puts.lose())
      continue;
    const auto& [variable, record, identity] = key.first;
    const std::string& path = variables[static_cast<size_t>(variable)].path;
    const std::string what =
        record < 0 ? fmt::format("\"{}\"", path) : fmt::format("record {} of \"{}\"", shown_index(record), path);
    const std::string why =
        puts.is_by_same ? "in a decomposition `same` rank 0 writes, but it does not put the variable"
                        : fmt::format("{} hold common elements of the variable, but only {} called windrow_put()",
                                      counted(puts.sharers, "rank"), puts.put);
    return {Code::bad_argument,
            fmt::format("put of {}: elements of rank {} would be lost, because another rank owns them: {}", what,
                        puts.lowest_losing, why),
            puts.lowest_losing};
  }
  return {};
}

}  // namespace

OrphanedPuts::OrphanedPuts(int rank, std::span<const QueuedRequest> queue) noexcept
    : maximum{k_no_rank, k_no_rank, k_no_rank} {
  int64_t same = 0;
  bool any = false;
  for (const QueuedRequest& entry : queue) {
    const SharedDecomposition& by = *entry.decomposition;
    if (!entry.put || by.sharers() == 0)
      continue;
    const int64_t number = number_of(entry);
    if (is_by_same(by)) {
      same += number;
      any = true;
    } else if (by.shares()) {
      sum += by.is_first_sharer() ? number - by.sharers() * number : number;
    }
  }
  if (any)
    maximum = {same, -same, rank == 0 ? same : k_no_rank};
}

// Nothing is lost in this case: with decompositions `same` all ranks that put anything put the same as rank 0, and
// replicas are put by all ranks that hold them or by none.
bool OrphanedPuts::is_doubtful() const noexcept {
  const bool any_same = maximum[0] != k_no_rank;
  return sum != 0 || (any_same && (maximum[0] != -maximum[1] || maximum[2] != maximum[0]));
}

Status OrphanedPuts::check(Comm& comm, Status local, std::span<const QueuedRequest> queue,
                           const std::vector<bool>& losing, std::span<const Variable> variables) {
  std::vector<SparseMessage> out, in;
  if (local.ok())
    local = guard([&] {
      SparseMessage message;
      for (size_t i = 0; i < queue.size(); ++i)
        if (const QueuedRequest& entry = queue[i];
            entry.put && entry.decomposition->sharers() > 0 && entry.decomposition->shares())
          append(entry, losing[i], message.bytes);
      if (!message.bytes.empty())
        out.push_back(std::move(message));
      return Status{};
    });
  MessageCounters counters;
  local = sparse_exchange(comm, std::move(local), out, in, counters);
  if (local.ok())
    local = guard([&] { return verdict_on(in, variables); });
  return agree(comm, std::move(local));
}

}  // namespace windrow
