// SPDX-License-Identifier: BSD-3-Clause
// A set's data on their way: puts and gets of split variables as items, and what a plan has to know of several files.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "session/file.hpp"

namespace windrow {

namespace {

// How so many records of a variable that grows are cut.
Result<Split> with_records(const Split& of_one, int64_t records) {
  auto bounds = of_one.bounds();
  bounds[0] = {0, records};
  return Split::make(std::move(bounds));
}

// Lists that follow each other, each from its place on.
Pieces one_after_another(std::span<const std::pair<int64_t, Pieces>> lists) {
  if (lists.size() == 1 && lists.front().first == 0)
    return lists.front().second;
  PiecesBuilder all;
  for (const auto& [place, list] : lists)
    for (NestCursor cursor(list); !cursor.done(); cursor.next()) {
      Nest nest = cursor.nest();
      nest.run.file += place;
      all.add(nest);
    }
  return all.take();
}

}  // namespace

// Local: a put or get of a variable that is split, as one item for each part that this rank has elements of.
Status File::add_parts(const QueuedRequest& entry, const SplitVariable& split, int64_t trailing, VariableBatch& batch) {
  const Variable& variable = catalog_.variables[static_cast<size_t>(entry.variable)];
  const int64_t row =
      entry.record < 0 ? 0 : checked_product(std::span<const int64_t>(variable.shape).subspan(1)).value_or(0);
  const int64_t record = std::max<int64_t>(0, entry.record);
  Split all;  // of what grows: as many records as it had when this was queued
  if (split.grows && entry.record < 0) {
    auto made = with_records(split.split, entry.rows);
    if (!made.ok())
      return made.status();
    all = std::move(made).value();
  }
  const Split& used = split.grows && entry.record < 0 ? all : split.split;
  const SharedDecomposition::Cut cut{used, trailing, split.element_bytes, split.grows ? 0 : record * row,
                                     planner_.limits().direct_bytes};
  if (split.grows) {
    const Extent moved = entry.record < 0 ? Extent{0, entry.rows} : Extent{record, record + 1};
    batch.records = {std::min(batch.records.begin, moved.begin), std::max(batch.records.end, moved.end)};
  }
  auto found =
      entry.put ? entry.decomposition->write_parts(owner_of(entry), cut) : entry.decomposition->read_parts(cut);
  if (!found.ok())
    return {found.status().code(),
            fmt::format("{} of \"{}\": {}", entry.put ? "put" : "get", variable.path, found.status().message())};
  const int64_t swap = swap_bytes(entry, variable);
  for (auto& [part, runs] : found.value()) {
    if (runs->total == 0)
      continue;
    if (Status fault = subfiles_->fault_of(part); !fault.ok())
      return {fault.code(), fmt::format("{} of \"{}\" in \"{}\": {}", entry.put ? "put" : "get", variable.path, path_,
                                        fault.message())};
    const int64_t stride = split.strides[static_cast<size_t>(part)];
    const int64_t base = subfiles_->place(split, part) + (split.grows ? record * stride : 0);
    if (split.grows && entry.record < 0 && stride != split.row_bytes(part))
      runs = interleaved(*runs, split.row_bytes(part), stride);
    batch.add(
        runs, base,
        {entry.staged ? entry.staged->bytes.get() : entry.data, swap, static_cast<int>(component_size(variable.type))});
  }
  return {};
}

// Local: a put or get in the line of some parts' chunks.
Result<std::shared_ptr<const ByteRuns>> File::runs_of_parts(const QueuedRequest& entry, const SplitVariable& split,
                                                            VariableBatch& batch, int64_t trailing) {
  const Variable& variable = catalog_.variables[static_cast<size_t>(entry.variable)];
  const auto named = [&](const Status& status) {
    return Status{
        status.code(),
        fmt::format("{} of \"{}\" in \"{}\": {}", entry.put ? "put" : "get", variable.path, path_, status.message()),
        status.rank()};
  };
  auto bytes = std::make_shared<ByteRuns>();
  const bool all = split.grows && entry.record < 0;
  if (all && entry.rows == 0)
    return std::shared_ptr<const ByteRuns>(std::move(bytes));
  const int64_t record = std::max<int64_t>(0, entry.record);
  const int64_t row =
      record == 0 ? 0 : checked_product(std::span<const int64_t>(variable.shape).subspan(1)).value_or(0);
  const auto used = all ? with_records(split.split, entry.rows) : Result<Split>(split.split);
  if (!used.ok())
    return named(used.status());
  const SharedDecomposition::Cut cut{used.value(), trailing, split.element_bytes, split.grows ? 0 : record * row,
                                     planner_.limits().direct_bytes};
  auto parts =
      entry.put ? entry.decomposition->write_parts(owner_of(entry), cut) : entry.decomposition->read_parts(cut);
  if (!parts.ok())
    return named(parts.status());
  const ChunkLayout& layout = *batch.layout;
  std::vector<std::pair<int64_t, Pieces>> placed;  // first element in the line, and what follows from there
  auto at = layout.parts.begin();
  for (const auto& [part, runs] : parts.value()) {
    at = std::partition_point(at, layout.parts.end(),
                              [number = part](const ChunkPart& each) { return each.number < number; });
    if (at == layout.parts.end())
      break;
    if (at->number != part || runs->total == 0)
      continue;
    if (Status fault = subfiles_->fault_of(part); !fault.ok())
      return named(fault);
    const int64_t first = split.grows ? record * split.split.elements(part) : 0;
    placed.emplace_back(at->first * at->grid.elements(), at->grid.place(PieceView(runs->elements, 1), first));
  }
  if (split.grows && !placed.empty()) {
    const Extent moved = all ? Extent{0, entry.rows} : Extent{record, record + 1};
    batch.records = {std::min(batch.records.begin, moved.begin), std::max(batch.records.end, moved.end)};
  }
  if (!placed.empty())
    bytes->elements = with_runs(one_after_another(placed));
  bytes->see(PieceView(bytes->elements, split.element_bytes));
  return std::shared_ptr<const ByteRuns>(std::move(bytes));
}

// The same on every rank. Those whose chunks have as many elements are one line; short parts have chunks as short as
// themselves.
Result<std::vector<std::shared_ptr<const ChunkLayout>>> File::layouts_of_parts(int variable) const {
  const SplitVariable& split = *subfiles_->find(variable);
  const Variable& whole = catalog_.variables[static_cast<size_t>(variable)];
  std::map<int64_t, std::shared_ptr<ChunkLayout>> groups;  // by elements of a chunk
  for (int64_t number = 0; number < split.split.parts(); ++number) {
    auto chunking = split.chunking(number);
    if (!chunking.ok())
      return chunking.status();
    auto grid = ChunkGrid::make(split.shape(number), chunking.value().shape);
    if (!grid.ok())
      return Status{grid.status().code(), fmt::format("\"{}\": {}", whole.path, grid.status().message())};
    auto& layout = groups[grid.value().elements()];
    if (!layout) {
      layout = std::make_shared<ChunkLayout>();
      layout->path = whole.path;
      layout->fill_value = whole.fill;
      layout->element_bytes = element_bytes(whole.type, whole.details);
    }
    const int64_t first = layout->parts.empty() ? 0 : layout->count();
    const FileLine& line = subfiles_->line();
    layout->parts.push_back({number, std::move(grid).value(), std::move(chunking).value(), first,
                             subfiles_->owner_of(number, comm_->size()), line.place(number + 1, 0), line.room});
    if (layout->count() > (int64_t{1} << 62) / layout->chunk_bytes())
      return Status{Code::bad_argument,
                    fmt::format("\"{}\": its chunks together have more than 2^62 bytes", whole.path)};
  }
  std::vector<std::shared_ptr<const ChunkLayout>> layouts;
  for (auto& [elements, layout] : groups) {
    layout->group = static_cast<int64_t>(layouts.size());
    layouts.push_back(std::move(layout));
  }
  return layouts;
}

// Where the index of a part's chunks is.
Result<Format*> File::format_of(const ChunkPart& part) {
  if (part.number < 0)
    return format_.get();
  const FormatMode mode = mode_ == Mode::read     ? FormatMode::read
                          : mode_ == Mode::create ? FormatMode::create
                                                  : FormatMode::update;
  return subfiles_->format(part.number, mode);
}

// Items in the order of the line, whatever variable they are of; the lists of both go together.
void File::sort_items(VariableBatch& batch) {
  std::vector<size_t> order(batch.items.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return batch.items[a].file_base < batch.items[b].file_base; });
  std::vector<Item> items;
  std::vector<std::shared_ptr<const ByteRuns>> runs;
  for (const size_t i : order) {
    items.push_back(batch.items[i]);
    runs.push_back(std::move(batch.runs[i]));
  }
  batch.items = std::move(items);
  batch.runs = std::move(runs);
}

}  // namespace windrow
