// SPDX-License-Identifier: BSD-3-Clause
// Copier: copies this rank's pieces between its memory and the shared slots of writers or readers on its host. The
// counterpart of Sender and Receiver without messages.
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
  size_t open_ = 0;  // channels that are not at their end
};

}  // namespace windrow
