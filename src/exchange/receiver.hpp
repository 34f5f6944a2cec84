// SPDX-License-Identifier: BSD-3-Clause
// Receiver: the reading counterpart of Sender: gets this rank's pieces window by window from distributors.
// All ranks receive in the order (round, domain, message), all distributors send in the order (round, requester,
// message): in the total order (round, domain, requester, message) the least message that is not yet delivered is at
// the head on both sides, so bounded pools cannot block each other.
#pragma once

#include <vector>

#include "exchange/role.hpp"
#include "exchange/sender.hpp"

namespace windrow {

class Receiver final : public Role {
 public:
  Receiver(const Comm& comm, Trace& trace, Coder& coder, std::span<const Item> items, std::vector<Channel> channels,
           int tag);
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
