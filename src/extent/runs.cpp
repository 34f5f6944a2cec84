// SPDX-License-Identifier: BSD-3-Clause
// Builds and measures lists of runs. The set operations are in algebra.cpp, the encoding in encode.cpp.
#include "extent/runs.hpp"

#include <numeric>
#include <queue>
#include <utility>

namespace windrow {

namespace {

Piece piece_of(const Run& run, int64_t index) noexcept {
  return {run.file + index * run.file_stride, run.memory + index * run.memory_stride, run.length};
}

bool touches(const Piece& before, const Piece& after) noexcept {
  return before.file + before.length == after.file && before.memory + before.length == after.memory;
}

// Of overlapping pieces the one later in `pieces` wins: sweeps the sorted pieces, keeping those that cover the current
// position in a heap with the latest on top. Each step ends a piece or begins one: at most 2n pieces come out.
RunList resolve_overlaps(const std::vector<Piece>& pieces, const std::vector<size_t>& order) {
  RunBuilder builder;
  std::priority_queue<size_t> active;  // indices into `pieces`
  size_t next = 0;
  int64_t position = 0;
  while (next < order.size() || !active.empty()) {
    if (active.empty()) position = std::max(position, pieces[order[next]].file);
    for (; next < order.size() && pieces[order[next]].file <= position; ++next) active.push(order[next]);
    const Piece& top = pieces[active.top()];
    const int64_t top_end = top.file + top.length;
    if (top_end <= position) {
      active.pop();
      continue;
    }
    const int64_t end = next < order.size() ? std::min(top_end, pieces[order[next]].file) : top_end;
    builder.add(Piece{position, top.memory + (position - top.file), end - position});
    position = end;
  }
  return builder.take();
}

}  // namespace

void RunBuilder::add(Piece piece) {
  if (piece.length <= 0) return;
  if (pending_.length > 0 && touches(pending_, piece)) {
    pending_.length += piece.length;
    return;
  }
  commit_pending();
  pending_ = piece;
}

void RunBuilder::add(const Run& run) {
  if (run.length <= 0 || run.count <= 0) return;
  if (run.count > 1 && run.file_stride == run.length && run.memory_stride == run.length) {
    add(Piece{run.file, run.memory, run.length * run.count});
    return;
  }
  // The first piece may touch what came before, and the last what comes after: only those between are sure to stay.
  add(piece_of(run, 0));
  if (run.count == 1) return;
  if (run.count > 2) {
    commit_pending();
    const Piece second = piece_of(run, 1);
    const bool single = run.count == 3;
    append(Run{second.file, second.memory, run.length, single ? 0 : run.file_stride, single ? 0 : run.memory_stride,
               run.count - 2});
  }
  add(piece_of(run, run.count - 1));
}

RunList RunBuilder::take() {
  commit_pending();
  return std::exchange(runs_, {});
}

void RunBuilder::commit_pending() {
  if (pending_.length > 0) append(Run{pending_.file, pending_.memory, pending_.length, 0, 0, 1});
  pending_ = {};
}

// Continues the last run with `run`, or puts it behind. `run` does not touch the last piece, and one of several pieces
// comes right behind its own first piece (add() saw to both): where lengths agree, its distance from that is its stride.
void RunBuilder::append(const Run& run) {
  if (!runs_.empty() && runs_.back().length == run.length) {
    Run& back = runs_.back();
    const Piece last = piece_of(back, back.count - 1);
    const int64_t file_stride = run.file - last.file;
    const int64_t memory_stride = run.memory - last.memory;
    if (back.count == 1 || (back.file_stride == file_stride && back.memory_stride == memory_stride)) {
      back.file_stride = file_stride;
      back.memory_stride = memory_stride;
      back.count += run.count;
      return;
    }
  }
  runs_.push_back(run);
}

RunList runs_from_pieces(std::vector<Piece> pieces) {
  std::erase_if(pieces, [](const Piece& piece) { return piece.length <= 0; });
  std::vector<size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto before = [&](size_t a, size_t b) {
    return pieces[a].file != pieces[b].file ? pieces[a].file < pieces[b].file : a < b;
  };
  if (!std::is_sorted(order.begin(), order.end(), before)) std::sort(order.begin(), order.end(), before);
  return resolve_overlaps(pieces, order);
}

RunList runs_from_runs(const std::vector<Run>& runs) {
  std::vector<size_t> order(runs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t i) { return runs[i].length <= 0 || runs[i].count <= 0; });
  const auto before = [&](size_t a, size_t b) {
    return runs[a].file != runs[b].file ? runs[a].file < runs[b].file : a < b;
  };
  if (!std::is_sorted(order.begin(), order.end(), before)) std::sort(order.begin(), order.end(), before);

  RunBuilder builder;
  for (size_t begin = 0; begin < order.size();) {
    // [begin, end) is a cluster: runs whose hulls meet, directly or through others.
    int64_t cluster_end = runs[order[begin]].file_end();
    size_t end = begin + 1;
    for (; end < order.size() && runs[order[end]].file < cluster_end; ++end)
      cluster_end = std::max(cluster_end, runs[order[end]].file_end());
    if (end - begin == 1) {
      builder.add(runs[order[begin]]);
    } else {
      std::vector<size_t> cluster(order.begin() + static_cast<std::ptrdiff_t>(begin),
                                  order.begin() + static_cast<std::ptrdiff_t>(end));
      std::sort(cluster.begin(), cluster.end());  // in the order of the input: the later wins
      std::vector<Piece> pieces;
      for (const size_t i : cluster)
        for (int64_t k = 0; k < runs[i].count; ++k) pieces.push_back(piece_of(runs[i], k));
      for (const Run& run : runs_from_pieces(std::move(pieces))) builder.add(run);
    }
    begin = end;
  }
  return builder.take();
}

int64_t total_bytes(const RunList& list) noexcept {
  int64_t bytes = 0;
  for (const Run& run : list) bytes += run.bytes();
  return bytes;
}

int64_t extent_count(const RunList& list) noexcept {
  int64_t count = 0;
  for (const Run& run : list) count += run.count;
  return count;
}

Extent hull(const RunList& list) noexcept {
  return list.empty() ? Extent{} : Extent{list.front().file, list.back().file_end()};
}

int64_t memory_end(const RunList& list) noexcept {
  int64_t end = 0;
  for (const Run& run : list) {
    const int64_t last = run.memory_stride > 0 ? run.memory + (run.count - 1) * run.memory_stride : run.memory;
    end = std::max(end, last + run.length);
  }
  return end;
}

int64_t bytes_within(const RunList& list, Extent window) noexcept {
  if (window.empty()) return 0;
  int64_t bytes = 0;
  for (size_t at = first_run_behind(list, window.begin); at < list.size() && list[at].file < window.end; ++at) {
    const Run& run = list[at];
    if (run.file >= window.begin && run.file_end() <= window.end) {
      bytes += run.bytes();
      continue;
    }
    const PieceRange range = pieces_within(run, window);
    if (range.first == range.last) continue;
    const int64_t cut_front = std::max<int64_t>(0, window.begin - piece_of(run, range.first).file);
    const int64_t cut_back = std::max<int64_t>(0, piece_of(run, range.last - 1).file + run.length - window.end);
    bytes += (range.last - range.first) * run.length - cut_front - cut_back;
  }
  return bytes;
}

std::vector<Extent> contiguous_extents(const RunList& list) {
  std::vector<Extent> extents;
  const auto add = [&](Extent next) {
    if (!extents.empty() && extents.back().end == next.begin)
      extents.back().end = next.end;
    else
      extents.push_back(next);
  };
  for (const Run& run : list) {
    if (run.count == 1 || run.file_stride == run.length)
      add({run.file, run.file_end()});
    else
      for (int64_t i = 0; i < run.count; ++i)
        add({run.file + i * run.file_stride, run.file + i * run.file_stride + run.length});
  }
  return extents;
}

}  // namespace windrow
