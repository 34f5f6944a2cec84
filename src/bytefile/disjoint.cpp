// SPDX-License-Identifier: BSD-3-Clause
#include "bytefile/disjoint.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "comm/agree.hpp"
#include "comm/sparse.hpp"
#include "decomposition/ownership.hpp"
#include "extent/algebra.hpp"
#include "extent/encode.hpp"

namespace windrow {
namespace {

constexpr Extent k_everything{0, INT64_MAX};

// Of the units of a bitmap: powers of two of bytes.
constexpr int k_most_shift = 6;

// The parts of a hull, one for each rank. Parts begin at multiples of all units from the begin of the hull on.
class HullParts {
 public:
  HullParts(Extent hull, int ranks) noexcept : hull_(hull), ranks_(ranks) {}

  Extent part(int rank) const noexcept {
    const Extent even = even_part(hull_.size(), ranks_, rank);
    return {hull_.begin + whole_units(even.begin), rank + 1 < ranks_ ? hull_.begin + whole_units(even.end) : hull_.end};
  }
  int64_t begin() const noexcept { return hull_.begin; }
  // The rank of the part with this byte of the hull.
  int rank_of(int64_t offset) const noexcept {
    int low = 0, high = ranks_ - 1;
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (part(middle).end <= offset)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

 private:
  static int64_t whole_units(int64_t bytes) noexcept { return bytes >> k_most_shift << k_most_shift; }

  Extent hull_;
  int ranks_;
};

// The bytes of a list in a part, as a bit for each unit. Many short pieces are written and compared much faster in this
// form than as a list.
class PartBits {
 public:
  PartBits(Extent part, int shift) : part_(part), shift_(shift), words_(static_cast<size_t>(words_of(part, shift))) {}
  static int64_t words_of(Extent part, int shift) noexcept { return ceil_divide(part.size(), int64_t{64} << shift); }

  void mark(const Pieces& held) noexcept {
    for_each_piece(held, part_, [&](const Piece& piece) {
      int64_t at = (piece.file - part_.begin) >> shift_;
      for (int64_t left = piece.length >> shift_; left > 0;) {
        const int64_t bit = at % 64, count = std::min(left, 64 - bit);
        words_[static_cast<size_t>(at / 64)] |= (~uint64_t{0} >> (64 - count)) << bit;
        at += count;
        left -= count;
      }
    });
  }
  void append_to(std::vector<std::byte>& out) const {
    const auto bytes = std::as_bytes(std::span(words_));
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  // Of as many bytes as the words have. Returns whether a bit was marked before.
  bool add(std::span<const std::byte> bytes) noexcept {
    uint64_t common = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i * sizeof word, sizeof word);
      common |= words_[i] & word;
      words_[i] |= word;
    }
    return common != 0;
  }
  Pieces pieces() const {
    PiecesBuilder builder;
    int64_t memory = 0;
    for (size_t i = 0; i < words_.size(); ++i)
      for (uint64_t word = words_[i]; word != 0;) {
        const int first = std::countr_zero(word), count = std::countr_one(word >> first);
        const int64_t length = int64_t{count} << shift_;
        builder.add(Piece{part_.begin + ((64 * static_cast<int64_t>(i) + first) << shift_), memory, length});
        memory += length;
        word &= ~((~uint64_t{0} >> (64 - count)) << first);
      }
    return builder.take();
  }

 private:
  Extent part_;
  int shift_;
  std::vector<uint64_t> words_;
};

// The largest unit that all pieces consist of, counted from `begin` on: its logarithm.
int shift_of(const Pieces& held, int64_t begin) noexcept {
  uint64_t bits = uint64_t{1} << k_most_shift;
  Nest nest;
  for (RecordReader reader{PieceView(held)}; reader.take(nest);) {
    bits |= static_cast<uint64_t>(nest.run.file - begin) | static_cast<uint64_t>(nest.run.length);
    if (nest.run.count > 1)
      bits |= static_cast<uint64_t>(nest.run.file_stride);
    for (int i = 0; i < nest.depth; ++i)
      bits |= static_cast<uint64_t>(nest.loops[Nest::at(i)].file_stride);
  }
  return std::countr_zero(bits);
}

// The first byte of a message about a part: a list follows, or the bits of units of 2^(form - 1) bytes.
constexpr std::byte k_list{0};

// What this rank holds in each part. In bits if they take at most about four times the bytes of a list, which has two
// bytes for each irregular piece or pair of equal ones.
std::vector<SparseMessage> descriptions(const Pieces& held, const HullParts& parts) {
  constexpr int64_t k_record_bytes = 8;
  std::vector<SparseMessage> messages;
  if (held.empty())
    return messages;
  const Extent own = hull(held);
  const Extent touched{parts.part(parts.rank_of(own.begin)).begin, parts.part(parts.rank_of(own.end - 1)).end};
  const int shift = shift_of(held, parts.begin());
  const bool in_bits = 8 * PartBits::words_of(touched, shift) < k_record_bytes * held.store()->records;
  for (int64_t offset = own.begin; offset < own.end;) {
    const int rank = parts.rank_of(offset);
    const Extent part = parts.part(rank);
    messages.push_back({rank, {in_bits ? std::byte(shift + 1) : k_list}});
    if (in_bits) {
      PartBits bits(part, shift);
      bits.mark(held);
      bits.append_to(messages.back().bytes);
    } else {
      encode(held, part, messages.back().bytes);
    }
    offset = part.end < own.end ? next_offset(held, part.end) : own.end;
  }
  return messages;
}

Result<Pieces> decoded(const SparseMessage& message) {
  size_t position = 0;
  return decode(message.bytes, position);
}

// Whether a message has the bits of a part, and not a list.
bool has_bits(const SparseMessage& message, Extent part) noexcept {
  const int shift = message.bytes.empty() ? -1 : static_cast<int>(message.bytes.front()) - 1;
  return shift >= 0 && shift <= k_most_shift &&
         static_cast<int64_t>(message.bytes.size()) == 1 + 8 * PartBits::words_of(part, shift);
}

Result<Pieces> decoded(const SparseMessage& message, Extent part) {
  if (has_bits(message, part)) {
    PartBits bits(part, static_cast<int>(message.bytes.front()) - 1);
    bits.add(std::span(message.bytes).subspan(1));
    return bits.pieces();
  }
  if (message.bytes.empty() || message.bytes.front() != k_list)
    return Status(Code::internal, "internal error: malformed message about listed bytes");
  size_t position = 1;
  return decode(message.bytes, position);
}

// Whether no byte is in two messages, as far as their bits tell: lists are not compared.
bool are_apart(std::span<const SparseMessage> messages, Extent part) {
  if (messages.size() < 2)
    return true;
  const std::byte form = messages.front().bytes.empty() ? k_list : messages.front().bytes.front();
  for (const SparseMessage& message : messages)
    if (!has_bits(message, part) || message.bytes.front() != form)
      return false;
  PartBits all(part, static_cast<int>(form) - 1);
  for (const SparseMessage& message : messages)
    if (all.add(std::span(message.bytes).subspan(1)))
      return false;
  return true;
}

// Sets `replies` to what the senders lose. `part`: that of this rank.
Status find_losses(std::vector<SparseMessage>& messages, Extent part, std::vector<SparseMessage>& replies) {
  if (are_apart(messages, part))
    return {};
  std::vector<Holding> holdings;
  for (SparseMessage& message : messages) {
    auto held = decoded(message, part);
    if (!held.ok())
      return held.status();
    holdings.push_back({.rank = message.peer, .held = std::move(held).value(), .owned = {}});
    std::vector<std::byte>().swap(message.bytes);
  }
  const auto lost = lost_pieces(holdings, OwnerPolicy::highest);
  if (!lost.ok())
    return lost.status();
  for (size_t i = 0; i < holdings.size(); ++i)
    if (!lost.value()[i].empty()) {
      replies.push_back({holdings[i].rank, {}});
      encode(lost.value()[i], k_everything, replies.back().bytes);
    }
  return {};
}

}  // namespace

Result<DisjointList> make_disjoint(Comm& comm, Status local, const Pieces& held, Extent hull, std::span<int64_t> bits) {
  std::vector<SparseMessage> out, in, replies;
  const HullParts parts(hull, comm.size());
  if (comm.size() > 1) {
    if (local.ok())
      local = guard([&] { return out = descriptions(held, parts), Status{}; });
    MessageCounters counters;
    local = sparse_exchange(comm, std::move(local), out, in, counters);
  }
  if (local.ok())
    local = guard([&] { return find_losses(in, parts.part(comm.rank()), replies); });
  std::array<int64_t, 1> overlaps{replies.empty() ? 0 : 1};
  if (Status verdict = agree(comm, std::move(local), {.maximum = overlaps, .sum = {}, .bits = bits}); !verdict.ok())
    return verdict;
  if (overlaps[0] == 0)
    return DisjointList{held};
  MessageCounters counters;
  local = sparse_exchange(comm, Status{}, replies, in, counters);
  DisjointList made{.written = {}, .is_changed = true};
  if (local.ok())
    local = guard([&]() -> Status {
      std::vector<Pieces> lost;
      for (const SparseMessage& message : in) {
        auto pieces = decoded(message);
        if (!pieces.ok())
          return pieces.status();
        lost.push_back(std::move(pieces).value());
      }
      made.written = with_runs(subtract(held, join(lost)));
      return {};
    });
  if (Status verdict = agree(comm, std::move(local)); !verdict.ok())
    return verdict;
  return made;
}

}  // namespace windrow
