// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/collector.hpp"

#include <algorithm>
#include <utility>

namespace windrow {

Pieces covered_by(std::span<const Peer> peers, std::span<const Item> own, const Pieces& regions) {
  const int64_t all = total_bytes(regions);
  int64_t held = 0;
  for (const Peer& peer : peers)
    for (const ViewPart& part : peer.view.parts)
      held += part.total;
  for_each_covered(regions, hull(regions), [&](Extent region) { held += bytes_in(own, region); });
  if (all > 0 && held >= all)
    return regions;
  std::vector<const View*> views;
  for (const Peer& peer : peers)
    views.push_back(&peer.view);
  return covered_extents(views, own);
}

namespace {

int64_t bytes_of(PieceView covered, const Window& window) {
  int64_t bytes = 0;
  for_each_held_part(window, covered, hull(covered), 0,
                     [&](const Window::Part& part) { bytes += bytes_within(covered, part.bytes); });
  return bytes;
}

// Offset in a window's buffer of the bytes of a hull if they belong to one part; -1: they belong to several.
int64_t place_of(const Window& window, Extent hull) {
  int64_t found = -1;
  window.for_each_part([&](Extent part, int64_t place) {
    if (hull.begin >= part.begin && hull.end <= part.end)
      found = place + hull.begin - part.begin;
  });
  return found;
}

}  // namespace

int64_t next_covered_step(const Grid& grid, PieceView covered, int64_t step) {
  return next_step(
      grid, step, [&](const Window& window) { return bytes_of(covered, window); },
      [&](int64_t offset) { return offset >= hull(covered).end ? INT64_MAX : next_offset(covered, offset); });
}

ServeForecast forecast(const Grid& grid, std::span<const Peer> peers, std::span<const Item>, PieceView covered) {
  ServeForecast result;
  for (int64_t step = next_covered_step(grid, covered, 0); step < grid.steps();
       step = next_covered_step(grid, covered, step + 1)) {
    const Window window = grid.window(step);
    ++result.windows;
    int64_t remote = 0, end = 0;
    window.for_each_part([&](Extent part, int64_t place) {
      for_each_covered(covered, part, [&](Extent extent) { end = place + extent.end - part.begin; });
    });
    result.largest_window = std::max(result.largest_window, end);
    const int64_t before = result.messages;
    for (const Peer& peer : peers) {
      if (peer.shared)
        continue;
      for (Message message = first_message(peer.view.span(), window); message.bytes > 0;
           message = message_after(peer.view.span(), window, message)) {
        ++result.messages;
        remote += message.bytes;
        result.largest_message = std::max(result.largest_message, message.bytes);
      }
    }
    result.largest_remote = std::max(result.largest_remote, remote);
    result.most_messages = std::max(result.most_messages, result.messages - before);
  }
  return result;
}

std::vector<WindowBytes> shared_counts(const Grid& grid, PieceView covered, std::span<const Peer> peers) {
  std::vector<WindowBytes> counts;
  for (const Peer& peer : peers) {
    if (!peer.shared)
      continue;
    counts.insert(counts.end(), peer.counts.begin(), peer.counts.end());
    if (peer.view.parts.empty())
      continue;
    for (int64_t step = next_covered_step(grid, covered, 0); step < grid.steps();
         step = next_covered_step(grid, covered, step + 1))
      if (const int64_t bytes = bytes_in(peer.view.span(), grid.window(step)); bytes > 0)
        counts.push_back({step, bytes});
  }
  std::sort(counts.begin(), counts.end(), [](const WindowBytes& a, const WindowBytes& b) { return a.step < b.step; });
  size_t kept = 0;
  for (const WindowBytes& count : counts) {
    if (kept > 0 && counts[kept - 1].step == count.step)
      counts[kept - 1].bytes += count.bytes;
    else
      counts[kept++] = count;
  }
  counts.resize(kept);
  return counts;
}

std::vector<WindowBytes> missing_counts(const Grid& grid, PieceView covered, std::span<const Peer> peers,
                                        std::span<const Item> own) {
  std::vector<WindowBytes> counts;
  for (int64_t step = next_covered_step(grid, covered, 0); step < grid.steps();
       step = next_covered_step(grid, covered, step + 1)) {
    const Window window = grid.window(step);
    int64_t bytes = bytes_of(covered, window) - bytes_in(own, window);
    for (const Peer& peer : peers)
      bytes -= bytes_in(peer.view.span(), window);
    if (bytes > 0)
      counts.push_back({step, bytes});
  }
  return counts;
}

int64_t bytes_at(std::span<const WindowBytes> counts, int64_t step) noexcept {
  const auto at = std::partition_point(counts.begin(), counts.end(),
                                       [step](const WindowBytes& count) { return count.step < step; });
  return at != counts.end() && at->step == step ? at->bytes : 0;
}

Collector::Collector(const TransferContext& context, ServedGrid served)
    : Role(context.comm, context.trace),
      coder_(context.coder),
      grid_(std::move(served.grid)),
      peers_(std::move(served.peers)),
      own_(served.own),
      tag_(served.tag),
      has_own_(!served.own.empty()) {}

Status Collector::prepare() {
  if (!whole_)
    covered_ = covered_by(peers_, own_, covered_);
  const bool described = std::any_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.shared; });
  if (shared_)
    shared_bytes_ =
        whole_ && !described ? missing_counts(grid_, covered_, peers_, own_) : shared_counts(grid_, covered_, peers_);
  forecast_ = forecast(grid_, peers_, own_, covered_);
  slot_bytes_ = aligned(std::max(forecast_.largest_window, least_slot_));
  slots_.resize(
      static_cast<size_t>(shared_ ? shared_.count() : std::clamp<int64_t>(forecast_.windows, 1, most_slots_)));
  for (Peer& peer : peers_)
    peer.traffic.coded = !peer.shared && coder_.codes(peer.rank);
  coder_.expect(forecast_.largest_message);
  forecast_.largest_remote += forecast_.most_messages * coder_.room(0);
  const auto messages = static_cast<size_t>(forecast_.most_messages);
  for (Slot& slot : slots_) {
    slot.statuses.resize(messages);
    slot.requests.assign(messages, MPI_REQUEST_NULL);
    slot.awaited.resize(messages);
    slot.done.resize(messages);
  }
  const auto slots = static_cast<int64_t>(slots_.size());
  buffer_bytes_ = slots * ((shared_ ? 0 : slot_bytes_) + aligned(forecast_.largest_remote));
  return {};
}

int64_t Collector::next(int64_t step) const {
  return next_covered_step(grid_, covered_, step);
}

void Collector::begin(std::span<const Item> items, std::byte* buffers) {
  if (has_own_)
    own_ = items;
  for (size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (shared_)
      slot.memory = shared_.memory(static_cast<int64_t>(i));
    else
      slot.memory = std::exchange(buffers, buffers + slot_bytes_);
    slot.staging = std::exchange(buffers, buffers + aligned(forecast_.largest_remote));
    slot.step = -1;
  }
  passed_on_ = reclaimed_ = 0;
  oldest_step_ = front_step_ = next_step_ = next(0);
  open_windows();
  if (sink_ != nullptr)
    sink_->expect(covered_);
}

bool Collector::finished() const {
  return broken_ || (oldest_step_ >= grid_.steps() && (sink_ == nullptr || sink_->finished()));
}

// Opens windows in free slots, in order.
void Collector::open_windows() {
  while (next_step_ < grid_.steps() && slot_of(next_step_).step < 0 && !broken_) {
    Slot& slot = slot_of(next_step_);
    slot.step = next_step_;
    next_step_ = next(next_step_ + 1);
    open(slot);
  }
}

void Collector::open(Slot& slot) {
  slot.window = grid_.window(slot.step);
  slot.pending = 0;
  slot.shared_bytes = 0;
  ++trace_.rounds;
  if (shared_) {
    slot.shared_bytes = bytes_at(shared_bytes_, slot.step);
    SlotControl& control = shared_.control(shared_.index_of(slot.step));
    control.count.store(0, std::memory_order_relaxed);
    control.token.store(SharedSlots::token_of(comm_.generation(), slot.step), std::memory_order_release);
  }
  int64_t staged = 0;
  size_t messages = 0;
  for (size_t i = 0; i < peers_.size(); ++i) {
    if (peers_[i].shared)
      continue;
    const View& view = peers_[i].view;
    for (Message message = first_message(view.span(), slot.window); message.bytes > 0;
         message = message_after(view.span(), slot.window, message)) {
      Awaited& awaited = slot.awaited[messages];
      awaited = {i, message, slot.staging + staged, nullptr};
      const int64_t room = peers_[i].traffic.coded ? coder_.room(message.bytes) : message.bytes;
      if (view.parts.size() == 1) {
        const Extent hull = intersect(view.parts.front().hull, message.part.reach());
        if (const int64_t place = hull.size() == message.bytes ? place_of(message.part, hull) : -1; place >= 0)
          awaited.final = slot.memory + place;
      }
      if (awaited.final != nullptr &&
          room == message.bytes)  // a contiguous piece is received at its place, without staging and copy
        awaited.place = awaited.final;
      else
        staged += room;
      if (!await(slot, messages++, room))
        return;
    }
  }
  if (has_own_)
    trace_.bytes_copied += place_in_slot(own_, slot.window, slot.memory);
}

bool Collector::await(Slot& slot, size_t message, int64_t room) {
  const Awaited& awaited = slot.awaited[message];
  const int rank = peers_[awaited.peer].rank;
  bool too_long = false;
  if (!mpi_ok(post_receive(awaited.place, room, rank, tag_, comm_.get(), slot.requests[message], too_long),
              "MPI_Irecv"))
    return false;
  if (too_long)
    coder_.check_length(rank, k_too_long, awaited.message.bytes);
  else
    ++slot.pending;
  return true;
}

bool Collector::receive(Slot& slot) {
  if (slot.step < 0 || slot.pending == 0)
    return false;
  int count = 0;
  if (!mpi_ok(test_some(slot.requests, slot.done, slot.statuses, count), "MPI_Testsome"))
    return true;
  if (count == 0)
    return false;
  for (int i = 0; i < count; ++i) {
    const Awaited& awaited = slot.awaited[static_cast<size_t>(slot.done[static_cast<size_t>(i)])];
    const Peer& peer = peers_[awaited.peer];
    const int64_t bytes = bytes_of(slot.statuses[static_cast<size_t>(i)]);
    if (peer.traffic.coded) {
      decode(slot, awaited, bytes);
      continue;
    }
    coder_.check_length(peer.rank, bytes, awaited.message.bytes);
    if (awaited.final == nullptr)
      trace_.bytes_copied += spread_to_slot(peer.view, awaited.message.part, awaited.place, slot.memory);
  }
  slot.pending -= count;
  // After an error Open MPI may have freed requests that it does not report.
  if (!coder_.status().ok())
    slot.pending = static_cast<int>(slot.requests.size()) -
                   static_cast<int>(std::count(slot.requests.begin(), slot.requests.end(), MPI_REQUEST_NULL));
  return true;
}

// Decodes a frame, directly to its final place if that is contiguous.
void Collector::decode(Slot& slot, const Awaited& awaited, int64_t count) {
  const Peer& peer = peers_[awaited.peer];
  if (awaited.final == awaited.place) {
    coder_.decode_in_place(peer.rank, awaited.place, count, awaited.message.bytes);
  } else if (awaited.final != nullptr) {
    coder_.decode_to(peer.rank, awaited.place, count, awaited.final, awaited.message.bytes);
  } else {
    const std::byte* message = coder_.decode(peer.rank, awaited.place, count, awaited.message.bytes);
    trace_.bytes_copied += spread_to_slot(peer.view, awaited.message.part, message, slot.memory);
  }
}

bool Collector::is_full(const Slot& slot) const {
  if (slot.pending > 0)
    return false;
  return slot.shared_bytes == 0 ||
         shared_.control(shared_.index_of(slot.step)).count.load(std::memory_order_acquire) == slot.shared_bytes;
}

bool Collector::pass_on() {
  if (front_step_ >= grid_.steps() || broken_)
    return false;
  Slot& slot = slot_of(front_step_);
  if (slot.step != front_step_ || !is_full(slot) || !sink_->ready())
    return false;
  sink_->consume(slot.step, slot.window, slot.memory, covered_);
  ++passed_on_;
  front_step_ = next(front_step_ + 1);
  return true;
}

// Opens the slots that the sink has finished for the next windows.
bool Collector::reclaim() {
  if (reclaimed_ == passed_on_ || reclaimed_ == sink_->done())
    return false;
  for (const int64_t done = sink_->done(); reclaimed_ < done; ++reclaimed_) {
    slot_of(oldest_step_).step = -1;
    oldest_step_ = next(oldest_step_ + 1);
  }
  open_windows();
  return true;
}

bool Collector::step() {
  bool moved = false;
  if (sink_ != nullptr)
    sink_->progress();
  for (Slot& slot : slots_)
    moved = receive(slot) || moved;
  moved = pass_on() || moved;
  moved = reclaim() || moved;
  return moved;
}

}  // namespace windrow
