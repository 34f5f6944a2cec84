// SPDX-License-Identifier: BSD-3-Clause
// Receiver: the counterpart of Distributor. It receives this rank's pieces window by window.
//
//   buffer of a receiver                                waits for
//   free
//     | next message in the order (round, domain, message): posts the receive
//   posted                                              that message of a Distributor
//     | message received: decodes and unpacks it
//   free
// No deadlock: all ranks receive in the order (round, domain, message), and all distributors send in the order (round,
// requester, message). In the total order (round, domain, requester, message), the lowest message that was not
// delivered is the next one on both sides, so limited buffers cannot block each other.
#pragma once

#include <vector>

#include "exchange/role.hpp"
#include "exchange/sender.hpp"

namespace windrow {

class Receiver final : public Role {
 public:
  Receiver(const TransferContext& context, std::span<const Item> items, std::vector<Channel> channels, int tag);
  Status prepare() override;
  int64_t buffer_bytes() const override { return pool_.buffer_bytes(); }
  void begin(std::span<const Item> items, std::byte* buffers) override;
  bool step() override;
  bool finished() const override { return broken_ || (next_ < 0 && pool_.idle()); }

 private:
  Coder& coder_;
  std::span<const Item> items_;
  std::vector<Channel> channels_;
  int tag_;
  int next_ = -1;
  MessagePool pool_;
  struct Awaited {
    Message message;
    int rank = 0;
    bool coded = false;
  };
  std::vector<Awaited> awaited_;  // [buffers]
};

}  // namespace windrow
