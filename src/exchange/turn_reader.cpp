// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/turn_reader.hpp"

#include <algorithm>
#include <utility>

namespace windrow {

TurnReader::TurnReader(const Comm& comm, Trace& trace, std::span<const Item> items, std::vector<SharedDomain> domains)
    : Role(comm, trace), items_(items), domains_(std::move(domains)), runs_(domains_.size()) {}

void TurnReader::begin(std::span<const Item> items, std::byte*) {
  items_ = items;
  open_ = domains_.size();
  for (size_t i = 0; i < domains_.size(); ++i) {
    SharedDomain& domain = domains_[i];
    runs_[i] = {};
    domain.channel.step = 0;
    advance(items_, domain.channel);
    if (domain.channel.rank == comm_.rank()) {
      domain.slots.turns().front().begin(comm_.generation(), 0);
      trace_.rounds += domain.channel.grid.steps();
    }
    word_of(domain, comm_.rank()).begin(comm_.generation(), domain.channel.step);
  }
}

bool TurnReader::copy_next(SharedDomain& domain) {
  Channel& channel = domain.channel;
  if (channel.step >= channel.grid.steps()) return false;
  const int64_t index = domain.slots.index_of(channel.step);
  if (domain.slots.control(index).token.load(std::memory_order_acquire) != SharedSlots::token_of(comm_.generation(), channel.step)) return false;
  const int64_t bytes = take_from_slot(items_, channel.grid.window(channel.step), domain.slots.memory(index));
  trace_.bytes_copied += bytes;
  trace_.bytes_shared += bytes;
  ++channel.step;
  advance(items_, channel);
  word_of(domain, comm_.rank()).step.store(channel.step, std::memory_order_release);
  return true;
}

int64_t TurnReader::passed_by_all(const SharedDomain& domain) const noexcept {
  int64_t least = INT64_MAX;
  for (int rank = 0; rank < comm_.size(); ++rank) least = std::min(least, word_of(domain, rank).step_in(comm_.generation()));
  return std::max<int64_t>(0, least);
}

bool TurnReader::fetch_next(SharedDomain& domain, Run& run) {
  TurnWord& begun = domain.slots.turns().front();
  int64_t step = begun.step_in(comm_.generation());
  const Grid& grid = domain.channel.grid;
  if (step < 0 || step >= grid.steps()) return false;
  SlotControl& control = domain.slots.control(domain.slots.index_of(step));
  if (const int64_t before = step - domain.slots.count(); before >= 0) {
    if (run.passed_by_all <= before) run.passed_by_all = passed_by_all(domain);
    if (run.passed_by_all <= before) return false;
    if (control.token.load(std::memory_order_acquire) != SharedSlots::token_of(comm_.generation(), before)) return false;  // nobody wanted it, and it is still on its way
  }
  if (!begun.step.compare_exchange_strong(step, step + 1, std::memory_order_acq_rel)) return true;
  fetcher_->start(step, grid.window(step), domain.slots.memory(domain.slots.index_of(step)), domain.covered);
  control.token.store(SharedSlots::token_of(comm_.generation(), step), std::memory_order_release);
  return true;
}

bool TurnReader::is_over(const SharedDomain& domain) const noexcept {
  const int64_t steps = domain.channel.grid.steps();
  return domain.channel.step >= steps && domain.slots.turns().front().step_in(comm_.generation()) >= steps;
}

bool TurnReader::step() {
  bool moved = false;
  for (SharedDomain& domain : domains_) moved = copy_next(domain) || moved;
  for (size_t i = 0; i < domains_.size(); ++i) {
    if (!runs_[i].open) continue;
    moved = moved || fetch_next(domains_[i], runs_[i]);
    if (!is_over(domains_[i])) continue;
    runs_[i].open = false;
    --open_;
  }
  return moved;
}

}  // namespace windrow
