// SPDX-License-Identifier: BSD-3-Clause
// Relay: the root of a team between its team and the aggregators of the domains. For writes, ForwardSink sends each
// window that its collector has merged in one message or a few long ones. For reads, ForwardFetcher receives such
// messages from an aggregator, and the root's distributor passes them to the team.
//
//   members (Sender, Copier) -> root: Collector -> ForwardSink -> aggregator: Collector -> storage
//   members (Receiver, Copier) <- root: Distributor <- ForwardFetcher <- aggregator: Distributor <- storage
//
//   ForwardSink                                ForwardFetcher                       waits for
//   idle                                       idle
//     | consume(): the slot is full              | start(): the slot is free
//   sending                                    awaiting                             a free buffer / messages
//     | last message packed                      | last message received
//   done: the slot may be reused               done: the slot may be distributed
// One window is in progress at a time.
#pragma once

#include <array>
#include <vector>

#include "exchange/message.hpp"
#include "exchange/outbox.hpp"
#include "exchange/view.hpp"
#include "exchange/walker.hpp"

namespace windrow {

// Common to both: the aggregators of the domains, and what the team holds.
struct RelayRoute {
  std::vector<int> ranks;  // [domains] of the aggregators
  View team;               // union of the team's pieces, absolute
  Grid grid;
  int element_bytes = 1;
  std::vector<Traffic> traffic;  // [domains] to the aggregators
};

class ForwardSink final : public Sink {
 public:
  ForwardSink(const TransferContext& context, RelayRoute& route)
      : trace_(context.trace), route_(route), outbox_(context, k_tag_data) {}
  void prepare(int64_t largest_message);
  int64_t buffer_bytes() const noexcept { return outbox_.buffer_bytes(); }
  void begin(std::byte* buffers) noexcept;
  void progress() override;
  bool ready() override { return message_.bytes == 0; }
  void consume(int64_t step, const Window& window, const std::byte* slot, PieceView covered) override;
  int64_t done() const override { return consumed_; }
  bool finished() override;
  Status status() const override { return status_; }

 private:
  Trace& trace_;
  RelayRoute& route_;
  Outbox outbox_;
  Status status_;
  int64_t consumed_ = 0;
  // The window in progress.
  int64_t step_ = 0;
  Window window_;
  const std::byte* slot_ = nullptr;
  Message message_;  // the next message; empty: all are packed
};

class ForwardFetcher final : public Fetcher {
 public:
  ForwardFetcher(const TransferContext& context, const RelayRoute& route)
      : comm_(context.comm), trace_(context.trace), coder_(context.coder), route_(route) {}
  void prepare(int64_t largest_message) {
    coder_.expect(largest_message);
    pool_.prepare(k_message_buffers, coder_.room(largest_message));
  }
  int64_t buffer_bytes() const noexcept { return pool_.buffer_bytes(); }
  void begin(std::byte* buffers) noexcept { pool_.begin(buffers), started_ = arrived_ = 0; }
  bool ready() override { return started_ == arrived_; }
  void start(int64_t step, const Window& window, std::byte* slot, PieceView covered) override;
  int64_t done() override;
  Status status() const override { return status_; }

 private:
  void await();

  const Comm& comm_;
  Trace& trace_;
  Coder& coder_;
  const RelayRoute& route_;
  MessagePool pool_;
  Status status_;
  int rank_ = 0;  // the aggregator that sends the window
  int64_t started_ = 0, arrived_ = 0;
  Window window_;
  std::byte* slot_ = nullptr;
  Message message_;  // the next message to receive; empty: all receives of the window are posted
  std::array<Message, k_message_buffers> awaited_{};  // by buffer
};

}  // namespace windrow
