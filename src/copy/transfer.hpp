// SPDX-License-Identifier: BSD-3-Clause
// Moves batches of variables between files and a bounded buffer per rank, and sums the reports of the flushes.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>
#include <windrow/windrow.hpp>

#include "copy/ranks.hpp"
#include "copy/slices.hpp"

namespace copying {

// The sum of the reports of many flushes. For peaks and numbers of ranks it is the maximum.
class Totals {
 public:
  void add(const windrow::File& file);
  const nlohmann::json& json() const noexcept { return sum_; }
  double seconds() const;

 private:
  nlohmann::json sum_ = nlohmann::json::object();
};

// Page-aligned memory: copying to other addresses from aligned variables of files is slow (sourceware.org bug 30994).
struct FreePages {
  void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, std::align_val_t{4096}); }
};
using Pages = std::unique_ptr<std::byte[], FreePages>;

// All members that move data are collective.
class Transfer {
 public:
  // Every rank allocates its buffer, no larger than needed; throws on all ranks if one cannot. `parts`: 2 if one batch
  // is read while another is written, each in its part of the buffer.
  Transfer(const Ranks& ranks, const std::vector<Item>& items, int64_t buffer_bytes, int parts);
  ~Transfer();  // ends a pending write, which uses the buffer
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  Slicer slicer() const { return {items_, ranks_.size, batch_bytes_}; }
  // Into the part of the buffer that no pending write uses.
  void read(windrow::File& file, const Batch& batch);
  // Writes the batch that was read last. `numbers[item]`: the variable in `file` of the item. Ended by end_write()
  // before the next one.
  void begin_write(windrow::File& file, const Batch& batch, std::span<const int> numbers);
  void end_write();
  int64_t bytes(const Batch& batch) const;  // the size of the batch on all ranks together
  // [items] whose elements are moved in the common byte order of both files.
  void keep_order(std::vector<bool> items) { keeps_order_ = std::move(items); }
  // [items] shapes of the target variables, if their first dimensions may be longer.
  void write_into(std::vector<std::vector<int64_t>> shapes) { longer_ = std::move(shapes); }

 private:
  const windrow::Decomposition& decomposition(const Piece& piece, const std::vector<int64_t>& shape);
  bool keeps_order(const Piece& piece) const { return !keeps_order_.empty() && keeps_order_[piece.item]; }
  template <class Queue>
  void queue(const Batch& batch, bool writes, Queue&& queue_piece);

  const Ranks& ranks_;
  const std::vector<Item>& items_;
  int64_t batch_bytes_;  // per rank
  std::vector<Pages> buffers_;
  size_t current_ = 0;                // the part that is read into
  windrow::File* written_ = nullptr;  // the file of a pending write
  std::vector<bool> keeps_order_;
  std::vector<std::vector<int64_t>> longer_;
  // Variables of one shape, and slices of one batch that is read and written, share a decomposition. The last number is
  // the item, if only boxes of it are moved.
  using Key = std::tuple<std::vector<int64_t>, int64_t, int64_t, std::optional<size_t>>;
  std::map<Key, windrow::Decomposition> decompositions_;
};

}  // namespace copying
