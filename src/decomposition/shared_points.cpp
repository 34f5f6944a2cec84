// SPDX-License-Identifier: BSD-3-Clause
#include "decomposition/shared_points.hpp"

#include <algorithm>

#include "extent/sweep.hpp"

namespace windrow {
namespace {

class Finder {
 public:
  Finder(SharedPoints& found, Extent view, int64_t points)
      : found_(found), view_(view), points_(points), end_(view.begin) {}

  void add(Extent range, std::span<const int> sharing) {
    if (range.begin > end_) {
      leave(k_no_holder);
      found_.holes += intersect({end_, range.begin}, found_.block).size();
      before_ = k_no_holder;
    }
    found_.held += range.size();
    if (sharing.size() == 1)
      add_alone(range, sharing.front());
    else
      add_shared(range, sharing);
    end_ = range.end;
  }

  void finish() {
    leave(end_ == view_.end && view_.end < points_ ? k_not_seen : k_no_holder);
    found_.holes += intersect({end_, view_.end}, found_.block).size();
    found_.runs.push_back({{end_, end_}, found_.holders.size()});
  }

 private:
  void add_alone(Extent range, int holder) {
    const bool follows_shared = in_sequence_;
    leave(holder);
    const int64_t count = intersect(range, found_.block).size();
    found_.alone[static_cast<size_t>(holder)] += count;
    const bool begins_here = range.begin >= found_.block.begin && range.begin < found_.block.end;
    if (begins_here && !follows_shared && before_ != holder)
      ++found_.alone_starts[static_cast<size_t>(holder)];
    before_ = holder;
  }

  void add_shared(Extent range, std::span<const int> sharing) {
    if (!in_sequence_)
      enter(range.begin, range.begin == view_.begin && view_.begin > 0 ? k_not_seen : before_);
    while (!range.empty()) {
      if (range.begin % k_grain == 0 && sequence_begin_ <= range.begin - k_grain) {
        close_segment(k_not_seen);
        open_segment(range.begin, k_not_seen);
      }
      const int64_t end = range.begin + std::min(range.size(), k_run_most - range.begin % k_run_most);
      if (!grows(range.begin, sharing)) {
        found_.runs.push_back({{range.begin, range.begin}, found_.holders.size()});
        found_.holders.insert(found_.holders.end(), sharing.begin(), sharing.end());
      }
      found_.runs.back().points.end = end;
      range.begin = end;
    }
    before_ = k_no_holder;
  }

  bool grows(int64_t begin, std::span<const int> sharing) const {
    if (found_.runs.size() == segment_.begin || begin % k_run_most == 0)
      return false;
    const SharedRun& last = found_.runs.back();
    return last.points.end == begin &&
           std::equal(sharing.begin(), sharing.end(),
                      found_.holders.begin() + static_cast<std::ptrdiff_t>(last.holders), found_.holders.end());
  }

  void enter(int64_t begin, int left) {
    in_sequence_ = true;
    sequence_begin_ = begin;
    open_segment(begin, left);
  }

  void leave(int right) {
    if (in_sequence_)
      close_segment(right);
    in_sequence_ = false;
  }

  void open_segment(int64_t begin, int left) {
    segment_begin_ = begin;
    segment_ = {found_.runs.size(), found_.runs.size(), left, k_no_holder};
  }

  void close_segment(int right) {
    segment_.end = found_.runs.size();
    segment_.right = right;
    if (segment_begin_ >= found_.block.begin && segment_begin_ < found_.block.end)
      found_.segments.push_back(segment_);
  }

  SharedPoints& found_;
  Extent view_;
  int64_t points_;
  int64_t end_;               // of the points added so far
  int before_ = k_no_holder;  // the only holder of the point before end_
  bool in_sequence_ = false;
  int64_t sequence_begin_ = 0, segment_begin_ = 0;
  Segment segment_;
};

}  // namespace

Directory directory_of_points(int64_t points, int ranks) noexcept {
  const auto most = static_cast<int>(std::clamp<int64_t>(points / k_block_least, 1, ranks));
  const int spacing = (ranks + most - 1) / most;
  return {points, (ranks + spacing - 1) / spacing, k_grain, k_margin, spacing};
}

std::vector<int> first_holders(const SharedPoints& shared) {
  std::vector<int> first(shared.runs.size());
  for (size_t run = 0; run + 1 < shared.runs.size(); ++run)
    first[run] = shared.holders_of(run).front();
  return first;
}

SharedPoints find_shared(std::span<const Holding> holdings, const DirectoryPart& part, int64_t points) {
  SharedPoints found;
  found.block = part.block;
  std::vector<PieceView> lists;
  for (const Holding& holding : holdings) {
    found.ranks.push_back(holding.rank);
    lists.emplace_back(holding.held);
  }
  found.alone.resize(found.ranks.size());
  found.alone_starts.resize(found.ranks.size());
  Finder finder(found, part.view, points);
  std::vector<int> sharing;
  for_each_held(lists, [&](Extent range, std::span<const size_t> holders) {
    sharing.assign(holders.begin(), holders.end());
    std::sort(sharing.begin(), sharing.end());
    finder.add(range, sharing);
  });
  finder.finish();
  return found;
}

}  // namespace windrow
