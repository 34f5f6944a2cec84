// SPDX-License-Identifier: BSD-3-Clause
// Distributor: the read role of an aggregator. It gets each window of a grid into a slot, from the storage or from the
// previous rank, and sends every requester its pieces, or lets ranks of its host copy them from shared memory.
// Requesters may want the same bytes.
//
//   slot of a distributor                               waits for
//   free (step < 0)
//     | Fetcher::start(), in the order of the grid
//   fetching                                            Fetcher::done()
//     | publishes the token if slots are shared
//   serving                                             a free message buffer for each message (Receiver)
//     | all messages packed
//   retiring                                            `count` of the ranks of the host (Copier)
//     | count complete, in the order of the grid
//   free
#pragma once

#include <vector>

#include "exchange/collector.hpp"
#include "exchange/outbox.hpp"

namespace windrow {

class Distributor final : public Role {
 public:
  Distributor(const TransferContext& context, ServedGrid served);
  void set_fetcher(Fetcher* fetcher) noexcept { fetcher_ = fetcher; }
  // Before prepare(). `most`: number of slots without shared memory. `least`: minimum bytes of a slot.
  void set_slots(int64_t most, SharedSlots shared, int64_t least) noexcept {
    most_slots_ = most, shared_ = shared, least_slot_ = least;
  }
  void set_regions(Pieces regions, bool whole) noexcept { covered_ = std::move(regions), whole_ = whole; }
  Status prepare() override;
  int64_t buffer_bytes() const override { return slot_memory_ + outbox_.buffer_bytes(); }
  void begin(std::span<const Item> items, std::byte* buffers) override;
  bool step() override;
  bool finished() const override;
  const ServeForecast& expected() const noexcept { return forecast_; }
  PieceView covered() const noexcept { return covered_; }
  const Grid& grid() const noexcept { return grid_; }
  void visit_traffic(const std::function<void(const Traffic&)>& visit) const override;

 private:
  struct Slot {
    std::byte* memory = nullptr;
    int64_t step = -1;  // -1: free
    Window window;
    int64_t shared_bytes = 0;  // bytes that ranks of this host copy out
  };
  bool ask();
  bool fetch();
  bool serve();
  bool retire();
  void publish(Slot& slot);
  Slot& slot_of(int64_t step) { return slots_[static_cast<size_t>(step) % slots_.size()]; }
  const Slot& slot_of(int64_t step) const { return slots_[static_cast<size_t>(step) % slots_.size()]; }
  int64_t next(int64_t step) const { return next_covered_step(grid_, covered_, step); }

  Grid grid_;
  std::vector<Peer> peers_;
  std::span<const Item> own_;
  bool has_own_;
  Fetcher* fetcher_ = nullptr;
  Pieces covered_;
  ServeForecast forecast_;
  int64_t slot_bytes_ = 0, least_slot_ = 0, slot_memory_ = 0;
  int64_t most_slots_ = 1;
  SharedSlots shared_;
  bool whole_ = false;
  std::vector<WindowBytes> shared_bytes_;
  std::vector<Slot> slots_;
  Outbox outbox_;
  int64_t arrived_ = 0;     // windows fetched in this run
  int64_t start_step_ = 0;  // the next window to request
  int64_t fetch_step_ = 0;  // the next window to arrive
  int64_t serve_step_ = 0;  // the window whose messages are being sent
  size_t next_peer_ = 0;
  Message next_message_;     // to the peer next_peer_; empty: not computed yet
  int64_t retire_step_ = 0;  // the oldest window that ranks may still copy
};

}  // namespace windrow
