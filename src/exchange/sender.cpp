// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/sender.hpp"

#include <algorithm>

namespace windrow {

void MessagePool::prepare(int buffers, int64_t bytes_each) {
  bytes_ = aligned(bytes_each);
  const auto count = static_cast<size_t>(bytes_each > k_single_message ? 1 : bytes_each > 0 ? buffers : 0);
  requests_.assign(count, MPI_REQUEST_NULL);
  busy_.assign(count, false);
  done_.resize(count);
}

int MessagePool::take() {
  for (size_t i = 0; i < busy_.size(); ++i)
    if (!busy_[i]) {
      busy_[i] = true;
      ++used_;
      return static_cast<int>(i);
    }
  return k_none;
}

int MessagePool::test(std::span<const int>& done, bool free_them) {
  done = {};
  if (used_ == 0) return MPI_SUCCESS;
  int count = 0;
  const int rc = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, done_.data(), MPI_STATUSES_IGNORE);
  if (rc != MPI_SUCCESS || count == MPI_UNDEFINED) return rc;
  done = std::span<const int>(done_.data(), static_cast<size_t>(count));
  if (free_them)
    for (int index : done) release(index);
  return rc;
}

void advance(std::span<const Item> items, Channel& channel) {
  channel.step = next_step(
      channel.grid, channel.step, [&](Extent window) { return bytes_in(items, window); },
      [&](int64_t offset) { return next_hull_offset(items, offset); });
}

void rewind(std::span<const Item> items, std::vector<Channel>& channels) {
  for (Channel& channel : channels) {
    channel.step = 0;
    advance(items, channel);
  }
}

int next_channel(const std::vector<Channel>& channels) {
  int best = -1;
  int64_t round = INT64_MAX;
  for (size_t i = 0; i < channels.size(); ++i) {
    const Channel& channel = channels[i];
    if (channel.step >= channel.grid.steps() || channel.grid.round_of(channel.step) >= round) continue;
    round = channel.grid.round_of(channel.step);
    best = static_cast<int>(i);
  }
  return best;
}

Forecast forecast(std::span<const Item> items, std::vector<Channel>& channels) {
  Forecast result;
  for (Channel& channel : channels) {
    channel.step = 0;
    for (advance(items, channel); channel.step < channel.grid.steps(); ++channel.step, advance(items, channel)) {
      const int64_t bytes = bytes_in(items, channel.grid.window(channel.step));
      ++result.messages;
      result.message_bytes += bytes;
      result.largest_message = std::max(result.largest_message, bytes);
    }
  }
  rewind(items, channels);
  return result;
}

Sender::Sender(const Comm& comm, Trace& trace, std::span<const Item> items, std::vector<Channel> channels, int tag)
    : Role(comm, trace), items_(items), channels_(std::move(channels)), tag_(tag) {}

Status Sender::prepare() {
  forecast_ = forecast(items_, channels_);
  pool_.prepare(k_message_buffers, forecast_.largest_message);
  return {};
}

void Sender::begin(std::span<const Item> items, std::byte* buffers) {
  pool_.begin(buffers);
  items_ = items;
  rewind(items_, channels_);
  next_ = next_channel(channels_);
}

bool Sender::step() {
  std::span<const int> done;
  if (!mpi_ok(pool_.test(done, true), "MPI_Testsome")) return true;
  bool moved = !done.empty();
  while (next_ >= 0) {
    const int index = pool_.take();
    if (index == MessagePool::k_none) break;
    Channel& channel = channels_[static_cast<size_t>(next_)];
    const int64_t bytes = pack_message(items_, channel.grid.window(channel.step), pool_.buffer(index));
    // Among few ranks MPI may deliver before the writer asks. Among many that would pile up in the writer's memory, so there a message waits
    // at its sender until the writer has opened its window: what is on its way to a writer is never more than its buffers hold.
    const auto send = comm_.size() > k_eager_ranks ? MPI_Issend : MPI_Isend;
    if (!mpi_ok(send(pool_.buffer(index), static_cast<int>(bytes), MPI_BYTE, channel.rank, tag_, comm_.get(), pool_.request(index)),
                "MPI_Isend"))
      return true;
    ++trace_.messages;
    trace_.message_bytes += bytes;
    trace_.bytes_copied += bytes;
    ++channel.step;
    advance(items_, channel);
    next_ = next_channel(channels_);
    moved = true;
  }
  return moved;
}

}  // namespace windrow
