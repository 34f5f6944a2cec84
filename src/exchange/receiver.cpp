// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/receiver.hpp"

namespace windrow {

Receiver::Receiver(const Comm& comm, Trace& trace, std::span<const Item> items, std::vector<Channel> channels, int tag)
    : Role(comm, trace), items_(items), channels_(std::move(channels)), tag_(tag) {}

Status Receiver::prepare() {
  const Forecast expected = forecast(items_, channels_);
  windows_.resize(k_message_buffers);
  pool_.prepare(k_message_buffers, expected.largest_message);
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
  if (!mpi_ok(pool_.test(done, false), "MPI_Testsome")) return true;
  for (int index : done) {
    trace_.bytes_copied += unpack_message(items_, windows_[static_cast<size_t>(index)], pool_.buffer(index));
    pool_.release(index);
  }
  bool moved = !done.empty();
  while (next_ >= 0) {
    const int index = pool_.take();
    if (index == MessagePool::k_none) break;
    Channel& channel = channels_[static_cast<size_t>(next_)];
    const Extent window = channel.grid.window(channel.step);
    const int64_t bytes = bytes_in(items_, window);
    windows_[static_cast<size_t>(index)] = window;
    if (!mpi_ok(MPI_Irecv(pool_.buffer(index), static_cast<int>(bytes), MPI_BYTE, channel.rank, tag_, comm_.get(), pool_.request(index)),
                "MPI_Irecv"))
      return true;
    ++channel.step;
    advance(items_, channel);
    next_ = next_channel(channels_);
    moved = true;
  }
  return moved;
}

}  // namespace windrow
