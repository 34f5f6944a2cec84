// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/broadcaster.hpp"

#include "exchange/collector.hpp"

namespace windrow {

Broadcaster::Broadcaster(const Comm& comm, Trace& trace, std::span<const Item> items, int root, int64_t window_bytes)
    : Role(comm, trace), items_(items), root_(root), grid_(whole_file_grid(window_bytes)) {}

int64_t Broadcaster::next(int64_t step) const { return next_covered_step(grid_, covered_, step); }

Extent Broadcaster::used(int64_t step) const {
  Extent all;
  for_each_covered(covered_, grid_.window(step).bytes, [&](Extent part) { all = {all.empty() ? part.begin : all.begin, part.end}; });
  return all;
}

Status Broadcaster::prepare() {
  covered_ = covered_by({}, items_);
  int64_t largest = 0;
  for (int64_t step = next(0); step < grid_.steps(); step = next(step + 1)) largest = std::max(largest, used(step).end - grid_.window(step).bytes.begin);
  slot_bytes_ = aligned(largest);
  slots_.resize(k_windows);
  return {};
}

void Broadcaster::begin(std::span<const Item> items, std::byte* buffers) {
  items_ = items;
  for (Slot& slot : slots_) slot = {.memory = std::exchange(buffers, buffers + slot_bytes_), .request = MPI_REQUEST_NULL, .step = -1};
  asked_ = sent_ = taken_ = 0;
  asked_step_ = sent_step_ = taken_step_ = next(0);
}

// The root asks for windows as far as slots are free.
bool Broadcaster::fetch() {
  if (asked_step_ >= grid_.steps() || asked_ - taken_ == k_windows || !fetcher_->ready()) return false;
  ++trace_.rounds;
  fetcher_->start(asked_step_, grid_.window(asked_step_), slot_of(asked_).memory, covered_);
  ++asked_;
  asked_step_ = next(asked_step_ + 1);
  return true;
}

// Every rank joins the broadcasts in the same order; the root when the window is there, whatever became of reading it: the agreement tells.
bool Broadcaster::send() {
  if (sent_step_ >= grid_.steps() || sent_ - taken_ == k_windows) return false;
  if (is_root() && (sent_ == asked_ || fetcher_->done() == sent_)) return false;
  Slot& slot = slot_of(sent_);
  const Extent part = used(sent_step_);
  slot.step = sent_step_;
  std::byte* const bytes = slot.memory + (part.begin - grid_.window(sent_step_).bytes.begin);
  if (!mpi_ok(MPI_Ibcast(bytes, static_cast<int>(part.size()), MPI_BYTE, root_, comm_.get(), &slot.request), "MPI_Ibcast")) return true;
  if (is_root()) trace_.bytes_broadcast += part.size();
  ++sent_;
  sent_step_ = next(sent_step_ + 1);
  return true;
}

bool Broadcaster::take() {
  if (taken_ == sent_) return false;
  Slot& slot = slot_of(taken_);
  int done = 0;
  if (!mpi_ok(MPI_Test(&slot.request, &done, MPI_STATUS_IGNORE), "MPI_Test")) return true;
  if (done == 0) return false;
  trace_.bytes_copied += take_from_slot(items_, grid_.window(slot.step), slot.memory);
  ++taken_;
  taken_step_ = next(taken_step_ + 1);
  return true;
}

bool Broadcaster::step() {
  bool moved = is_root() && fetch();
  moved = send() || moved;
  return take() || moved;
}

}  // namespace windrow
