// SPDX-License-Identifier: BSD-3-Clause
// The turns of aggregators: their requests, and the memory of their windows.
#include <algorithm>

#include "base/checked.hpp"
#include "sim/turns.hpp"

namespace windrow {
namespace {

constexpr int64_t k_page = 4096, k_control_bytes = 8192;  // of buffers, as in src/exchange

int64_t aligned(int64_t bytes) {
  return round_up(bytes, k_page);
}

}  // namespace

// Of the bytes of a rank in one window, or of a message if that is less.
void RankTurns::keep_message_buffers(int rank, int64_t largest) {
  add_memory(rank, 2 * aligned(std::min(largest, plan_.message_bytes)));
}

// The slots of a root, and what it moves itself if no rank has domains.
void RankTurns::serve_team(int rank) {
  team_held_ = places_.place(held_by_all(request_.workload, rank, team_end(rank)));
  if (team_held_.empty())
    return;
  team_first_ = cells_of_file().index_of(team_held_.hull().begin);
  if (plan_.has_domains()) {
    send_to_domains(rank, team_held_);
    add_slots(rank, 2, plan_.window_bytes, plan_.window_bytes, true);
    return;
  }
  const bool shares = request_.machine.ranks_per_host > 1;
  if (shares)
    add_memory(rank, k_control_bytes + plan_.slots * aligned(plan_.window_bytes));
  else
    add_slots_of_cells(rank, team_held_.hull(), team_end(rank) - rank > 1);
  begin_client(rank);
  const Pieces covered = team_held_.pieces();
  add_memory(rank, store(cells_of_file(), team_first_, covered).over_holes);
}

// A writer posts receives for each of its windows; a reader sends one or two messages at a time.
void RankTurns::add_slots(int rank, int64_t windows, int64_t largest_window, int64_t largest_remote, bool has_peers) {
  const int64_t most = has_peers ? plan_.slots_of_messages : plan_.slots;
  add_memory(rank, std::clamp<int64_t>(windows, 1, most) *
                       (aligned(largest_window) + (plan_.reading ? 0 : aligned(largest_remote))));
  if (plan_.reading)
    keep_message_buffers(rank, largest_remote);
}

// Windows begin at cells of the file.
void RankTurns::add_slots_of_cells(int rank, Extent hull, bool has_peers) {
  const Windows cells = cells_of_file();
  const int64_t first = cells.index_of(hull.begin), last = cells.index_of(hull.end - 1);
  const int64_t largest = first == last ? hull.end - cells.window(first).bytes.begin : plan_.window_bytes;
  add_slots(rank, last - first + 1, largest, has_peers ? largest : 0, has_peers);
}

void RankTurns::serve_domain(int rank) {
  const Windows& windows = windows_[next_domain_];
  begin_client(rank);
  const Stored stored = store(windows, 0, covered_);
  add_memory(rank, stored.over_holes);
  int64_t remote = remote_of_window_.empty() && plan_.ranks > request_.machine.ranks_per_host ? plan_.window_bytes : 0;
  for (size_t i = first_window_[next_domain_]; i < first_window_[next_domain_ + 1] && !remote_of_window_.empty(); ++i)
    remote = std::max(remote, remote_of_window_[i]);
  const int64_t largest = windows.slot_bytes();
  if (shares_memory() && request_.machine.ranks_per_host > 1) {
    const int64_t slots = std::clamp<int64_t>(windows.count(), 1, plan_.slots);
    add_memory(rank, k_control_bytes + slots * (std::max(k_page, aligned(largest)) + aligned(remote)));
  } else {
    add_slots(rank, stored.windows, stored.longest, remote, remote > 0);
  }
  ++next_domain_;
}

// Without domains and teams, through a buffer of its own.
void RankTurns::serve_alone(int rank, const PlacedBytes& held) {
  if (held.empty())
    return;
  begin_client(rank);
  const Pieces covered = held.pieces();
  const Windows cells = cells_of_file();
  add_memory(rank, store(cells, cells.index_of(held.hull().begin), covered).over_holes);
  add_slots_of_cells(rank, held.hull(), false);
}

void RankTurns::access_directly(const PlacedBytes& held) {
  for (const Share& share : held.shares())
    access_share(share);
}

// Very many equal pieces are only counted, and spread evenly over their targets.
void RankTurns::access_share(const Share& share) {
  constexpr int64_t k_one_by_one = 4096, k_longest_request = int64_t{1} << 30;
  for (NestCursor cursor(share.bytes); !cursor.done(); cursor.next()) {
    const Nest& nest = cursor.nest();
    if (nest.pieces() <= k_one_by_one) {
      for_each_run(nest, [&](const Run& run) {
        for_each_piece_of(run, [&](const Piece& piece) {
          for (int64_t done = 0; done < piece.length; done += k_longest_request) {
            const int64_t begin = share.base + piece.file + done;
            request(0, {.bytes = {begin, begin + std::min(k_longest_request, piece.length - done)}},
                    request_.library.list_pieces);
          }
        });
      });
      continue;
    }
    (plan_.reading ? counts_.read_requests : counts_.write_requests) += nest.pieces();
    storage_.request(0, nest.run.length, nest.pieces(), request_.library.list_pieces);
    int64_t reached = 0;
    const Extent hull{share.base + nest.run.file, share.base + nest.file_end()};
    places_.for_each_target(hull, [&](int64_t, int64_t) { ++reached; });
    const int64_t file = places_.file_of(hull.begin);
    places_.for_each_target(hull, [&](int64_t target, int64_t) {
      storage_.touch(0, file, target, nest.run.length, ceil_divide(nest.pieces(), reached));
    });
  }
}

void RankTurns::request(size_t phase, const Request& one, int64_t together) {
  // The holes are new: zeros.
  const bool knows_holes = plan_.has_domains() && plan_.direct_bytes == 0 && !request_.workload.plain_bytes;
  const bool over_holes = one.holes && !plan_.reading && !knows_holes;
  (plan_.reading ? counts_.read_requests : counts_.write_requests) += 1;
  const int64_t reads = over_holes ? reads_before(rule_, one) : 0, times = over_holes ? 2 : 1;
  counts_.read_requests += reads;
  storage_.request(phase, one.bytes.size(), 1, together);
  if (reads > 0)
    storage_.request(phase, ceil_divide(one.bytes.size(), reads), reads);
  const int64_t file = places_.file_of(one.bytes.begin);
  places_.for_each_target(one.bytes,
                          [&](int64_t target, int64_t bytes) { storage_.touch(phase, file, target, bytes, times); });
}

// The requests of all windows with covered bytes.
RankTurns::Stored RankTurns::store(const Windows& windows, int64_t first_index, PieceView covered) {
  const int64_t end = std::min(windows.domain.end, hull(covered).end), count = windows.count();
  Stored stored;
  for (int64_t offset = std::max(windows.domain.begin, hull(covered).begin); offset < end;) {
    offset = next_offset(covered, offset);
    if (offset >= end)
      return stored;
    const int64_t index = windows.index_of(offset);
    if (index >= count)
      return stored;
    const Window window = windows.window(index);
    window.for_each_part([&](Extent part, int64_t place) {
      for_each_request(rule_, part, covered, [&](const Request& one) {
        request(phase_of(index - first_index), one);
        if (one.holes && !plan_.reading)
          stored.over_holes = std::max(stored.over_holes, std::min(rule_.read_before_bytes, one.bytes.size()));
        stored.longest = std::max(stored.longest, place + one.bytes.end - part.begin);
      });
    });
    ++stored.windows;
    offset = std::max(offset + 1, window.bytes.end);
  }
  return stored;
}

// A rank that moves long pieces itself may also be an aggregator.
void RankTurns::begin_client(int rank) {
  if (latest_client_ == rank)
    return;
  latest_client_ = rank;
  const size_t rows = counts_.rows.size();
  const size_t row = std::min(rows - 1, static_cast<size_t>(counts_.clients * static_cast<int64_t>(rows) / clients()));
  ++counts_.clients;
  TargetRow& of = counts_.rows[row];
  if (of.first_rank < 0)
    of.first_rank = rank;
  of.last_rank = rank;
  storage_.begin_client(rank, row);
}

// Rank 0 reads; the others receive everything.
void RankTurns::broadcast() {
  begin_client(0);
  store(cells_of_file(), 0, covered_);
  storage_.end_client();
  for (int rank = 0; rank < plan_.ranks; ++rank) {
    add_memory(rank, 2 * aligned(std::min(plan_.window_bytes, counts_.bytes / plan_.ranks)));
    counts_.copied_bytes += counts_.bytes / plan_.ranks;
  }
}

}  // namespace windrow
