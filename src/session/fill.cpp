// SPDX-License-Identifier: BSD-3-Clause
// Elements that nobody writes hold their variable's fill value. Chunks are filled as they are encoded. A contiguous
// variable with a value other than zero is filled by what is the first to move it: its writers complete their windows,
// so that every byte is written once; where there are no writers with a part of the file each, and before a read, a
// sync or the end, ranks write the whole of it at first.
#include <algorithm>
#include <array>

#include "comm/agree.hpp"
#include "planning/batch_summary.hpp"
#include "session/batch_contexts.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

constexpr int64_t k_worth_a_rank = int64_t{16} << 20;

// The part of `whole` that a rank fills. As many ranks as have something worth doing, spread over all, each to where a
// stripe ends; one for each part of a split variable.
Extent share_of(Extent whole, int owner, int rank, int ranks, const StorageLayout* layout) {
  if (owner >= 0)
    return owner == rank ? whole : Extent{whole.begin, whole.begin};
  const int64_t parts = std::clamp<int64_t>((whole.size() + k_worth_a_rank - 1) / k_worth_a_rank, 1, ranks);
  const auto first_rank = [&](int64_t part) { return (part * ranks + parts - 1) / parts; };
  const int64_t part = static_cast<int64_t>(rank) * parts / ranks;
  if (first_rank(part) != rank)
    return {whole.begin, whole.begin};
  const int64_t each = whole.size() / parts, rest = whole.size() % parts;
  const auto begin_of = [&](int64_t number) {
    const int64_t begin = whole.begin + number * each + std::min(number, rest);
    if (layout == nullptr || !layout->is_striped() || number == 0 || number == parts)
      return begin;
    return std::min(whole.end, next_stripe(*layout, begin - 1));
  };
  return {begin_of(part), begin_of(part + 1)};
}

}  // namespace

int File::filler_of(int64_t part) const noexcept {
  return part < 0 ? -1 : subfiles_->owner_of(part, comm_->size());
}

// Who sieves what nobody has written yet puts zeros between its pieces, as they are read there, and need not read them:
// where nobody else writes into its domain, and no request crosses from one variable to another over bytes that may be
// anything. Afterwards `map` has the variables' bytes, or is empty.
bool File::knows_holes(const PreparedPlan& kept, std::span<const int64_t> variables, FillMap& map) const {
  static constexpr std::byte k_zero{0};
  const AccessRule& rule = kept.rule;
  if (rule.access != Access::sieve || !kept.plan.has_domains() || kept.plan.direct_bytes > 0 || kept.extension ||
      !are_never_written(catalog_, write_state_, variables) || write_state_.any_needs_fill(variables))
    return false;
  for (size_t i = 0; i < catalog_.variables.size(); ++i)
    if (is_among(i, variables))
      for_each_extent(i, [&](int64_t, Extent bytes) { map.add(bytes, {&k_zero, 1}); });
  map.sort();
  if (!map.has_gaps_up_to(rule.hole_bytes))
    return true;
  map.clear();
  return false;
}

// Whether the ranks' bytes are all that there are of the variables.
bool File::is_whole(const BatchSummary& numbers) const noexcept {
  int64_t bytes = 0;
  for (size_t i = 0; i < catalog_.variables.size(); ++i)
    if (is_among(i, numbers.objects) && !is_chunked(static_cast<int>(i)))
      bytes += catalog_.variables[i].placement.bytes;
  return numbers.bytes >= bytes;
}

void File::add_unfilled(std::span<const int64_t> variables, FillMap& map) const {
  for (size_t i = 0; i < catalog_.variables.size(); ++i) {
    if (!write_state_[i].needs_fill() || !is_among(i, variables))
      continue;
    for_each_extent(i, [&](int64_t, Extent bytes) { map.add(bytes, catalog_.variables[i].fill); });
  }
  map.sort();
}

// Of all ranks, to write the whole of them.
int64_t File::requests_to_fill(std::span<const int64_t> variables, const FillMap& map) const noexcept {
  int64_t requests = 0;
  for (size_t i = 0; i < catalog_.variables.size(); ++i) {
    if (!write_state_[i].needs_fill() || !is_among(i, variables))
      continue;
    for_each_extent(i, [&](int64_t part, Extent bytes) {
      for (int rank = 0; rank < comm_->size(); ++rank)
        requests +=
            map.requests(share_of(bytes, filler_of(part), rank, comm_->size(), layout_.get()), FillMap::k_buffer_bytes);
    });
  }
  return requests;
}

// Collective. What `variables` (bits) have of unfilled ones is written as a whole. After an error they are unfilled
// still, and a new file that the storage has refused a part of does not take its name.
Status File::fill_whole(std::span<const int64_t> variables, const FillMap& map) {
  Status local = guard([&] {
    std::vector<std::byte> buffer;
    for (size_t i = 0; i < catalog_.variables.size(); ++i) {
      if (!write_state_[i].needs_fill() || !is_among(i, variables))
        continue;
      for_each_extent(i, [&](int64_t part, Extent bytes) {
        const Extent share = share_of(bytes, filler_of(part), comm_->rank(), comm_->size(), layout_.get());
        if (share.empty())
          return;
        if (buffer.empty())
          buffer.resize(static_cast<size_t>(FillMap::k_buffer_bytes));
        map.write(share, buffer, *data_);
      });
    }
    return Status{};
  });
  local.update(data_->take_status());
  Status verdict = agree(*comm_, std::move(local));
  if (verdict.ok()) {
    write_state_.mark_filled(variables);
    return verdict;
  }
  if (verdict.code() == Code::out_of_memory)
    return verdict;
  if (is_temporary_file())
    publication_.fail(verdict);
  write_state_.set_moving([&](size_t i) { return write_state_[i].needs_fill() && is_among(i, variables); });
  return with_undefined(std::move(verdict), &VariableState::moving);
}

// Collective: all that nobody has written yet.
Status File::fill_rest() {
  if (!write_state_.any_needs_fill())
    return {};
  std::vector<int64_t> all;
  FillMap map;
  Status local = guard([&] {
    all.assign(variable_words(), -1);
    add_unfilled(all, map);
    return Status{};
  });
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  Status verdict = fill_whole(all, map);
  Trace of_no_flush;
  data_->take_counters(of_no_flush);
  return verdict;
}

File::Filling File::filling_of(const BatchSummary& numbers, const PreparedPlan& kept, bool reading) const noexcept {
  if (kept.extension || !write_state_.any_needs_fill(numbers.objects))
    return Filling::none;
  if (!reading && is_whole(numbers))
    return Filling::by_data;
  return reading || !kept.plan.has_domains() || kept.plan.direct_bytes > 0 ? Filling::whole : Filling::in_windows;
}

// Collective: what has to be known before a batch moves that is the first of a variable. `forecast`: with the requests
// that filling makes.
Status File::prepare_fill(const BatchSummary& numbers, const PreparedPlan& kept, Filling filling, WindowFill& fill,
                          PlanForecast& forecast) const {
  std::array<int64_t, 1> sum{};
  Status local = guard([&] {
    add_unfilled(numbers.objects, fill.map);
    const auto& writers = kept.plan.writers;
    const auto found = std::find(writers.begin(), writers.end(), comm_->rank());
    if (filling != Filling::in_windows || found == writers.end())
      return Status{};
    fill.windows = windows_of(kept.plan, static_cast<size_t>(found - writers.begin()));
    const Extent domain = fill.windows.domain;
    fill.buffer.resize(static_cast<size_t>(std::min(FillMap::k_buffer_bytes, domain.size())));
    const auto room = static_cast<int64_t>(fill.buffer.size());
    const auto count = [&](Extent part) { sum[0] += fill.map.requests(part, room); };
    int64_t position = domain.begin;
    kept.transfer->for_each_storage_window([&](const Window& window, PieceView covered) {
      fill.for_each_part({position, window.bytes.begin}, count);
      window.for_each_part(
          [&](Extent part, int64_t) { fill.map.for_each_request(part, covered, [&](Extent) { ++sum[0]; }); });
      position = window.bytes.end;
    });
    fill.for_each_part({position, domain.end}, count);
    return Status{};
  });
  if (Status verdict = agree(*comm_, std::move(local), Reduction{.maximum = {}, .sum = sum, .bits = {}}); !verdict.ok())
    return verdict;
  if (filling == Filling::in_windows)
    forecast.write_requests = sum[0], forecast.read_requests = 0;
  if (filling == Filling::whole)
    forecast.write_requests += requests_to_fill(numbers.objects, fill.map);
  return {};
}

// Collective. Afterwards `fill` is what the batch's sink needs, if it is to fill.
Status File::fill_before(const BatchSummary& numbers, const PreparedPlan& kept, bool reading, WindowFill& fill,
                         PlanForecast& forecast) {
  const Filling filling = filling_of(numbers, kept, reading);
  if (filling == Filling::none)
    return {};
  if (filling != Filling::by_data) {
    if (Status verdict = prepare_fill(numbers, kept, filling, fill, forecast); !verdict.ok())
      return verdict;
    fill.wanted = filling == Filling::in_windows;
  }
  if (filling == Filling::whole)
    if (Status verdict = fill_whole(numbers.objects, fill.map); !verdict.ok())
      return verdict;
  write_state_.begin_filling(numbers.objects);
  return {};
}

}  // namespace windrow
