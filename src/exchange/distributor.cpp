// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/distributor.hpp"

#include <algorithm>
#include <utility>

namespace windrow {

Distributor::Distributor(const TransferContext& context, ServedGrid served)
    : Role(context.comm, context.trace),
      grid_(std::move(served.grid)),
      peers_(std::move(served.peers)),
      own_(served.own),
      has_own_(!served.own.empty()),
      outbox_(context, served.tag) {}

Status Distributor::prepare() {
  if (!whole_)
    covered_ = covered_by(peers_, own_, covered_);
  shared_bytes_ = shared_counts(grid_, covered_, peers_);
  forecast_ = forecast(grid_, peers_, own_, covered_);
  slot_bytes_ = aligned(std::max(forecast_.largest_window, least_slot_));
  slots_.resize(
      static_cast<size_t>(shared_ ? shared_.count() : std::clamp<int64_t>(forecast_.windows, 1, most_slots_)));
  slot_memory_ = shared_ ? 0 : static_cast<int64_t>(slots_.size()) * slot_bytes_;
  for (Peer& peer : peers_)
    if (!peer.shared)
      outbox_.add(peer.traffic, peer.rank, peer.element_bytes);
  outbox_.prepare(forecast_.largest_message);
  return {};
}

void Distributor::begin(std::span<const Item> items, std::byte* buffers) {
  if (has_own_)
    own_ = items;
  for (size_t i = 0; i < slots_.size(); ++i)
    slots_[i] = {
        .memory = shared_ ? shared_.memory(static_cast<int64_t>(i)) : buffers + static_cast<int64_t>(i) * slot_bytes_,
        .step = -1,
        .window = {},
        .shared_bytes = 0};
  outbox_.begin(buffers + slot_memory_);
  for (Peer& peer : peers_)
    peer.traffic.begin();
  start_step_ = fetch_step_ = serve_step_ = retire_step_ = next(0);
  next_peer_ = 0;
  next_message_ = {};
  arrived_ = 0;
}

void Distributor::visit_traffic(const std::function<void(const Traffic&)>& visit) const {
  for (const Peer& peer : peers_)
    if (!peer.shared)
      visit(peer.traffic);
}

bool Distributor::finished() const {
  return broken_ || (retire_step_ >= grid_.steps() && outbox_.idle());
}

// Requests windows while slots are free. Without an I/O thread a request blocks, so it stops once a window has arrived
// that others wait for.
bool Distributor::ask() {
  bool moved = false;
  while (start_step_ < grid_.steps() && slot_of(start_step_).step < 0 && fetcher_->ready()) {
    Slot& slot = slot_of(start_step_);
    slot.step = start_step_;
    slot.window = grid_.window(start_step_);
    ++trace_.rounds;
    fetcher_->start(slot.step, slot.window, slot.memory, covered_);
    start_step_ = next(start_step_ + 1);
    moved = true;
    if (fetcher_->done() > arrived_)
      break;
  }
  return moved;
}

bool Distributor::fetch() {
  if (fetch_step_ >= start_step_ || fetcher_->done() == arrived_)
    return false;
  ++arrived_;
  publish(slot_of(fetch_step_));
  fetch_step_ = next(fetch_step_ + 1);
  return true;
}

void Distributor::publish(Slot& slot) {
  slot.shared_bytes = 0;
  if (shared_) {
    slot.shared_bytes = bytes_at(shared_bytes_, slot.step);
    SlotControl& control = shared_.control(shared_.index_of(slot.step));
    control.count.store(0, std::memory_order_relaxed);
    control.token.store(SharedSlots::token_of(comm_.generation(), slot.step), std::memory_order_release);
  }
  if (has_own_)
    trace_.bytes_copied += take_from_slot(own_, slot.window, slot.memory);
}

// Sends the messages of the window at serve_step_ while buffers are free.
bool Distributor::serve() {
  if (serve_step_ >= fetch_step_)
    return false;
  const Slot& slot = slot_of(serve_step_);
  bool moved = false;
  for (; next_peer_ < peers_.size(); ++next_peer_) {
    Peer& peer = peers_[next_peer_];
    if (peer.shared)
      continue;
    if (next_message_.bytes == 0)
      next_message_ = first_message(peer.view.span(), slot.window);
    while (next_message_.bytes > 0) {
      Outbox::Parcel parcel;
      if (!outbox_.take(peer.traffic, parcel))
        return moved;
      const int64_t bytes = collect_from_slot(peer.view, next_message_.part, slot.memory, outbox_.packed(parcel));
      trace_.bytes_copied += bytes;
      if (!mpi_ok(outbox_.send(peer.traffic, parcel, bytes), "MPI_Isend"))
        return true;
      next_message_ = message_after(peer.view.span(), slot.window, next_message_);
      moved = true;
    }
  }
  next_peer_ = 0;
  serve_step_ = next(serve_step_ + 1);
  return true;
}

// Frees the slot of the oldest window once all its messages are packed and all ranks of the host have copied.
bool Distributor::retire() {
  if (retire_step_ >= serve_step_)
    return false;
  Slot& slot = slot_of(retire_step_);
  if (slot.shared_bytes > 0 &&
      shared_.control(shared_.index_of(slot.step)).count.load(std::memory_order_acquire) != slot.shared_bytes)
    return false;
  slot.step = -1;
  retire_step_ = next(retire_step_ + 1);
  return true;
}

bool Distributor::step() {
  bool moved = false;
  if (!mpi_ok(outbox_.test(moved), "MPI_Testsome"))
    return true;
  moved = serve() || moved;
  moved = retire() || moved;
  moved = ask() || moved;
  moved = fetch() || moved;
  return moved;
}

}  // namespace windrow
