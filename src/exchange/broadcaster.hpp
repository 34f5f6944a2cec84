// SPDX-License-Identifier: BSD-3-Clause
// Broadcaster: one rank reads what all ranks want, window by window, and MPI carries each window to all of them. The items are the same
// on every rank, so all know the windows without a word.
#pragma once

#include <vector>

#include "exchange/role.hpp"
#include "exchange/walker.hpp"

namespace windrow {

class Broadcaster final : public Role {
 public:
  Broadcaster(const Comm& comm, Trace& trace, std::span<const Item> items, int root, int64_t window_bytes);
  void set_fetcher(Fetcher* fetcher) noexcept { fetcher_ = fetcher; }
  Status prepare() override;
  int64_t buffer_bytes() const override { return k_windows * slot_bytes_; }
  void begin(std::span<const Item> items, std::byte* buffers) override;
  bool step() override;
  bool finished() const override { return broken_ || taken_step_ >= grid_.steps(); }
  const Grid& grid() const noexcept { return grid_; }
  PieceView covered() const noexcept { return covered_; }
  bool is_root() const noexcept { return comm_.rank() == root_; }

 private:
  static constexpr int64_t k_windows = 2;  // one travels while the next is read
  struct Slot {
    std::byte* memory = nullptr;
    MPI_Request request = MPI_REQUEST_NULL;
    int64_t step = -1;  // -1: free
  };
  Slot& slot_of(int64_t number) { return slots_[static_cast<size_t>(number % k_windows)]; }
  int64_t next(int64_t step) const;
  Extent used(int64_t step) const;  // of its window: from the first to the last covered byte
  bool fetch();
  bool send();
  bool take();

  std::span<const Item> items_;
  int root_;
  Grid grid_;
  Pieces covered_;
  Fetcher* fetcher_ = nullptr;
  int64_t slot_bytes_ = 0;
  std::vector<Slot> slots_;
  // Of the windows of a run, by number and by step: asked for (root only), sent, taken out.
  int64_t asked_ = 0, sent_ = 0, taken_ = 0;
  int64_t asked_step_ = 0, sent_step_ = 0, taken_step_ = 0;
};

}  // namespace windrow
