// SPDX-License-Identifier: BSD-3-Clause
// Copier: copies this rank's pieces between its memory and the shared slots of aggregators on its host. It replaces
// Sender and Receiver without messages.
//
//   channel of a copier                   waits for
//   waiting at its next window            token == token_of(generation, step)
//     | copies its pieces, adds their bytes to `count`
//   waiting at the next window, or
//   ended after the last window
// Channels are independent: a copier that waits for one aggregator still copies for the others.
#pragma once

#include <vector>

#include "exchange/role.hpp"
#include "exchange/sender.hpp"
#include "exchange/shared_slots.hpp"

namespace windrow {

struct SharedChannel {
  Channel channel;
  SharedSlots slots;
};

class Copier final : public Role {
 public:
  Copier(const Comm& comm, Trace& trace, std::span<const Item> items, std::vector<SharedChannel> channels,
         bool reading);
  Status prepare() override { return {}; }
  int64_t buffer_bytes() const override { return 0; }
  void begin(std::span<const Item> items, std::byte* buffers) override;
  bool step() override;
  bool finished() const override { return open_ == 0; }

 private:
  bool copy_next(SharedChannel& shared);

  std::span<const Item> items_;
  std::vector<SharedChannel> channels_;
  bool reading_;
  size_t open_ = 0;  // channels that have not ended
};

}  // namespace windrow
