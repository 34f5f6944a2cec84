// SPDX-License-Identifier: BSD-3-Clause
// From the queue to items, and from items to a plan made ready or found again.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <tuple>

#include "base/numbering.hpp"
#include "base/units.hpp"
#include "comm/agree.hpp"
#include "comm/link.hpp"
#include "comm/same.hpp"
#include "format/check.hpp"
#include "plan/choose.hpp"
#include "planning/batch_summary.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

// From the first to the last byte that this rank is to move.
Extent hull_of(const RequestBatch& batch) noexcept {
  Extent all{INT64_MAX, 0};
  for (const Item& item : batch.items)
    all = {std::min(all.begin, item.hull.begin), std::max(all.end, item.hull.end)};
  return all;
}

std::array<int64_t, 4> predicted(const PreparedPlan& kept) {
  return {kept.forecast.messages, kept.forecast.write_requests, kept.forecast.read_requests, kept.forecast.bytes};
}

void mark(std::vector<int64_t>& bits, int number) noexcept {
  bits[static_cast<size_t>(number) / 64] |= static_cast<int64_t>(uint64_t{1} << (number % 64));
}

}  // namespace

int64_t swap_bytes(const QueuedRequest& entry, const Variable& variable) noexcept {
  const bool as_memory = entry.stored || variable.placement.big_endian == (std::endian::native == std::endian::big);
  return as_memory ? 1 : component_size(variable.type);
}

OwnerPolicy File::owner_of(const QueuedRequest& entry) const {
  return entry.decomposition->owner_for(strategy_.owner);
}

// What this rank writes or reads for an entry: in bytes for elements of `element` bytes, or in those of its chunks'
// line.
Result<std::shared_ptr<const ByteRuns>> File::runs_of(const QueuedRequest& entry, int64_t element,
                                                      const SharedDecomposition::Line* line) {
  SharedDecomposition& decomposition = *entry.decomposition;
  if (!entry.put)
    return line ? decomposition.read_line(*line) : decomposition.read_runs(element, limits_.direct_bytes);
  auto owned = line ? decomposition.write_line(owner_of(entry), *line)
                    : decomposition.write_runs(owner_of(entry), element, limits_.direct_bytes);
  if (owned.ok())
    return owned;
  const std::string& path = catalog_.variables[static_cast<size_t>(entry.variable)].path;
  return Status{owned.status().code(), fmt::format("put of \"{}\": {}", path, owned.status().message()),
                owned.status().rank()};
}

Status File::add_to_batch(const QueuedRequest& entry, RequestBatch& batch) {
  const Variable& variable = catalog_.variables[static_cast<size_t>(entry.variable)];
  // Of the length that it had when this was queued: what lies behind is somebody else's, of the same flush.
  std::array<int64_t, k_most_dimensions> sizes{};
  std::copy(variable.shape.begin(), variable.shape.end(), sizes.begin());
  const bool was_shorter = entry.record < 0 && variable.extendible && entry.rows < variable.shape.front();
  if (was_shorter)
    sizes[0] = entry.rows;
  const auto shape = std::span<const int64_t>(sizes).first(variable.shape.size()).subspan(entry.record >= 0 ? 1 : 0);
  auto trailing = load(entry.decomposition->local(), shape);
  if (!trailing.ok())
    return trailing.status();
  if (entry.record >= 0 && entry.record >= variable.shape.front())
    return {Code::bad_argument, fmt::format("\"{}\" has {}; there is no number {} to {}", variable.path,
                                            counted(variable.shape.front(), "record"), shown_index(entry.record),
                                            entry.put ? "write" : "read")};
  const int64_t type = element_bytes(variable.type, variable.details);
  static const ChunkGrid no_grid;
  const ChunkGrid& grid = batch.layout ? batch.layout->parts.front().grid : no_grid;
  const int64_t layer_rows = batch.layout ? grid.chunk()[0] : 1;
  const SharedDecomposition::Line line{grid, trailing.value(), type, entry.record < 0 ? -1 : entry.record % layer_rows};
  int64_t view = -1;
  if (entry.put) {
    view = static_cast<int64_t>(owner_of(entry));
    if (entry.staged)
      trace_.values_clamped += entry.staged->out_of_range;
  } else if (!entry.decomposition->duplicates().empty()) {
    const int64_t size = entry.staged ? entry.staged->memory_bytes : type;
    batch.repeats.push_back({&entry.decomposition->duplicates(), trailing.value() * size, entry.data});
  }
  const SplitVariable* split = subfiles_ ? subfiles_->find(entry.variable) : nullptr;
  const bool in_parts = split != nullptr && batch.layout != nullptr;
  auto found = in_parts ? runs_of_parts(entry, *split, batch, trailing.value())
                        : runs_of(entry, trailing.value() * type, batch.layout ? &line : nullptr);
  if (!found.ok())
    return found.status();
  std::shared_ptr<const ByteRuns> runs = std::move(found).value();
  if (!entry.put && entry.staged)
    batch.conversions.push_back({runs, entry.staged.get(), entry.variable});
  // A record by its number, and all of a variable that grows by its length.
  const int64_t records = entry.record >= 0 ? entry.record + 1 : variable.extendible ? -entry.rows - 1 : 0;
  const int64_t group = batch.layout ? batch.layout->group + 1 : 0;
  constexpr int64_t k_groups = int64_t{1} << 46;  // records end before
  batch.key.push_back({entry.variable, entry.decomposition->identity(),
                       (records * 16 + view + 1) * 2 + (entry.stored ? 1 : 0) + group * k_groups});
  mark(batch.variables, entry.variable);
  if (entry.decomposition->has_owned_flags())
    batch.owned_flags = 1;
  if (entry.decomposition->has_replicas())
    batch.replicas = 1;
  if (entry.decomposition->local().kind == DecompositionKind::points) {
    batch.points = std::max(batch.points, entry.decomposition->local().elements);
    batch.load = std::max(batch.load, trailing.value());
    batch.holes = std::max(batch.holes, entry.decomposition->holes());
  }
  if (!entry.put && entry.decomposition->local().kind == DecompositionKind::same)
    batch.shared_reads = 1;
  if (runs->total == 0)
    return {};
  if (split != nullptr && !in_parts)
    return add_parts(entry, *split, trailing.value(), batch);
  const int64_t stride = batch.layout ? 0 : variable.placement.stride;
  const int64_t row = entry.record >= 0 ? element_count(shape).value_or(0) * type
                      : stride > 0      ? element_count(shape.subspan(1)).value_or(0) * type
                                        : 0;
  if (entry.record < 0 && stride > 0 && stride != row)
    runs = interleaved(*runs, row, stride);
  const int64_t swap = swap_bytes(entry, variable);
  int64_t base = batch.layout ? 0 : place_of(static_cast<size_t>(entry.variable));
  if (entry.record >= 0 && !in_parts)
    base += batch.layout ? entry.record / layer_rows * grid.layer() * type : entry.record * (stride > 0 ? stride : row);
  if (stride > 0)
    batch.hull = {std::min(batch.hull.begin, runs->hull.begin + base), std::max(batch.hull.end, runs->hull.end + base)};
  batch.items.push_back({.runs = runs->runs,
                         .hull = {runs->hull.begin + base, runs->hull.end + base},
                         .total = runs->total,
                         .file_base = base,
                         .memory = entry.staged ? entry.staged->bytes.get() : entry.data,
                         .swap_bytes = swap,
                         .element_bytes = static_cast<int>(component_size(variable.type))});
  batch.bytes += runs->total;
  batch.pieces += runs->pieces;
  batch.long_bytes += runs->long_bytes;
  batch.long_pieces += runs->long_pieces;
  batch.runs.push_back(std::move(runs));
  return {};
}

Status File::build_batch(bool reading, int64_t ordinal, RequestBatch& batch) {
  batch.reading = reading;
  batch.variables.assign(variable_words(), 0);
  // Ranks may queue in any order; messages and requests go in the order of the file. Where a variable is read through
  // several decompositions, their order must not depend on the queue's either: a kept plan is found for any order.
  std::vector<const QueuedRequest*> entries;
  for (const QueuedRequest& entry : queue_) {
    if (entry.put == reading || entry.ordinal != ordinal ||
        catalog_.variables[static_cast<size_t>(entry.variable)].held)
      continue;
    const bool chunked = is_chunked(entry.variable);
    if (batch.takes(entry.variable, chunked))
      entries.push_back(&entry);
    if (chunked && !batch.layout)
      mark(batch.variables, entry.variable);
  }
  const auto place = [this](const QueuedRequest* entry) {
    return std::tuple(catalog_.variables[static_cast<size_t>(entry->variable)].placement.offset, entry->variable,
                      entry->decomposition->identity());
  };
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const QueuedRequest* a, const QueuedRequest* b) { return place(a) < place(b); });
  for (const QueuedRequest* entry : entries)
    if (Status status = add_to_batch(*entry, batch); !status.ok())
      return status;
  std::sort(batch.key.begin(), batch.key.end());
  if (subfiles_ && !batch.layout)
    sort_items(batch);
  if (batch.layout && !batch.items.empty())
    batch.hull = hull_of(batch);
  batch.largest_rank_bytes = batch.bytes;
  batch.ranks_with_data = batch.bytes > 0 ? 1 : 0;
  batch.entries = static_cast<int64_t>(batch.key.size());
  if (reading)
    batch.uniform_most = batch.uniform_least = number_of(batch, comm_->rank());
  if (!reading && !batch.layout && may_compress(batch))
    batch.sampled_ratio = look_at(batch.items);
  // One rank looks, so that all plan with the same answer; where it reads nothing itself it does not know where to
  // look.
  if (!batch.items.empty() && !batch.layout && reading && local_disk_ && comm_->host_roots().size() == 1 &&
      comm_->rank() == 0 && (strategy_.access == Access::automatic || strategy_.access == Access::contiguous))
    batch.in_memory = data_->in_memory(hull_of(batch)) ? 1 : 0;
  return {};
}

int64_t File::number_of(const RequestBatch& batch, int rank) const {
  const bool all_same = std::all_of(queue_.begin(), queue_.end(), [](const QueuedRequest& entry) {
    return entry.put || entry.decomposition->local().kind == DecompositionKind::same;
  });
  if (batch.key.empty() || !all_same)
    return -1 - rank;
  const auto* bytes = reinterpret_cast<const char*>(batch.key.data());
  return static_cast<int64_t>(hash_of({std::string_view(bytes, batch.key.size() * sizeof(batch.key.front()))}) >> 2);
}

// One agreement and no allocation: the lists' lengths depend on what all ranks know alike, and reduction_bits_ grew
// with the variables.
Status File::reduce_batches(Status local, std::initializer_list<RequestBatch*> batches,
                            std::initializer_list<BatchSummary*> numbers, int64_t* most, OrphanedPuts* orphaned) {
  constexpr size_t k_batches = 2, k_most = k_batches * k_pattern_maxima;
  std::array<int64_t, k_most + 1 + OrphanedPuts::k_maxima> maximum{};
  std::array<int64_t, k_batches * k_pattern_sums + 1> sum{};
  const auto sums_of = [&](size_t batch) { return PatternSums(sum.data() + batch * k_pattern_sums, k_pattern_sums); };
  const auto maxima_of = [&](size_t batch) {
    return PatternMaxima(maximum.data() + batch * k_pattern_maxima, k_pattern_maxima);
  };
  const auto orphaned_maxima = std::span(maximum).subspan(k_most + 1);
  std::fill(maximum.begin(), maximum.end(), -std::numeric_limits<int64_t>::max());
  const size_t words = variable_words();
  std::fill(reduction_bits_.begin(), reduction_bits_.end(), 0);
  const auto plan_bits_of = [&](size_t batch) {
    return reduction_bits_.begin() + static_cast<std::ptrdiff_t>(batches.size() * words + k_plan_words * batch);
  };
  if (local.ok()) {
    size_t i = 0;
    for (const RequestBatch* batch : batches) {
      pack(*batch, sums_of(i), maxima_of(i));
      std::copy(batch->variables.begin(), batch->variables.end(),
                reduction_bits_.begin() + static_cast<std::ptrdiff_t>(i * words));
      const PlanBits unfit = unfit_plans(*batch);
      std::copy(unfit.begin(), unfit.end(), plan_bits_of(i));
      ++i;
    }
    if (most != nullptr)
      maximum[k_most] = *most;
    if (orphaned != nullptr) {
      std::copy(orphaned->maximum.begin(), orphaned->maximum.end(), orphaned_maxima.begin());
      sum.back() = orphaned->sum;
    }
  }
  const Reduction reduction{.maximum = maximum,
                            .sum = sum,
                            .bits = std::span(reduction_bits_).first(batches.size() * (words + k_plan_words))};
  if (Status verdict = agree(*comm_, std::move(local), reduction); !verdict.ok())
    return verdict;
  size_t i = 0;
  for (BatchSummary* result : numbers) {
    unpack(sums_of(i), maxima_of(i), *result);
    result->kept_id = kept_id(std::span(plan_bits_of(i), k_plan_words));
    result->variables = std::span(reduction_bits_).subspan(i * words, words);
    ++i;
  }
  if (most != nullptr)
    *most = maximum[k_most];
  if (orphaned != nullptr) {
    std::copy(orphaned_maxima.begin(), orphaned_maxima.end(), orphaned->maximum.begin());
    orphaned->sum = sum.back();
  }
  return {};
}

Pattern File::pattern_of(bool reading, const BatchSummary& numbers) const {
  Pattern pattern{.reading = reading,
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
  std::map<int64_t, Extent> records;  // by subfile, of those that are moved
  bool interleaves = false;           // their records lie between each other: one region, of the records that are moved
  for (size_t i = 0; i < catalog_.variables.size(); ++i) {
    if (!is_among(i, numbers.variables))
      continue;
    const Variable& variable = catalog_.variables[i];
    if (component_size(variable.type) > 1 &&
        variable.placement.big_endian == (std::endian::native == std::endian::little))
      pattern.swapped = true;
    if (const Placement& place = catalog_.variables[i].placement; place.stride > 0)
      interleaves = interleaves || (place.bytes != 0 && place.offset >= 0);
    else if (const SplitVariable* split = subfiles_ ? subfiles_->find(static_cast<int>(i)) : nullptr;
             split != nullptr && split->grows)
      add_records(*split, numbers.records, records);
    else
      for_each_extent(i, [&](int64_t, Extent bytes) { pattern.regions.push_back(bytes); });
  }
  for (const auto& [subfile, bytes] : records)
    pattern.regions.push_back(bytes);
  if (interleaves && numbers.hull.begin < numbers.hull.end)
    pattern.regions.push_back(numbers.hull);
  std::sort(pattern.regions.begin(), pattern.regions.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  size_t kept = 0;
  for (const Extent& region : pattern.regions) {
    if (kept > 0 && region.begin < pattern.regions[kept - 1].end)
      pattern.overlapping = true;
    if (kept > 0 && region.begin <= pattern.regions[kept - 1].end)
      pattern.regions[kept - 1].end = std::max(pattern.regions[kept - 1].end, region.end);
    else
      pattern.regions[kept++] = region;
  }
  pattern.regions.resize(kept);
  int64_t bytes = 0;
  for (const Extent& region : pattern.regions)
    bytes += region.size();
  pattern.never_written = !reading && bytes > pattern.bytes && are_never_written(numbers.variables);
  return pattern;
}

AccessRule File::access_rule(const Plan& plan) const {
  // Between two files there is a gap that nobody reads over.
  const int64_t most = subfiles_ ? FileLine::k_unit : limits_.hole_bytes;
  return {.access = plan.strategy.access,
          .hole_bytes = std::min(limits_.hole_bytes, most),
          .read_before_bytes = plan.read_before_bytes};
}

Result<PreparedPlan*> File::ready_plan(const RequestBatch& batch, const BatchSummary& numbers) {
  const StageTimer timer(trace_, Stage::plan);
  if (numbers.kept_id > 0)
    return use_plan(numbers.kept_id);
  auto made = make_plan_for(batch, numbers);
  if (!made.ok()) {
    // Kept plans count on buffers that are gone when there was no memory for larger ones. All ranks know, so all forget
    // them.
    plans_.clear();
    return made.status();
  }
  // Room was made beforehand: from here on every rank has the plan.
  plans_.push_back(std::move(made).value());
  forget_oldest_plans();
  return plans_.back().get();
}

Result<std::unique_ptr<PreparedPlan>> File::make_plan_for(const RequestBatch& batch, const BatchSummary& numbers) {
  auto kept = std::unique_ptr<PreparedPlan>();
  Status local;
  if (asks_for_link(strategy_) && comm_->host_roots().size() > 1 && !comm_->link_measured()) {
    const auto probe = measure_link(*comm_, probe_allowance(*comm_, numbers.bytes));
    comm_->set_link(probe.ok() ? probe.value().seconds_per_byte : 0);
    if (probe.ok())
      trace_.probe_bytes += probe.value().sent;
    local = probe.status();
  }
  ChunkTargets targets;
  if (subfiles_ && deals_by_target())
    local = know_line_layout(std::move(local));
  if (batch.layout && deals_by_target())
    local = know_chunk_targets(batch, numbers, targets, std::move(local));
  if (local.ok())
    local = guard([&]() -> Status {
      kept = std::make_unique<PreparedPlan>();
      plans_.reserve(k_most_plans + 1);
      kept->key = batch.key;
      kept->runs = batch.runs;
      kept->direct_items.reserve(batch.items.size());
      kept->aggregated_items.reserve(batch.items.size());
      const Topology topology{.ranks = comm_->size(), .host_roots = comm_->host_roots(), .link_seconds = comm_->link()};
      kept->asked = strategy_;
      kept->limits = limits_;
      Strategy strategy = strategy_;
      PlanLimits limits = limits_;
      Pattern pattern = pattern_of(batch.reading, numbers);
      kept->layout = batch.layout;
      if (batch.layout)
        fit_to_chunks(batch, numbers, targets, strategy, pattern, limits);
      if (subfiles_ && !batch.layout)
        fit_to_subfiles(strategy, limits);
      auto plan = make_plan(strategy, pattern, topology, limits);
      if (!plan.ok())
        return plan.status();
      kept->plan = std::move(plan).value();
      kept->outdated = targets.guessed;
      if (targets.guessed)
        kept->plan.reasons.emplace_back(
            "some of these chunks are new: a flush finds their places, and goes by them; here they lie one behind the "
            "other");
      if (batch.layout)
        kept->plan.stripes_cut = std::nullopt;  // a chunk may lie in several stripes
      if (*targets.why != 0)
        kept->plan.reasons.push_back(fmt::format("domains aligned: {}", targets.why));
      else if (batch.layout && !targets.layout && kept->asked.domains != Domains::automatic &&
               kept->asked.domains != Domains::aligned)
        kept->plan.reasons.emplace_back("domains aligned: a variable with chunks is cut between them");
      if (batch.layout && kept->asked.gather != Gather::automatic && kept->asked.gather != Gather::none)
        kept->plan.reasons.emplace_back(
            "gather none: what a rank holds of a chunk goes to the one that encodes it, which no team could do for it");
      describe_files(kept->plan);
      describe_striping(striping_, kept->plan.reasons);
      // A window whose holes are filled is written whole.
      if (!batch.reading && !batch.layout && write_state_.any_needs_fill(numbers.variables))
        kept->plan.whole_windows = true;
      const Access access = kept->plan.strategy.access;
      for (auto& tuner : kept->tuners)
        tuner = make_tuner(*comm_, kept->plan);
      kept->direct =
          !kept->plan.has_domains() && !kept->plan.gathers() && (access == Access::list || access == Access::mapped);
      return {};
    });
  // Ranks that need no words with each other to get ready do so first, and one agreement is enough. A rank without a
  // plan goes to the agreement that comes first either way.
  const bool share = settings_.boolean("shared_memory");
  const bool talks = local.ok() && !kept->direct && Transfer::talks(*comm_, kept->plan, share);
  if (local.ok() && !talks)
    local = make_ready(*kept, batch, share, numbers.bytes);
  std::array<int64_t, 4> sums = local.ok() ? predicted(*kept) : std::array<int64_t, 4>{};
  std::array<int64_t, 1> memory{local.ok() ? kept->memory : 0};
  if (Status verdict = agree_on_decompositions(std::move(local), batch, sums, memory); !verdict.ok())
    return verdict;
  if (talks) {
    local = make_ready(*kept, batch, share, numbers.bytes);
    sums = local.ok() ? predicted(*kept) : std::array<int64_t, 4>{};
    memory = {local.ok() ? kept->memory : 0};
    if (Status verdict = agree(*comm_, std::move(local), Reduction{.maximum = memory, .sum = sums, .bits = {}});
        !verdict.ok())
      return verdict;
  }
  for (const bool behind : {false, true}) {
    auto& tuner = kept->tuners[behind ? 1 : 0];
    tuner = keep_tuner(*comm_, kept->plan, numbers.bytes, numbers.pieces, behind, std::move(tuner));
  }
  ++trace_.plans_made;
  kept->memory = memory[0];
  kept->id = next_plan_++;  // plans are made by all ranks together, so the numbers stay in step
  kept->forecast = {.messages = sums[0], .write_requests = sums[1], .read_requests = sums[2], .bytes = sums[3]};
  return kept;
}

// Collective when Transfer::talks(). The status is this rank's own.
Status File::make_ready(PreparedPlan& kept, const RequestBatch& batch, bool share, int64_t moved_bytes) {
  if (!kept.direct) {
    const Ways ways{.share = share, .check_messages = settings_.boolean("check_messages"), .moved_bytes = moved_bytes};
    auto transfer = Transfer::prepare(*comm_, kept.plan, part(kept, batch), ways, arena_, trace_);
    if (!transfer.ok())
      return transfer.status();
    kept.transfer = std::move(transfer).value();
  }
  if (Status status = guard([&] { return kept.memory = memory_of(kept), Status{}; }); !status.ok())
    return status;
  if (kept.layout)
    return guard([&] { return prepare_chunks(kept, batch); });
  if (Status status = guard([&] { return prepare_storage(kept, batch); }); !status.ok())
    return status;
  const auto& regions = kept.plan.regions;
  // What was never written is read as something, not as the end of the file; but where a file ended before its
  // variables do when it was opened, it is damaged.
  const bool reads = (batch.reading && !ends_early_) || kept.plan.strategy.access == Access::sieve;
  if (comm_->rank() == 0 && mode_ != Mode::read && reads && !regions.empty())
    return data_->extend(regions);
  return {};
}

// Collective. What is written is disjoint because a decomposition's ranks share it out among themselves; that holds
// only when all ranks put a variable through the same one. `most`: becomes the largest of all ranks.
Status File::agree_on_decompositions(Status local, const RequestBatch& batch, std::span<int64_t> sums,
                                     std::span<int64_t> most) {
  if (batch.reading)
    return agree(*comm_, std::move(local), Reduction{.maximum = most, .sum = sums, .bits = {}});
  const size_t variables = catalog_.variables.size();
  constexpr int64_t unput = -std::numeric_limits<int64_t>::max();
  // Per variable: the largest identity, and the largest negated one. The memory grew with the variables.
  const std::span<int64_t> both = std::span(reduction_identities_).first(2 * variables + most.size());
  std::fill(both.begin(), both.end(), unput);
  std::copy(most.begin(), most.end(), both.end() - static_cast<std::ptrdiff_t>(most.size()));
  for (const auto& [variable, identity, view] : batch.key) {
    both[2 * static_cast<size_t>(variable)] = identity;
    both[2 * static_cast<size_t>(variable) + 1] = -identity;
  }
  if (Status verdict = agree(*comm_, std::move(local), Reduction{.maximum = both, .sum = sums, .bits = {}});
      !verdict.ok())
    return verdict;
  std::copy_n(both.end() - static_cast<std::ptrdiff_t>(most.size()), most.size(), most.begin());
  for (size_t i = 0; i < variables; ++i) {
    if (both[2 * i] == -both[2 * i + 1] || both[2 * i] == unput)
      continue;
    Status differs{Code::bad_argument, ""};
    (void)guard([&] {
      differs = {
          Code::bad_argument,
          fmt::format("\"{}\" is put through different decompositions by different ranks; all ranks must use the "
                      "same ones in the same order",
                      catalog_.variables[i].path)};
      return Status{};
    });
    return differs;
  }
  return {};
}

// For elements in the other byte order that go their own way.
void File::reserve_bounce(std::span<const Item> items, PreparedPlan& kept) {
  const bool swaps = std::any_of(items.begin(), items.end(), [](const Item& item) { return item.swap_bytes > 1; });
  if (!swaps)
    return;
  if (bounce_.empty()) {
    bounce_.resize(static_cast<size_t>(bounce_bytes()));
    ++trace_.allocations;
  }
  kept.beside += bounce_bytes();
}

// Each item to those that their holder moves itself, to those that are aggregated, or in two parts to both. Allocates
// nothing: the lists have had their room since the plan was made.
std::span<const Item> File::part(PreparedPlan& kept, const RequestBatch& batch) {
  if (kept.plan.direct_bytes == 0)
    return batch.items;
  kept.direct_items.clear();
  kept.aggregated_items.clear();
  for (size_t i = 0; i < batch.items.size(); ++i) {
    const Item& item = batch.items[i];
    const ByteRuns& bytes = *kept.runs[i];
    if (bytes.long_pieces == 0)
      kept.aggregated_items.push_back(item);
    if (bytes.long_pieces > 0 && bytes.long_pieces == bytes.pieces)
      kept.direct_items.push_back(item);
    if (bytes.short_runs.empty())
      continue;
    kept.aggregated_items.push_back(
        make_item(bytes.short_runs, item.file_base, item.memory, item.swap_bytes, item.element_bytes));
    kept.direct_items.push_back(make_item(bytes.long_runs, item.file_base, item.memory, item.swap_bytes));
  }
  return kept.aggregated_items;
}

Status File::prepare_storage(PreparedPlan& kept, const RequestBatch& batch) {
  PlanForecast& forecast = kept.forecast;
  forecast.bytes = batch.bytes;
  int64_t& requests = batch.reading ? forecast.read_requests : forecast.write_requests;
  if (kept.direct) {
    reserve_bounce(batch.items, kept);
    if (kept.plan.strategy.access != Access::mapped)
      requests = direct_requests(batch.items, bounce_bytes());
    return {};
  }
  forecast.messages = kept.transfer->expected_messages();
  reserve_bounce(kept.direct_items, kept);
  requests = direct_requests(kept.direct_items, bounce_bytes());
  int64_t scratch = 0;
  kept.transfer->for_each_storage_window([&](const Window& window, PieceView covered) {
    ++kept.storage_windows;
    window.for_each_part([&](Extent part, int64_t) {
      const AccessRule rule = access_rule(kept.plan);
      for_each_request(rule, part, covered, [&](const Request& request) {
        ++requests;
        if (!request.holes || batch.reading)
          return;
        forecast.read_requests += reads_before(rule, request);
        scratch = std::max(scratch, std::min(rule.read_before_bytes, request.bytes.size()));
      });
    });
  });
  kept.beside += scratch;
  if (scratch > data_->reserved())
    ++trace_.allocations;
  return data_->reserve(scratch);
}

Status File::grow_reduction(size_t variables) {
  return guard([&] {
    reduction_bits_.resize(2 * ((variables + 63) / 64 + k_plan_words));
    reduction_identities_.resize(2 * variables + 1);  // and the memory of a plan
    chunked_bits_.resize(2 * ((variables + 63) / 64));
    wanted_rows_.resize(variables);
    places_.resize(variables);
    write_state_.grow(variables);
    return Status{};
  });
}

std::string File::names_of(WriteState::Flag which) const {
  std::string names;
  constexpr int k_shown = 8;
  int shown = 0;
  for (size_t i = 0; i < catalog_.variables.size(); ++i) {
    if (!(write_state_[i].*which))
      continue;
    if (++shown <= k_shown)
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", catalog_.variables[i].path);
  }
  if (shown > k_shown)
    names += fmt::format(" and {} more", shown - k_shown);
  return names;
}

}  // namespace windrow
