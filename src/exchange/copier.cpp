// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/copier.hpp"

namespace windrow {

Copier::Copier(const Comm& comm, Trace& trace, std::span<const Item> items, std::vector<SharedChannel> channels,
               bool reading)
    : Role(comm, trace), items_(items), channels_(std::move(channels)), reading_(reading) {}

void Copier::begin(std::span<const Item> items, std::byte*) {
  items_ = items;
  open_ = 0;
  for (SharedChannel& shared : channels_) {
    shared.channel.step = 0;
    advance(items_, shared.channel);
    if (shared.channel.step < shared.channel.grid.steps())
      ++open_;
  }
}

bool Copier::copy_next(SharedChannel& shared) {
  Channel& channel = shared.channel;
  const int64_t index = shared.slots.index_of(channel.step);
  SlotControl& control = shared.slots.control(index);
  if (control.token.load(std::memory_order_acquire) != SharedSlots::token_of(comm_.generation(), channel.step))
    return false;
  const Window window = channel.grid.window(channel.step);
  std::byte* slot = shared.slots.memory(index);
  const int64_t bytes = reading_ ? take_from_slot(items_, window, slot) : place_in_slot(items_, window, slot);
  control.count.fetch_add(bytes, std::memory_order_release);
  trace_.bytes_copied += bytes;
  trace_.bytes_shared += bytes;
  ++channel.step;
  advance(items_, channel);
  if (channel.step >= channel.grid.steps())
    --open_;
  return true;
}

bool Copier::step() {
  bool moved = false;
  for (SharedChannel& shared : channels_)
    if (shared.channel.step < shared.channel.grid.steps())
      moved = copy_next(shared) || moved;
  return moved;
}

}  // namespace windrow
