// SPDX-License-Identifier: BSD-3-Clause
#include "decomposition/losses.hpp"

#include <limits>
#include <utility>

#include "base/varint.hpp"

namespace windrow {
namespace {

// A set of rules: bit i is OwnerPolicy i.
using Rules = unsigned char;
static_assert(k_owner_policies <= 8);
constexpr Rules rule(OwnerPolicy policy) noexcept {
  return static_cast<Rules>(1U << static_cast<unsigned>(policy));
}

// The encoded message for one holder. For each range of points that it loses by the same rules: the gap before it, its
// length and the rules.
class LossMessage {
 public:
  // In file order.
  void add(Extent points, Rules lost) {
    if (!bytes_)
      bytes_.emplace();
    if (points.begin == end_ && lost == lost_) {
      end_ = points.end;
      return;
    }
    write();
    begin_ = points.begin;
    end_ = points.end;
    lost_ = lost;
  }
  std::optional<std::vector<std::byte>> take() {
    write();
    return std::move(bytes_);
  }

 private:
  void write() {
    if (lost_ == 0)
      return;
    append_varint(*bytes_, static_cast<uint64_t>(begin_ - written_));
    append_varint(*bytes_, static_cast<uint64_t>(end_ - begin_));
    bytes_->push_back(static_cast<std::byte>(lost_));
    written_ = end_;
    lost_ = 0;
  }

  std::optional<std::vector<std::byte>> bytes_;
  int64_t begin_ = 0, end_ = 0, written_ = 0;
  Rules lost_ = 0;
};

class Writer {
 public:
  Writer(const SharedPoints& shared, Extent view, const Choices& choices)
      : shared_(shared), view_(view), choices_(choices), messages_(shared.ranks.size()) {
    if (choices.partition != nullptr)
      partition_.emplace(*choices.partition);
  }

  std::vector<std::optional<std::vector<std::byte>>> run() {
    size_t segment = 0;
    for (size_t run = 0; run + 1 < shared_.runs.size(); ++run) {
      while (segment < shared_.segments.size() && shared_.segments[segment].end <= run)
        ++segment;
      const bool decided = segment < shared_.segments.size() && shared_.segments[segment].begin <= run;
      const Extent points = shared_.runs[run].points;  // none crosses the ends of the block
      const bool inside = points.begin >= shared_.block.begin && points.end <= shared_.block.end;
      if (decided || inside)
        add_run(run, points, decided, inside);
    }
    std::vector<std::optional<std::vector<std::byte>>> all;
    for (LossMessage& message : messages_)
      all.push_back(message.take());
    return all;
  }

 private:
  void add_run(size_t run, Extent points, bool decided, bool inside) {
    const auto holders = shared_.holders_of(run);
    of_run_.assign(holders.size(), 0);
    const auto lose = [&](OwnerPolicy policy, int winner) {
      for (size_t i = 0; i < holders.size(); ++i)
        if (holders[i] != winner)
          of_run_[i] |= rule(policy);
    };
    if (decided)
      lose(OwnerPolicy::balanced, choices_.balanced[run]);
    if (decided && partition_)
      lose(OwnerPolicy::idg, choices_.idg[run]);
    if (!inside)
      return add(points, holders, of_run_);
    lose(OwnerPolicy::highest, holders.back());
    lose(OwnerPolicy::first, holders.front());
    for (int64_t point = points.begin; point < points.end; ++point)
      add_point(point, holders);
  }

  // Rules that decide each point separately.
  void add_point(int64_t point, std::span<const int> holders) {
    of_point_ = of_run_;
    const auto lose = [&](OwnerPolicy policy, int winner) {
      for (size_t i = 0; i < holders.size(); ++i)
        if (holders[i] != winner)
          of_point_[i] |= rule(policy);
    };
    lose(OwnerPolicy::random, holders[static_cast<size_t>(random_holder(point, static_cast<int>(holders.size())))]);
    if (partition_) {
      const int before = point > view_.begin ? partition_->owner_of(point - 1) : k_no_holder,
                owner = partition_->owner_of(point);
      const int after = point + 1 < view_.end ? partition_->owner_of(point + 1) : k_no_holder;
      lose(OwnerPolicy::partitioner, owner);
      list_partitions(owner, holders, list_);
      lose(OwnerPolicy::idg_figure, idg_owner_of_figure(list_, before, after));
    }
    add({point, point + 1}, holders, of_point_);
  }

  void add(Extent points, std::span<const int> holders, const std::vector<Rules>& lost) {
    for (size_t i = 0; i < holders.size(); ++i)
      messages_[static_cast<size_t>(holders[i])].add(points, lost[i]);
  }

  const SharedPoints& shared_;
  Extent view_;
  const Choices& choices_;
  std::vector<LossMessage> messages_;  // [holders]
  std::optional<PartitionReader> partition_;
  std::vector<Rules> of_run_, of_point_;  // for each holder of a run or point
  std::vector<int> list_;
};

}  // namespace

std::vector<std::optional<std::vector<std::byte>>> write_losses(const SharedPoints& shared, Extent view,
                                                                const Choices& choices) {
  return Writer(shared, view, choices).run();
}

Status read_losses(std::span<const std::byte> message, LossBuilders& lost) {
  constexpr auto k_largest = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  uint64_t end = 0;
  for (size_t position = 0; position < message.size();) {
    const auto gap = read_varint(message, position), length = gap ? read_varint(message, position) : std::nullopt;
    if (!length || position == message.size() || *gap > k_largest - end || *length > k_largest - end - *gap)
      return {Code::internal, "internal error: malformed list of points that another rank writes"};
    const auto rules = std::to_integer<Rules>(message[position++]);
    if (rules >= 1U << k_owner_policies)
      return {Code::internal, "internal error: unknown rule in a list of points that another rank writes"};
    const auto begin = static_cast<int64_t>(end + *gap);
    for (size_t policy = 0; policy < lost.size(); ++policy)
      if ((rules & rule(static_cast<OwnerPolicy>(policy))) != 0)
        lost[policy].add(Piece{begin, begin, static_cast<int64_t>(*length)});
    end += *gap + *length;
  }
  return {};
}

}  // namespace windrow
