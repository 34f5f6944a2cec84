// SPDX-License-Identifier: BSD-3-Clause
// Moves batches of variables between files and a bounded buffer per rank, and adds up the reports of the flushes.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <tuple>
#include <vector>
#include <windrow/windrow.hpp>

#include "copy/ranks.hpp"
#include "copy/slices.hpp"

namespace copying {

// The sum of the reports of many flushes. Peaks and numbers of ranks do not add up: the largest is kept.
class Totals {
 public:
  void add(const windrow::File& file);
  const nlohmann::json& json() const noexcept { return sum_; }
  double seconds() const;

 private:
  nlohmann::json sum_ = nlohmann::json::object();
};

// Memory that begins with a page: other places are slow to copy into from files whose variables do (sourceware.org bug
// 30994).
struct FreePages {
  void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, std::align_val_t{4096}); }
};
using Pages = std::unique_ptr<std::byte[], FreePages>;

// All members that move data are collective.
class Transfer {
 public:
  // Every rank allocates its buffer here, no larger than the data needs; throws on all ranks when one cannot. `parts`:
  // 2 where one batch is read while another is written; each has its part of the buffer.
  Transfer(const Ranks& ranks, const std::vector<Item>& items, int64_t buffer_bytes, int parts);
  ~Transfer();  // ends a write that is under way: it is out of the buffer
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  Slicer slicer() const { return {items_, ranks_.size, batch_bytes_}; }
  // Into the part of the buffer that no write is under way from.
  void read(windrow::File& file, const Batch& batch);
  // What was read last. `numbers[item]`: the variable in `file` that takes the item. Ended by end_write() before the
  // next.
  void begin_write(windrow::File& file, const Batch& batch, std::span<const int> numbers);
  void end_write();
  int64_t bytes(const Batch& batch) const;  // of all ranks together
  // [items] whose elements keep the byte order that they have in both files on their way.
  void keep_order(std::vector<bool> items) { keeps_order_ = std::move(items); }
  // [items] of the variables that take them, where their first dimensions may be longer.
  void write_into(std::vector<std::vector<int64_t>> shapes) { longer_ = std::move(shapes); }

 private:
  const windrow::Decomposition& decomposition(const Piece& piece, const std::vector<int64_t>& shape);
  bool keeps_order(const Piece& piece) const { return !keeps_order_.empty() && keeps_order_[piece.item]; }
  template <class Queue>
  void queue(const Batch& batch, bool writes, Queue&& queue_piece);

  const Ranks& ranks_;
  const std::vector<Item>& items_;
  int64_t batch_bytes_;  // of a rank
  std::vector<Pages> buffers_;
  size_t current_ = 0;                // the one that is read into
  windrow::File* written_ = nullptr;  // that a write is under way to
  std::vector<bool> keeps_order_;
  std::vector<std::vector<int64_t>> longer_;
  // Variables of one shape, and slices of one batch read and written, share a decomposition.
  using Key = std::tuple<std::vector<int64_t>, int64_t, int64_t>;
  std::map<Key, windrow::Decomposition> decompositions_;
};

}  // namespace copying
