// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/receiver.hpp"

namespace windrow {

Receiver::Receiver(const TransferContext& context, std::span<const Item> items, std::vector<Channel> channels, int tag)
    : Role(context.comm, context.trace),
      coder_(context.coder),
      items_(items),
      channels_(std::move(channels)),
      tag_(tag) {}

Status Receiver::prepare() {
  const Forecast expected = forecast(items_, channels_);
  for (Channel& channel : channels_)
    channel.traffic.coded = coder_.codes(channel.rank);
  coder_.expect(expected.largest_message);
  awaited_.resize(k_message_buffers);
  pool_.prepare(k_message_buffers, coder_.room(expected.largest_message));
  return {};
}

void Receiver::begin(std::span<const Item> items, std::byte* buffers) {
  pool_.begin(buffers);
  items_ = items;
  rewind(items_, channels_);
  next_ = next_channel(channels_);
}

bool Receiver::step() {
  std::span<const int> done;
  if (!mpi_ok(pool_.test(done, false), "MPI_Testsome"))
    return true;
  for (int index : done) {
    const Awaited& awaited = awaited_[static_cast<size_t>(index)];
    const std::byte* message = pool_.buffer(index);
    if (awaited.coded)
      message = coder_.decode(awaited.rank, message, pool_.received(index), awaited.message.bytes);
    else
      coder_.check_length(awaited.rank, pool_.received(index), awaited.message.bytes);
    trace_.bytes_copied += unpack_message(items_, awaited.message.part, message);
    pool_.release(index);
  }
  bool moved = !done.empty();
  while (next_ >= 0) {
    const int index = pool_.take();
    if (index == MessagePool::k_none)
      break;
    Channel& channel = channels_[static_cast<size_t>(next_)];
    const int64_t bytes = channel.message.bytes;
    const bool coded = channel.traffic.coded;
    awaited_[static_cast<size_t>(index)] = {channel.message, channel.rank, coded};
    bool too_long = false;
    if (!mpi_ok(post_receive(pool_.buffer(index), coded ? coder_.room(bytes) : bytes, channel.rank, tag_, comm_.get(),
                             *pool_.request(index), too_long),
                "MPI_Irecv"))
      return true;
    if (too_long) {
      coder_.check_length(channel.rank, k_too_long, bytes);
      pool_.release(index);
    }
    next_message(items_, channel);
    next_ = next_channel(channels_);
    moved = true;
  }
  return moved;
}

}  // namespace windrow
