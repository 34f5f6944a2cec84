// SPDX-License-Identifier: BSD-3-Clause
// Sender: packs this rank's pieces window by window and sends them to collectors.
//
//   buffer of a sender                                  waits for
//   free
//     | next message in the order (round, domain, message): packs, encodes and sends it
//   in flight                                           MPI; among many ranks, the receive of the Collector
//     | send completed
//   free
// A sender has finished when its last message was sent and all its buffers are free.
#pragma once

#include <vector>

#include "exchange/message.hpp"
#include "exchange/outbox.hpp"
#include "exchange/walker.hpp"

namespace windrow {

// The messages from this rank to one other, window by window of a grid that both know.
struct Channel {
  int rank = 0;
  Grid grid;
  int64_t step = 0;      // the next window with bytes, or grid.steps()
  Message message = {};  // the next message of that window
  Traffic traffic = {};
};

// The load of a role in a run, computed in advance.
struct Forecast {
  int64_t messages = 0;
  int64_t message_bytes = 0;
  int64_t largest_message = 0;
};

// Walks all channels once and resets them to their first message.
Forecast forecast(std::span<const Item> items, std::vector<Channel>& channels);

// The channel with the next window: the lowest round, then the order of the list; -1: all have ended.
int next_channel(const std::vector<Channel>& channels);
void rewind(std::span<const Item> items, std::vector<Channel>& channels);
void advance(std::span<const Item> items, Channel& channel);  // to the next window with bytes, from channel.step on
void next_message(std::span<const Item> items, Channel& channel);  // of this window, or of the next one

class Sender final : public Role {
 public:
  Sender(const TransferContext& context, std::span<const Item> items, std::vector<Channel> channels, int tag);
  Status prepare() override;
  int64_t buffer_bytes() const override { return outbox_.buffer_bytes(); }
  void begin(std::span<const Item> items, std::byte* buffers) override;
  bool step() override;
  bool finished() const override { return broken_ || (next_ < 0 && outbox_.idle()); }
  const Forecast& expected() const noexcept { return forecast_; }
  void visit_traffic(const std::function<void(const Traffic&)>& visit) const override;

 private:
  std::span<const Item> items_;
  std::vector<Channel> channels_;
  int next_ = -1;
  Forecast forecast_;
  Outbox outbox_;
};

}  // namespace windrow
