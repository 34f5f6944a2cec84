// SPDX-License-Identifier: BSD-3-Clause
// From the queue to items, and what a plan of theirs has to know.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <tuple>

#include "base/numbering.hpp"
#include "base/units.hpp"
#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "format/check.hpp"
#include "planning/batch_summary.hpp"
#include "session/batch_contexts.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

// From the first to the last byte that this rank is to move.
Extent hull_of(const VariableBatch& batch) noexcept {
  Extent all{INT64_MAX, 0};
  for (const Item& item : batch.items)
    all = {std::min(all.begin, item.hull.begin), std::max(all.end, item.hull.end)};
  return all;
}

// Of what every rank gets, where all get the same.
int64_t number_of(std::span<const BatchKey> key) {
  const auto* bytes = reinterpret_cast<const char*>(key.data());
  return static_cast<int64_t>(hash_of({std::string_view(bytes, key.size_bytes())}) >> 2);
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
  return entry.decomposition->owner_for(planner_.strategy().owner);
}

// What this rank writes or reads for an entry: in bytes for elements of `element` bytes, or in those of its chunks'
// line.
Result<std::shared_ptr<const ByteRuns>> File::runs_of(const QueuedRequest& entry, int64_t element,
                                                      const SharedDecomposition::Line* line) {
  SharedDecomposition& decomposition = *entry.decomposition;
  if (!entry.put)
    return line ? decomposition.read_line(*line) : decomposition.read_runs(element, planner_.limits().direct_bytes);
  auto owned = line ? decomposition.write_line(owner_of(entry), *line)
                    : decomposition.write_runs(owner_of(entry), element, planner_.limits().direct_bytes);
  if (owned.ok())
    return owned;
  const std::string& path = catalog_.variables[static_cast<size_t>(entry.variable)].path;
  return Status{owned.status().code(), fmt::format("put of \"{}\": {}", path, owned.status().message()),
                owned.status().rank()};
}

Status File::add_to_batch(const QueuedRequest& entry, VariableBatch& batch) {
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
  mark(batch.objects, entry.variable);
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
  batch.add(
      std::move(runs), base,
      {entry.staged ? entry.staged->bytes.get() : entry.data, swap, static_cast<int>(component_size(variable.type))});
  return {};
}

// Sorted once for all batches of a flush: each chunked variable has one, which would look through the whole queue.
std::span<const QueuedRequest* const> File::entries_of(bool put, int64_t ordinal, int variable) {
  const auto place = [](const QueuedRequest* entry) { return std::tuple(entry->put, entry->ordinal, entry->variable); };
  if (sorted_queue_.empty()) {
    std::vector<const QueuedRequest*> sorted;
    sorted.reserve(queue_.size());
    for (const QueuedRequest& entry : queue_)
      sorted.push_back(&entry);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const QueuedRequest* a, const QueuedRequest* b) { return place(a) < place(b); });
    sorted_queue_ = std::move(sorted);
  }
  const std::tuple from(put, ordinal, std::max(variable, 0));
  const std::tuple to(put, ordinal, variable < 0 ? std::numeric_limits<int>::max() : variable);
  const auto begin = std::partition_point(sorted_queue_.begin(), sorted_queue_.end(),
                                          [&](const QueuedRequest* each) { return place(each) < from; });
  const auto end =
      std::partition_point(begin, sorted_queue_.end(), [&](const QueuedRequest* each) { return place(each) <= to; });
  return {begin, end};
}

Status File::build_batch(bool reading, int64_t ordinal, VariableBatch& batch) {
  batch.reading = reading;
  batch.objects.assign(variable_words(), 0);
  // Ranks may queue in any order; messages and requests go in the order of the file. Where a variable is read through
  // several decompositions, their order must not depend on the queue's either: a kept plan is found for any order.
  std::vector<const QueuedRequest*> entries;
  for (const QueuedRequest* entry : entries_of(!reading, ordinal, batch.layout ? batch.variable : -1)) {
    if (catalog_.variables[static_cast<size_t>(entry->variable)].held)
      continue;
    const bool chunked = is_chunked(entry->variable);
    if (batch.takes(entry->variable, chunked))
      entries.push_back(entry);
    if (chunked && !batch.layout)
      mark(batch.objects, entry->variable);
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
  batch.finish(comm_->rank());
  if (subfiles_ && !batch.layout)
    sort_items(batch);
  if (batch.layout && !batch.items.empty())
    batch.hull = hull_of(batch);
  const auto is_same = [](const QueuedRequest* entry) {
    return entry->decomposition->local().kind == DecompositionKind::same;
  };
  if (reading && !batch.key.empty() && std::all_of(entries.begin(), entries.end(), is_same))
    batch.uniform_most = batch.uniform_least = number_of(batch.key);
  if (!reading && !batch.layout && planner_.may_compress(batch))
    batch.sampled_ratio = look_at(batch.items);
  // One rank looks, so that all plan with the same answer; where it reads nothing itself it does not know where to
  // look.
  if (!batch.items.empty() && !batch.layout && reading && local_disk_ && comm_->host_roots().size() == 1 &&
      comm_->rank() == 0 &&
      (planner_.strategy().access == Access::automatic || planner_.strategy().access == Access::contiguous))
    batch.in_memory = data_->in_memory(hull_of(batch)) ? 1 : 0;
  return {};
}

// One agreement and no allocation.
Status File::reduce_batches(Status local, std::initializer_list<const RequestBatch*> batches,
                            std::initializer_list<BatchSummary*> numbers, int64_t* most, OrphanedPuts* orphaned) {
  Planner::Extra extra;
  static_assert(extra.maximum.size() == 1 + OrphanedPuts::k_maxima);
  extra.maximum.fill(-std::numeric_limits<int64_t>::max());
  if (most != nullptr)
    extra.maximum[0] = *most;
  if (orphaned != nullptr) {
    std::copy(orphaned->maximum.begin(), orphaned->maximum.end(), extra.maximum.begin() + 1);
    extra.sum[0] = orphaned->sum;
  }
  planner_.set_objects(catalog_.variables.size());
  if (Status verdict = planner_.summarize(std::move(local), batches, numbers, &extra); !verdict.ok())
    return verdict;
  if (most != nullptr)
    *most = extra.maximum[0];
  if (orphaned != nullptr) {
    std::copy(extra.maximum.begin() + 1, extra.maximum.end(), orphaned->maximum.begin());
    orphaned->sum = extra.sum[0];
  }
  return {};
}

VariableStorage File::storage_of_variables() const noexcept {
  return {.comm = *comm_,
          .file = *data_,
          .catalog = catalog_,
          .subfiles = subfiles_.get(),
          .write_state = write_state_,
          .striping = striping_,
          .files_reason = set_.wanted().why,
          .is_new = mode_ == Mode::create,
          .is_writable = mode_ != Mode::read,
          .is_cut_short = ends_early_};
}

// Collective, and agreed.
Result<PreparedPlan*> File::ready_plan(const VariableBatch& batch, const BatchSummary& numbers) {
  const VariableStorage storage = storage_of_variables();
  ChunkTargets targets;
  Status local;
  if (numbers.plan_id == 0 && deals_by_target()) {
    const StageTimer timer(trace_, Stage::plan);
    if (subfiles_)
      local = set_.find_layouts(std::move(local), striping_options_, striping_.layout);
    if (batch.layout)
      local = know_chunk_targets(batch, numbers, targets, std::move(local));
  }
  if (batch.layout)
    return planner_.ready(batch, numbers,
                          ChunkedContext(storage, numbers, batch.layout, targets,
                                         [this](const ChunkPart& part) { return format_of(part); }),
                          std::move(local));
  if (subfiles_)
    return planner_.ready(batch, numbers,
                          SplitContext(storage, numbers, deals_by_target() ? set_.line_layout() : nullptr),
                          std::move(local));
  return planner_.ready(batch, numbers, VariableContext(storage, numbers), std::move(local));
}

Status File::grow_reduction(size_t variables) {
  if (Status status = planner_.grow(variables); !status.ok())
    return status;
  return guard([&] {
    chunked_bits_.resize(2 * ((variables + 63) / 64));
    allocator_.reserve(variables);
    write_state_.grow(variables);
    return Status{};
  });
}

FillManager File::filling() {
  return FillManager({.comm = *comm_,
                      .space = space(),
                      .write_state = write_state_,
                      .file = *data_,
                      .layout = layout_.get(),
                      .publication = publication_,
                      .grows_as_one = traits().grows_as_one});
}

// Local; all ranks call it alike. A chunked variable moves in a batch of its own.
void File::start_writing(const VariableBatch& batch, std::span<const int64_t> variables) noexcept {
  write_state_.start_writing(variables, [&](size_t i) { return batch.layout || !is_chunked(static_cast<int>(i)); });
}

// After a failure: variables of which earlier batches of this flush have written some puts, and the others are not
// written.
void File::mark_unfinished() {
  if (put_batches_ <= 1)
    return;
  for (const auto& [variable, count] : put_counts_)
    if (count > std::max<int64_t>(put_batch_, 1))
      write_state_[static_cast<size_t>(variable)].moving = true;
  const std::span<int64_t> bits = std::span(chunked_bits_).first(variable_words());
  write_state_.pack(&VariableState::moving, bits);
  (void)agree(*comm_, Status{}, Reduction{.maximum = {}, .sum = {}, .bits = bits});
  write_state_.unpack(&VariableState::moving, bits);
}

}  // namespace windrow
