// SPDX-License-Identifier: BSD-3-Clause
#include "extent/algebra.hpp"

#include <algorithm>
#include <queue>
#include <vector>

#include "extent/sweep.hpp"

namespace windrow {

namespace {

// Where pieces overlap, the one later in `pieces` wins. Sweeps the sorted pieces and keeps those that cover the current
// position in a heap, the latest on top. Each step begins or ends a piece, so at most 2n pieces come out.
void resolve_overlaps(const std::vector<Piece>& pieces, PiecesBuilder& builder) {
  std::vector<size_t> order(pieces.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return pieces[a].file != pieces[b].file ? pieces[a].file < pieces[b].file : a < b;
  });
  std::priority_queue<size_t> active;  // indices into `pieces`
  size_t next = 0;
  int64_t position = 0;
  while (next < order.size() || !active.empty()) {
    if (active.empty())
      position = std::max(position, pieces[order[next]].file);
    for (; next < order.size() && pieces[order[next]].file <= position; ++next)
      active.push(order[next]);
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
}

// Passes the parts of a list inside each window of a sequence to `add`, as nests. Windows come in file order.
class Clipper {
 public:
  explicit Clipper(PieceView list) noexcept : cursor_(list) {}

  template <class Add>
  void clip(Extent window, Add& add) {
    if (window.empty())
      return;
    for (cursor_.skip(window.begin); !cursor_.done() && cursor_.nest().run.file < window.end; cursor_.next()) {
      clip_nest(cursor_.nest(), window, add);
      if (cursor_.file_end() > window.end)
        return;  // the next window may overlap this nest too
    }
  }

 private:
  NestCursor cursor_;
};

// In file order; nests that begin together keep the order of the input.
std::vector<size_t> in_file_order(const std::vector<Extent>& hulls) {
  std::vector<size_t> order;
  for (size_t i = 0; i < hulls.size(); ++i)
    if (!hulls[i].empty())
      order.push_back(i);
  const auto before = [&](size_t a, size_t b) {
    return hulls[a].begin != hulls[b].begin ? hulls[a].begin < hulls[b].begin : a < b;
  };
  if (!std::is_sorted(order.begin(), order.end(), before))
    std::sort(order.begin(), order.end(), before);
  return order;
}

}  // namespace

Pieces pieces_from_nests(size_t count, const std::function<Nest(size_t)>& nest_of) {
  std::vector<Extent> hulls(count);
  for (size_t i = 0; i < count; ++i)
    if (const Nest nest = nest_of(i); nest.run.length > 0)
      hulls[i] = {nest.run.file, nest.file_end()};
  std::vector<size_t> order = in_file_order(hulls);
  PiecesBuilder builder;
  for (size_t begin = 0; begin < order.size();) {
    // [begin, end) is a cluster: nests whose hulls overlap, directly or transitively.
    int64_t cluster_end = hulls[order[begin]].end;
    size_t end = begin + 1;
    for (; end < order.size() && hulls[order[end]].begin < cluster_end; ++end)
      cluster_end = std::max(cluster_end, hulls[order[end]].end);
    if (end - begin == 1) {
      builder.add(nest_of(order[begin]));
    } else {
      const auto cluster = std::span(order).subspan(begin, end - begin);
      std::sort(cluster.begin(), cluster.end());  // input order: the later nest wins
      std::vector<Piece> pieces;
      for (const size_t i : cluster)
        for_each_run(nest_of(i), [&](const Run& run) {
          for_each_piece_of(run, [&](const Piece& piece) { pieces.push_back(piece); });
        });
      resolve_overlaps(pieces, builder);
    }
    begin = end;
  }
  return builder.take();
}

Pieces subtract(const Pieces& a, PieceView b) {
  if (a.empty() || b.empty())
    return a;
  PiecesBuilder builder;
  const auto keep = [&](const Nest& nest) { builder.add(nest); };
  Clipper clipper{a};
  const Extent all = hull(a);
  int64_t position = all.begin;
  for_each_piece(b, all, [&](const Piece& piece) {
    clipper.clip({position, piece.file}, keep);
    position = piece.file + piece.length;
  });
  clipper.clip({position, all.end}, keep);
  return builder.take();
}

Pieces coverage(std::span<const PieceView> lists) {
  std::vector<PlacedView> placed;
  for (const PieceView& list : lists)
    placed.push_back({list});
  PiecesBuilder builder;
  int64_t bytes = 0;
  for_each_covered_extent(std::move(placed), [&](Extent extent) {
    builder.add(Piece{extent.begin, bytes, extent.size()});
    bytes += extent.size();
  });
  return builder.take();
}

}  // namespace windrow
