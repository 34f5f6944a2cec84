// SPDX-License-Identifier: BSD-3-Clause
// Relay: a team's root between its team and the writers of the domains. What its collector has merged goes on in one message
// a window (ForwardSink); what a reader sends to the team arrives as one message and is distributed (ForwardFetcher).
#pragma once

#include <vector>

#include "exchange/role.hpp"
#include "exchange/view.hpp"
#include "exchange/walker.hpp"

namespace windrow {

// What both need: who serves each domain, and what the team holds.
struct RelayRoute {
  std::vector<int> ranks;  // [domains] of the writers or readers
  View team;               // union of the team's pieces, absolute
  Grid grid;
};

class ForwardSink final : public Sink {
 public:
  ForwardSink(const Comm& comm, Trace& trace, const RelayRoute& route) : comm_(comm), trace_(trace), route_(route) {}
  void prepare(int64_t largest_message) { pool_.prepare(k_message_buffers, largest_message); }
  int64_t buffer_bytes() const noexcept { return pool_.buffer_bytes(); }
  void begin(std::byte* buffers) noexcept { pool_.begin(buffers), consumed_ = 0; }
  bool ready() override;
  void consume(int64_t step, Extent window, const std::byte* slot, PieceView covered) override;
  int64_t done() const override { return consumed_; }
  bool finished() override;
  Status status() const override { return status_; }

 private:
  void poll();
  const Comm& comm_;
  Trace& trace_;
  const RelayRoute& route_;
  MessagePool pool_;
  Status status_;
  int64_t consumed_ = 0;
  int taken_ = MessagePool::k_none;
};

class ForwardFetcher final : public Fetcher {
 public:
  ForwardFetcher(const Comm& comm, Trace& trace, const RelayRoute& route) : comm_(comm), trace_(trace), route_(route) {}
  void prepare(int64_t largest_message) { pool_.prepare(1, largest_message); }
  int64_t buffer_bytes() const noexcept { return pool_.buffer_bytes(); }
  void begin(std::byte* buffers) noexcept { pool_.begin(buffers), started_ = arrived_ = 0; }
  bool ready() override { return started_ == arrived_; }
  void start(int64_t step, Extent window, std::byte* slot, PieceView covered) override;
  int64_t done() override;
  Status status() const override { return status_; }

 private:
  const Comm& comm_;
  Trace& trace_;
  const RelayRoute& route_;
  MessagePool pool_;
  Status status_;
  int64_t started_ = 0, arrived_ = 0;
  Extent window_;
  std::byte* slot_ = nullptr;
};

}  // namespace windrow
