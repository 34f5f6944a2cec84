// SPDX-License-Identifier: BSD-3-Clause
#include "planning/planner.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "comm/agree.hpp"
#include "comm/link.hpp"
#include "plan/choose.hpp"

namespace windrow {
namespace {

constexpr int64_t k_none = -std::numeric_limits<int64_t>::max();  // neutral element of a maximum

Pattern pattern_of(bool reading, const BatchSummary& numbers) {
  return {.reading = reading,
          .bytes = numbers.bytes,
          .pieces = numbers.pieces,
          .entries = numbers.entries,
          .long_bytes = numbers.long_bytes,
          .long_pieces = numbers.long_pieces,
          .ranks_with_data = numbers.ranks_with_data,
          .largest_rank_bytes = numbers.largest_rank_bytes,
          .shared_reads = numbers.shared_reads != 0,
          .in_memory = numbers.in_memory > 0,
          .swapped = false,
          .never_written = false,
          .uniform = numbers.is_uniform(),
          .owned_flags = numbers.owned_flags != 0,
          .replicas = numbers.replicas != 0,
          .points = std::max<int64_t>(0, numbers.points),
          .load = std::max<int64_t>(0, numbers.load),
          .holes = std::max<int64_t>(0, numbers.holes),
          .shrinks_to_of_64 = numbers.sampled_ratio.of_64(),
          .regions = {}};
}

std::array<int64_t, 4> predicted(const PreparedPlan& made) {
  const PlanForecast& forecast = made.forecast;
  return {forecast.messages, forecast.write_requests, forecast.read_requests, forecast.bytes};
}

// The range from the first to the last bit that is set.
struct BitRange {
  size_t first = 0, count = 0;
};

BitRange range_of(std::span<const int64_t> bits) noexcept {
  size_t first = 0, end = bits.size();
  while (end > 0 && bits[end - 1] == 0)
    --end;
  if (end == 0)
    return {};
  while (bits[first] == 0)
    ++first;
  const size_t first_bit = 64 * first + static_cast<size_t>(std::countr_zero(static_cast<uint64_t>(bits[first])));
  const size_t end_bit = 64 * end - static_cast<size_t>(std::countl_zero(static_cast<uint64_t>(bits[end - 1])));
  return {first_bit, end_bit - first_bit};
}

}  // namespace

Status Planner::grow(size_t objects) {
  return guard([&] {
    bits_.resize(2 * ((objects + 63) / 64 + PlanCache::k_words));
    identities_.resize(2 * objects + 1);  // and one for the memory of a plan
    return Status{};
  });
}

bool Planner::may_compress(const RequestBatch& batch) const noexcept {
  if (strategy_.codec == Codec::off || !limits_.machine_measured || comm_.host_roots().size() < 2)
    return false;
  return !cache_.has_match(query_for(batch));
}

Status Planner::summarize(Status local, std::initializer_list<const RequestBatch*> batches,
                          std::initializer_list<BatchSummary*> summaries, Extra* extra) {
  constexpr size_t k_batches = 2, k_maxima = k_batches * k_pattern_maxima, k_sums = k_batches * k_pattern_sums;
  std::array<int64_t, k_maxima + k_extra_maxima> maximum{};
  std::array<int64_t, k_sums + k_extra_sums> sum{};
  const auto sums_of = [&](size_t batch) { return PatternSums(sum.data() + batch * k_pattern_sums, k_pattern_sums); };
  const auto maxima_of = [&](size_t batch) {
    return PatternMaxima(maximum.data() + batch * k_pattern_maxima, k_pattern_maxima);
  };
  std::fill(maximum.begin(), maximum.end(), k_none);
  const size_t words = (objects_ + 63) / 64;
  const std::span<int64_t> bits = std::span(bits_).first(batches.size() * (words + PlanCache::k_words));
  std::fill(bits.begin(), bits.end(), 0);
  const auto plan_bits_of = [&](size_t batch) {
    return bits.subspan(batches.size() * words + PlanCache::k_words * batch, PlanCache::k_words);
  };
  if (local.ok()) {
    size_t i = 0;
    for (const RequestBatch* batch : batches) {
      pack(*batch, sums_of(i), maxima_of(i));
      std::copy(batch->objects.begin(), batch->objects.end(), bits.begin() + static_cast<std::ptrdiff_t>(i * words));
      const PlanCache::Bits mismatches = cache_.mismatches(query_for(*batch));
      std::copy(mismatches.begin(), mismatches.end(), plan_bits_of(i).begin());
      ++i;
    }
    if (extra != nullptr) {
      std::copy(extra->maximum.begin(), extra->maximum.end(), maximum.begin() + k_maxima);
      std::copy(extra->sum.begin(), extra->sum.end(), sum.begin() + k_sums);
    }
  }
  if (Status verdict = agree(comm_, std::move(local), {.maximum = maximum, .sum = sum, .bits = bits}); !verdict.ok())
    return verdict;
  size_t i = 0;
  for (BatchSummary* summary : summaries) {
    unpack(sums_of(i), maxima_of(i), *summary);
    summary->plan_id = cache_.match(plan_bits_of(i));
    summary->objects = bits.subspan(i * words, words);
    ++i;
  }
  if (extra != nullptr) {
    std::copy_n(maximum.begin() + k_maxima, k_extra_maxima, extra->maximum.begin());
    std::copy_n(sum.begin() + k_sums, k_extra_sums, extra->sum.begin());
  }
  return {};
}

Result<PreparedPlan*> Planner::ready(const RequestBatch& batch, const BatchSummary& summary,
                                     const BatchContext& context, Status local) {
  const StageTimer timer(trace_, Stage::plan);
  if (summary.plan_id > 0)
    return cache_.use(summary.plan_id);
  auto made = make(batch, summary, context, std::move(local));
  if (!made.ok()) {
    // Cached plans rely on shared buffers, which may have been freed when larger ones could not be allocated. All ranks
    // have the error, so all drop their plans.
    cache_.clear();
    return made.status();
  }
  return &cache_.add(std::move(made).value());
}

Result<Planner::MadePlan> Planner::make(const RequestBatch& batch, const BatchSummary& summary,
                                        const BatchContext& context, Status local) {
  MadePlan made;
  local = know_link(summary.bytes, std::move(local));
  if (local.ok())
    local = guard([&] {
      made = std::make_unique<PreparedPlan>();
      cache_.reserve();
      return plan_for(batch, summary, context, *made);
    });
  // If preparing needs no messages, the ranks prepare before the agreement, and one agreement is enough. A rank without
  // a plan goes to the first agreement in both cases.
  const bool communicates = local.ok() && !made->direct && Transfer::communicates(comm_, made->plan, share_);
  if (local.ok() && !communicates)
    local = prepare(batch, summary, context, *made);
  std::array<int64_t, 4> sums = local.ok() ? predicted(*made) : std::array<int64_t, 4>{};
  std::array<int64_t, 1> memory{local.ok() ? made->memory : 0};
  if (Status verdict =
          agree_on_lists(std::move(local), batch, summary, context, {.maximum = memory, .sum = sums, .bits = {}});
      !verdict.ok())
    return verdict;
  if (communicates) {
    local = prepare(batch, summary, context, *made);
    sums = local.ok() ? predicted(*made) : std::array<int64_t, 4>{};
    memory = {local.ok() ? made->memory : 0};
    if (Status verdict = agree(comm_, std::move(local), {.maximum = memory, .sum = sums, .bits = {}}); !verdict.ok())
      return verdict;
  }
  for (const bool in_background : {false, true}) {
    auto& tuner = made->tuners[in_background ? 1 : 0];
    tuner = keep_tuner(comm_, made->plan, summary.bytes, summary.pieces, in_background, std::move(tuner));
  }
  ++trace_.plans_made;
  made->memory = memory[0];
  made->forecast = {.messages = sums[0], .write_requests = sums[1], .read_requests = sums[2], .bytes = sums[3]};
  return made;
}

// Collective; the status is of this rank.
Status Planner::know_link(int64_t bytes, Status local) {
  if (!asks_for_link(strategy_) || comm_.host_roots().size() < 2 || comm_.link_measured())
    return local;
  const auto probe = measure_link(comm_, probe_allowance(comm_, bytes));
  comm_.set_link(probe.ok() ? probe.value().seconds_per_byte : 0);
  if (probe.ok())
    trace_.probe_bytes += probe.value().sent;
  local.update(probe.status());
  return local;
}

// Local. May throw std::bad_alloc.
Status Planner::plan_for(const RequestBatch& batch, const BatchSummary& summary, const BatchContext& context,
                         PreparedPlan& made) const {
  made.key = batch.key;
  made.runs = batch.runs;
  made.direct_items.reserve(batch.items.size());
  made.aggregated_items.reserve(batch.items.size());
  made.asked = strategy_;
  made.limits = limits_;
  Strategy strategy = strategy_;
  PlanLimits limits = limits_;
  Pattern pattern = pattern_of(batch.reading, summary);
  context.adapt(pattern, strategy, limits);
  const Topology topology{.ranks = comm_.size(), .host_roots = comm_.host_roots(), .link_seconds = comm_.link()};
  auto plan = make_plan(strategy, pattern, topology, limits);
  if (!plan.ok())
    return plan.status();
  made.plan = std::move(plan).value();
  const Access access = made.plan.strategy.access;
  made.rule = {.access = access, .hole_bytes = limits_.hole_bytes, .read_before_bytes = made.plan.read_before_bytes};
  context.complete(made);
  for (auto& tuner : made.tuners)
    tuner = make_tuner(comm_, made.plan);
  made.direct =
      !made.plan.has_domains() && !made.plan.gathers() && (access == Access::list || access == Access::mapped);
  return {};
}

// Collective if Transfer::communicates() is true. The status is of this rank.
Status Planner::prepare(const RequestBatch& batch, const BatchSummary& summary, const BatchContext& context,
                        PreparedPlan& made) {
  if (!made.direct) {
    const TransferOptions options{.share = share_, .check_messages = check_messages_, .moved_bytes = summary.bytes};
    auto transfer = Transfer::prepare(comm_, made.plan, split_items(made, batch), options, {workspace_.arena, trace_});
    if (!transfer.ok())
      return transfer.status();
    made.transfer = std::move(transfer).value();
  }
  return guard([&] {
    made.memory = cache_.memory_of(made);
    return context.prepare(made, batch, workspace_, trace_);
  });
}

// Collective, agreed. Checks that all ranks write an object through the same list of ranges. Only then are the ranges
// of different ranks disjoint. Afterwards `numbers` are those of all ranks.
Status Planner::agree_on_lists(Status local, const RequestBatch& batch, const BatchSummary& summary,
                               const BatchContext& context, const Reduction& numbers) {
  if (batch.reading)
    return agree(comm_, std::move(local), numbers);
  const std::span<int64_t> most = numbers.maximum;
  const BitRange objects = range_of(summary.objects);
  // For each object the maxima of the number of its list and of the negated number. grow() has allocated the memory.
  const std::span<int64_t> both = std::span(identities_).first(2 * objects.count + most.size());
  std::fill(both.begin(), both.end(), k_none);
  std::copy(most.begin(), most.end(), both.end() - static_cast<std::ptrdiff_t>(most.size()));
  for (const auto& [object, list, rest] : batch.key) {
    const size_t at = 2 * (static_cast<size_t>(object) - objects.first);
    both[at] = list;
    both[at + 1] = -list;
  }
  if (Status verdict = agree(comm_, std::move(local), {.maximum = both, .sum = numbers.sum, .bits = {}}); !verdict.ok())
    return verdict;
  std::copy_n(both.end() - static_cast<std::ptrdiff_t>(most.size()), most.size(), most.begin());
  for (size_t i = 0; i < objects.count; ++i) {
    if (both[2 * i] == -both[2 * i + 1] || both[2 * i] == k_none)
      continue;
    Status differs{Code::bad_argument, ""};
    (void)guard([&] {
      differs = {Code::bad_argument, context.conflict_of(objects.first + i)};
      return Status{};
    });
    return differs;
  }
  return {};
}

}  // namespace windrow
