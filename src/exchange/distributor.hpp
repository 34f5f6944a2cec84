// SPDX-License-Identifier: BSD-3-Clause
// Distributor: the reading counterpart of Collector: gets each window of a grid into a slot, from the storage or from the rank
// before, and sends every requester its pieces of it. Requesters may want the same bytes.
#pragma once

#include <vector>

#include "exchange/collector.hpp"

namespace windrow {

class Distributor final : public Role {
 public:
  Distributor(const Comm& comm, Trace& trace, Grid grid, std::vector<Peer> peers, std::span<const Item> own, int tag);
  void set_fetcher(Fetcher* fetcher) noexcept { fetcher_ = fetcher; }
  Status prepare() override;
  int64_t buffer_bytes() const override { return slot_bytes_ + pool_.buffer_bytes(); }
  void begin(std::span<const Item> items, std::byte* buffers) override;
  bool step() override;
  bool finished() const override { return broken_ || (state_ == State::done && pool_.idle()); }
  const ServeForecast& expected() const noexcept { return forecast_; }
  std::span<const Extent> covered() const noexcept { return covered_; }
  const Grid& grid() const noexcept { return grid_; }

 private:
  enum class State { fetching, serving, done };
  void open();
  bool serve();

  Grid grid_;
  std::vector<Peer> peers_;
  std::span<const Item> own_;
  int tag_;
  bool has_own_;
  Fetcher* fetcher_ = nullptr;
  std::vector<Extent> covered_;
  ServeForecast forecast_;
  int64_t slot_bytes_ = 0;
  std::byte* slot_ = nullptr;
  MessagePool pool_;
  State state_ = State::done;
  int64_t step_ = 0;
  Extent window_;
  size_t next_peer_ = 0;
};

}  // namespace windrow
