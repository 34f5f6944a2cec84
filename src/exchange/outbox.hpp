// SPDX-License-Identifier: BSD-3-Clause
// Outbox: the sending side of a rank. It packs messages in its buffers, compresses them while earlier messages are in
// flight, sends and counts them, and times them if the choice of a codec is open.
#pragma once

#include <array>

#include "exchange/role.hpp"

namespace windrow {

class Outbox {
 public:
  using Parcel = MessagePool::Parcel;

  Outbox(const TransferContext& context, int tag)
      : comm_(context.comm), trace_(context.trace), coder_(context.coder), tag_(tag) {}

  void add(Traffic& traffic, int rank, int element_bytes);  // in advance: a receiver
  void prepare(int64_t largest);                            // after all receivers: the longest message
  int64_t buffer_bytes() const noexcept { return pool_.buffer_bytes(); }
  void begin(std::byte* buffers) noexcept { pool_.begin(buffers); }

  // Frees the buffers of completed messages. Returns MPI's code; `moved`: there were some.
  int test(bool& moved);
  bool idle() const noexcept { return pool_.idle(); }

  // A buffer for the next message; false: none is free. The first is for any receiver, the second for one.
  bool take(Parcel& parcel) { return pool_.take(coded_ && !coder_.passive(), parcel); }
  bool take(const Traffic& traffic, Parcel& parcel) { return pool_.take(traffic.coded && !coder_.passive(), parcel); }
  std::byte* packed(const Parcel& parcel) { return pool_.buffer(parcel.packed); }

  // Sends the packed message of `bytes`. `waits`: only when the receiver has posted its receive. Returns MPI's code.
  int send(Traffic& traffic, Parcel parcel, int64_t bytes, bool waits = false);

 private:
  // A message that is timed.
  struct Sent {
    Traffic* traffic = nullptr;
    int64_t bytes = 0;
    double begin = 0;
  };

  const Comm& comm_;
  Trace& trace_;
  Coder& coder_;
  int tag_;
  bool coded_ = false;
  MessagePool pool_;
  std::array<Sent, k_coding_buffers> sent_{};  // by buffer
};

}  // namespace windrow
