// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/turn_reader.hpp"

#include <fmt/format.h>

#include <utility>

#include "exchange/collector.hpp"

namespace windrow {

TurnReader::TurnReader(const Comm& comm, Trace& trace, std::span<const Item> items, std::vector<SharedDomain> domains)
    : Role(comm, trace), items_(items), domains_(std::move(domains)) {}

Status TurnReader::prepare() {
  windows_.resize(domains_.size());
  first_.resize(domains_.size());
  runs_.resize(domains_.size());
  for (size_t i = 0; i < domains_.size(); ++i) {
    const Grid& grid = domains_[i].channel.grid;
    first_[i].step = next_covered_step(grid, domains_[i].covered, 0);
    Place end = first_[i];
    walk_to(domains_[i], end, grid.steps());
    windows_[i] = end.number;
    if (Status status = check_own(domains_[i], first_[i]); !status.ok()) return status;
  }
  return {};
}

// What nobody fetches would be waited for, or left out.
Status TurnReader::check_own(SharedDomain& domain, Place place) const {
  Channel& channel = domain.channel;
  channel.step = 0;
  for (advance(items_, channel); channel.step < channel.grid.steps(); ++channel.step, advance(items_, channel)) {
    walk_to(domain, place, channel.step);
    if (place.step != channel.step) return {Code::internal, fmt::format("window {} of a domain that is read in turn has pieces, but nothing of it is fetched", channel.step)};
  }
  return {};
}

void TurnReader::walk_to(const SharedDomain& domain, Place& place, int64_t step) const {
  for (; place.step < step; ++place.number) place.step = next_covered_step(domain.channel.grid, domain.covered, place.step + 1);
}

// Others' last windows may still lie in the memory of who has the slots, and nobody else knows how long: so that rank begins, and then the others write their words.
void TurnReader::begin(std::span<const Item> items, std::byte*) {
  items_ = items;
  open_ = domains_.size();
  for (size_t i = 0; i < domains_.size(); ++i) {
    SharedDomain& domain = domains_[i];
    runs_[i] = {.copied = first_[i], .fetched = first_[i]};
    domain.channel.step = 0;
    advance(items_, domain.channel);
    walk_to(domain, runs_[i].copied, domain.channel.step);
    if (domain.channel.rank != comm_.rank()) continue;
    domain.slots.turns().begun.begin(comm_.generation(), 0);
    trace_.rounds += windows_[i];
  }
}

bool TurnReader::enter(size_t index) {
  Run& run = runs_[index];
  const SharedDomain& domain = domains_[index];
  if (run.entered) return true;
  if (domain.slots.turns().begun.number_in(comm_.generation()) < 0) return false;
  word_of(domain, comm_.rank()).begin(comm_.generation(), run.copied.number);
  run.entered = true;
  return true;
}

bool TurnReader::copy_next(size_t index) {
  SharedDomain& domain = domains_[index];
  Place& next = runs_[index].copied;
  Channel& channel = domain.channel;
  if (next.number >= windows_[index]) return false;
  const int64_t slot = domain.slots.index_of(next.number);
  if (domain.slots.control(slot).token.load(std::memory_order_acquire) != SharedSlots::token_of(comm_.generation(), next.number)) return false;
  const int64_t bytes = take_from_slot(items_, channel.grid.window(channel.step), domain.slots.memory(slot));
  trace_.bytes_copied += bytes;
  trace_.bytes_shared += bytes;
  ++channel.step;
  advance(items_, channel);
  walk_to(domain, next, channel.step);
  word_of(domain, comm_.rank()).number.store(next.number, std::memory_order_release);
  return true;
}

// Mostly the rank that held the others up is looked at alone.
bool TurnReader::is_passed_by_all(const SharedDomain& domain, Run& run, int64_t number) const noexcept {
  if (run.passed_by_all > number) return true;
  if (word_of(domain, run.slowest).number_in(comm_.generation()) <= number) return false;
  run.passed_by_all = INT64_MAX;
  for (int rank = 0; rank < comm_.size(); ++rank) {
    const int64_t next = word_of(domain, rank).number_in(comm_.generation());
    if (next >= run.passed_by_all) continue;
    run.passed_by_all = next;
    run.slowest = rank;
  }
  return run.passed_by_all > number;
}

bool TurnReader::fetch_next(size_t index) {
  SharedDomain& domain = domains_[index];
  Run& run = runs_[index];
  TurnWord& begun = domain.slots.turns().begun;
  int64_t number = begun.number_in(comm_.generation());
  if (number >= windows_[index]) return false;
  SlotControl& control = domain.slots.control(domain.slots.index_of(number));
  if (const int64_t before = number - domain.slots.count(); before >= 0) {
    if (!is_passed_by_all(domain, run, before)) return false;
    if (control.token.load(std::memory_order_acquire) != SharedSlots::token_of(comm_.generation(), before)) return false;  // nobody wanted it, and it is still on its way
  }
  if (!begun.number.compare_exchange_strong(number, number + 1, std::memory_order_acq_rel)) return true;
  while (run.fetched.number < number) walk_to(domain, run.fetched, run.fetched.step + 1);
  fetcher_->start(run.fetched.step, domain.channel.grid.window(run.fetched.step), domain.slots.memory(domain.slots.index_of(number)), domain.covered);
  control.token.store(SharedSlots::token_of(comm_.generation(), number), std::memory_order_release);
  return true;
}

bool TurnReader::is_over(size_t index) const noexcept {
  return runs_[index].copied.number >= windows_[index] && domains_[index].slots.turns().begun.number_in(comm_.generation()) >= windows_[index];
}

bool TurnReader::step() {
  bool moved = false;
  for (size_t i = 0; i < domains_.size(); ++i) moved = (enter(i) && copy_next(i)) || moved;
  for (size_t i = 0; i < domains_.size(); ++i) {
    if (!runs_[i].open || !runs_[i].entered) continue;
    moved = moved || fetch_next(i);
    if (!is_over(i)) continue;
    runs_[i].open = false;
    --open_;
  }
  return moved;
}

}  // namespace windrow
