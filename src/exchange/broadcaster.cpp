// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/broadcaster.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "exchange/collector.hpp"

namespace windrow {

namespace {

// Whether messages between hosts may be frames: the same on every rank.
bool codes_between_hosts(const Coder& coder, const Comm& comm) {
  const std::vector<int>& roots = comm.host_roots();
  return roots.size() > 1 && coder.codes(roots[comm.host_index() == 0 ? 1 : 0]);
}

}  // namespace

Broadcaster::Broadcaster(const TransferContext& context, std::span<const Item> items, int root, int64_t window_bytes)
    : Role(context.comm, context.trace),
      coder_(context.coder),
      items_(items),
      root_(root),
      by_host_(codes_between_hosts(context.coder, context.comm)),
      grid_(whole_file_grid(window_bytes)) {}

int64_t Broadcaster::next(int64_t step) const {
  return next_covered_step(grid_, covered_, step);
}

Extent Broadcaster::used(int64_t step) const {
  Extent all;
  for_each_covered(covered_, grid_.window(step).bytes, [&](Extent part) {
    all = {all.empty() ? part.begin : all.begin, part.end};
  });
  return all;
}

// A binomial tree. Hosts are numbered from the root's on. The parent of a number is the number without its lowest set
// bit; the children set one lower bit.
void Broadcaster::join_tree() {
  const std::vector<int>& roots = comm_.host_roots();
  if (!by_host_ || comm_.rank() != comm_.host_root())
    return;
  const size_t hosts = roots.size();
  const auto first = static_cast<size_t>(std::lower_bound(roots.begin(), roots.end(), root_) - roots.begin());
  const size_t mine = (static_cast<size_t>(comm_.host_index()) + hosts - first) % hosts;
  const auto rank_at = [&](size_t number) { return roots[(first + number) % hosts]; };
  if (mine > 0)
    from_ = rank_at(mine & (mine - 1));
  const size_t end = mine > 0 ? mine & (~mine + 1) : std::bit_ceil(hosts);
  for (size_t bit = end / 2; bit > 0; bit /= 2)
    if (mine + bit < hosts)
      children_.push_back({.rank = rank_at(mine + bit), .element_bytes = element_bytes_of(items_, {0, INT64_MAX})});
  for (Traffic& child : children_)
    coder_.add(child);
}

Status Broadcaster::prepare() {
  covered_ = covered_by({}, items_);
  join_tree();
  int64_t largest = 0, largest_message = 0;
  for (int64_t step = next(0); step < grid_.steps(); step = next(step + 1)) {
    const Extent part = used(step);
    largest = std::max(largest, part.end - grid_.window(step).bytes.begin);
    largest_message = std::max(largest_message, part.size());
    ++windows_;
  }
  if (from_ != k_no_rank || !children_.empty())
    coder_.expect(largest_message);
  slot_bytes_ = aligned(coder_.room(largest));
  frame_bytes_ = children_.empty() ? 0 : aligned(coder_.room(largest_message));
  slots_.resize(k_windows);
  requests_.assign(k_windows * requests_each(), MPI_REQUEST_NULL);
  statuses_.resize(requests_.size());
  done_.resize(requests_.size());
  began_.resize(requests_.size());
  return {};
}

void Broadcaster::begin(std::span<const Item> items, std::byte* buffers) {
  items_ = items;
  for (Slot& slot : slots_) {
    slot = {};
    slot.memory = std::exchange(buffers, buffers + slot_bytes_);
    slot.frame = std::exchange(buffers, buffers + frame_bytes_);
  }
  tree_ = by_host_ && !coder_.is_off();
  for (Traffic& child : children_)
    child.begin();
  asked_ = sent_ = taken_ = 0;
  asked_step_ = taken_step_ = next(0);
}

void Broadcaster::visit_traffic(const std::function<void(const Traffic&)>& visit) const {
  for (const Traffic& child : children_)
    visit(child);
}

bool Broadcaster::test() {
  if (asked_ == taken_)
    return false;
  int count = 0;
  if (!mpi_ok(test_some(requests_, done_, statuses_, count), "MPI_Testsome"))
    return true;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const auto index = static_cast<size_t>(done_[i]);
    const size_t place = index % requests_each();
    Slot& slot = slots_[index / requests_each()];
    if (place == incoming) {
      slot.arrived = true;
      slot.received = bytes_of(statuses_[i]);
      continue;
    }
    --slot.pending;
    if (began_[index] > 0)
      coder_.took(children_[place - first_child], slot.sent, seconds_now() - began_[index]);
  }
  return count > 0;
}

// If a slot is free, the root requests a window from the storage, and the lowest ranks of other hosts post the receive
// from their parent.
bool Broadcaster::ask() {
  if (asked_step_ >= grid_.steps() || asked_ - taken_ == k_windows || (is_root() && !fetcher_->ready()))
    return false;
  Slot& slot = slot_of(asked_);
  const Window window = grid_.window(asked_step_);
  const Extent part = used(asked_step_);
  slot.step = asked_step_;
  slot.bytes = slot.memory + (part.begin - window.bytes.begin);
  slot.size = part.size();
  if (is_root()) {
    ++trace_.rounds;
    fetcher_->start(slot.step, window, slot.memory, covered_);
  } else if (awaits()) {
    if (!mpi_ok(post_receive(slot.bytes, coder_.room(slot.size), from_, k_tag_data, comm_.get(),
                             requests_[request_of(asked_, incoming)], slot.arrived),
                "MPI_Irecv"))
      return true;
    slot.received = k_too_long;  // the value if the message has arrived already
  }
  ++asked_;
  asked_step_ = next(asked_step_ + 1);
  return true;
}

bool Broadcaster::has_come(const Slot& slot) const {
  if (is_root())
    return fetcher_->done() > sent_;
  return !awaits() || slot.arrived;
}

// The message for the child hosts. A message that was too long to receive is passed on with no bytes, which the
// children reject too.
std::span<const std::byte> Broadcaster::outgoing(Slot& slot) {
  if (is_root())
    return coder_.encode(children_.front(), {slot.bytes, static_cast<size_t>(slot.size)}, slot.frame);
  if (slot.received == k_too_long)
    return {};
  const auto bytes = static_cast<size_t>(slot.received);
  if (slot.received == slot.size && !coder_.checks())
    return {slot.bytes, bytes};
  std::memcpy(slot.frame, slot.bytes, bytes);  // the slot is decoded in place while the message is in flight
  trace_.bytes_copied += slot.received;
  return {slot.frame, bytes};
}

// Sends to the child hosts. False: MPI has failed.
bool Broadcaster::pass_on(Slot& slot) {
  const std::span<const std::byte> message = outgoing(slot);
  slot.sent = static_cast<int64_t>(message.size());
  const bool measured = coder_.measures() && coder_.times(slot.sent);
  const auto send = comm_.size() > k_eager_ranks || measured ? MPI_Issend : MPI_Isend;  // as in Outbox::send()
  for (size_t i = 0; i < children_.size(); ++i) {
    Traffic& child = children_[i];
    if (!is_root() || i > 0)
      coder_.count_again(child, message, slot.size);
    const size_t index = request_of(sent_, first_child + i);
    began_[index] = measured ? seconds_now() : 0;
    if (!mpi_ok(send(message.data(), static_cast<int>(slot.sent), MPI_BYTE, child.rank, k_tag_data, comm_.get(),
                     &requests_[index]),
                "MPI_Isend"))
      return false;
    ++slot.pending;
    ++trace_.messages;
    trace_.message_bytes += slot.sent;
    trace_.message_bytes_before_codec += slot.size;
  }
  return true;
}

// Every rank starts the broadcasts in the same order, after any error too: the agreement reports it. The root waits for
// the window from the storage, the lowest ranks of other hosts for the message of their parent.
bool Broadcaster::send() {
  if (sent_ == asked_)
    return false;
  Slot& slot = slot_of(sent_);
  if (!has_come(slot))
    return false;
  if (is_root())
    trace_.bytes_broadcast += slot.size;
  if (tree_ && !children_.empty() && !pass_on(slot))
    return true;
  if (awaits()) {
    coder_.decode_in_place(from_, slot.bytes, slot.received, slot.size);
    if (slot.received == k_too_long)
      std::fill_n(slot.bytes, slot.size, std::byte{0});
  }
  const MPI_Comm ranks = tree_ ? comm_.host() : comm_.get();
  const int first = tree_ ? 0 : root_;
  if (!tree_ || comm_.host_size() > 1) {
    if (!mpi_ok(MPI_Ibcast(slot.bytes, static_cast<int>(slot.size), MPI_BYTE, first, ranks,
                           &requests_[request_of(sent_, relayed)]),
                "MPI_Ibcast"))
      return true;
    ++slot.pending;
  }
  ++sent_;
  return true;
}

bool Broadcaster::take() {
  if (taken_ == sent_)
    return false;
  Slot& slot = slot_of(taken_);
  if (slot.pending > 0)
    return false;
  trace_.bytes_copied += take_from_slot(items_, grid_.window(slot.step), slot.memory);
  slot.arrived = false;
  ++taken_;
  taken_step_ = next(taken_step_ + 1);
  return true;
}

bool Broadcaster::step() {
  bool moved = test();
  moved = ask() || moved;
  moved = send() || moved;
  return take() || moved;
}

}  // namespace windrow
