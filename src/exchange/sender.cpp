// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/sender.hpp"

#include <algorithm>

namespace windrow {

void MessagePool::prepare(int buffers, int64_t bytes_each, bool coded) {
  bytes_ = aligned(bytes_each);
  plain_ = bytes_each == 0 ? 0 : buffers;
  const int few = bytes_each > 0 && coded ? k_coding_buffers : plain_;
  const auto count = static_cast<size_t>(few);
  requests_.assign(count, MPI_REQUEST_NULL);
  busy_.assign(count, false);
  done_.resize(count);
  statuses_.resize(count);
  counts_.resize(count);
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

bool MessagePool::take(bool coded, Parcel& parcel) {
  parcel = {};
  if (!coded && used_ >= plain_)
    return false;
  parcel.packed = take();
  if (parcel.packed == k_none || !coded)
    return parcel.packed != k_none;
  parcel.frame = take();
  if (parcel.frame != k_none)
    return true;
  release(parcel.packed);
  parcel = {};
  return false;
}

int MessagePool::encode_parcel(Coder& coder, Traffic& traffic, const Parcel& parcel, int64_t& bytes) {
  if (parcel.frame == k_none) {
    bytes = coder.pass(traffic, {buffer(parcel.packed), static_cast<size_t>(bytes)});
    return parcel.packed;
  }
  const std::span<const std::byte> sent =
      coder.encode(traffic, {buffer(parcel.packed), static_cast<size_t>(bytes)}, buffer(parcel.frame));
  bytes = static_cast<int64_t>(sent.size());
  const bool framed = sent.data() == buffer(parcel.frame);
  release(framed ? parcel.packed : parcel.frame);
  return framed ? parcel.frame : parcel.packed;
}

int MessagePool::test(std::span<const int>& done, bool free_them) {
  done = {};
  if (used_ == 0)
    return MPI_SUCCESS;
  int count = 0;
  const int rc = test_some(requests_, done_, statuses_, count);
  if (rc != MPI_SUCCESS)
    return rc;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)
    counts_[static_cast<size_t>(done_[i])] = bytes_of(statuses_[i]);
  done = std::span<const int>(done_.data(), static_cast<size_t>(count));
  if (free_them)
    for (int index : done)
      release(index);
  return rc;
}

void advance(std::span<const Item> items, Channel& channel) {
  channel.step = next_step(
      channel.grid, channel.step, [&](const Window& window) { return bytes_in(items, window); },
      [&](int64_t offset) { return next_hull_offset(items, offset); });
}

namespace {
void begin_window(std::span<const Item> items, Channel& channel) {
  advance(items, channel);
  channel.message =
      channel.step < channel.grid.steps() ? first_message(items, channel.grid.window(channel.step)) : Message{};
}
}  // namespace

void next_message(std::span<const Item> items, Channel& channel) {
  channel.message = message_after(items, channel.grid.window(channel.step), channel.message);
  if (channel.message.bytes > 0)
    return;
  ++channel.step;
  begin_window(items, channel);
}

void rewind(std::span<const Item> items, std::vector<Channel>& channels) {
  for (Channel& channel : channels) {
    channel.step = 0;
    begin_window(items, channel);
  }
}

int next_channel(const std::vector<Channel>& channels) {
  int best = -1;
  int64_t round = INT64_MAX;
  for (size_t i = 0; i < channels.size(); ++i) {
    const Channel& channel = channels[i];
    if (channel.step >= channel.grid.steps() || channel.grid.round_of(channel.step) >= round)
      continue;
    round = channel.grid.round_of(channel.step);
    best = static_cast<int>(i);
  }
  return best;
}

Forecast forecast(std::span<const Item> items, std::vector<Channel>& channels) {
  Forecast result;
  rewind(items, channels);
  for (Channel& channel : channels)
    for (; channel.message.bytes > 0; next_message(items, channel)) {
      ++result.messages;
      result.message_bytes += channel.message.bytes;
      result.largest_message = std::max(result.largest_message, channel.message.bytes);
    }
  rewind(items, channels);
  return result;
}

namespace {
Extent hull_of(const Grid& grid) noexcept {
  return {grid.domains.front().domain.begin, grid.domains.back().domain.end};
}
}  // namespace

Sender::Sender(const TransferContext& context, std::span<const Item> items, std::vector<Channel> channels, int tag)
    : Role(context.comm, context.trace), items_(items), channels_(std::move(channels)), outbox_(context, tag) {}

Status Sender::prepare() {
  forecast_ = forecast(items_, channels_);
  for (Channel& channel : channels_)
    outbox_.add(channel.traffic, channel.rank, element_bytes_of(items_, hull_of(channel.grid)));
  outbox_.prepare(forecast_.largest_message);
  return {};
}

void Sender::begin(std::span<const Item> items, std::byte* buffers) {
  outbox_.begin(buffers);
  items_ = items;
  rewind(items_, channels_);
  for (Channel& channel : channels_)
    channel.traffic.begin();
  next_ = next_channel(channels_);
}

void Sender::visit_traffic(const std::function<void(const Traffic&)>& visit) const {
  for (const Channel& channel : channels_)
    visit(channel.traffic);
}

bool Sender::step() {
  bool moved = false;
  if (!mpi_ok(outbox_.test(moved), "MPI_Testsome"))
    return true;
  while (next_ >= 0) {
    Channel& channel = channels_[static_cast<size_t>(next_)];
    Outbox::Parcel parcel;
    if (!outbox_.take(channel.traffic, parcel))
      break;
    const int64_t bytes = pack_message(items_, channel.message.part, outbox_.packed(parcel));
    trace_.bytes_copied += bytes;
    // Among few ranks MPI may deliver a message before its receive is posted. Among many ranks such messages would fill
    // the aggregator's memory. A message then waits at its sender until the aggregator has opened the window, so the
    // messages to an aggregator never exceed its buffers.
    if (!mpi_ok(outbox_.send(channel.traffic, parcel, bytes, comm_.size() > k_eager_ranks), "MPI_Isend"))
      return true;
    next_message(items_, channel);
    next_ = next_channel(channels_);
    moved = true;
  }
  return moved;
}

}  // namespace windrow
