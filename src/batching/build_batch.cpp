// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/numbering.hpp"
#include "base/units.hpp"
#include "batching/variable_storage.hpp"
#include "comm/same.hpp"
#include "format/check.hpp"
#include "queueing/request_list.hpp"

namespace windrow {
namespace {

// A hash of the key. Equal hashes on all ranks mean that all ranks get the same elements.
int64_t number_of(std::span<const BatchKey> key) {
  const auto* bytes = reinterpret_cast<const char*>(key.data());
  return static_cast<int64_t>(hash_of({std::string_view(bytes, key.size_bytes())}) >> 2);
}

void mark(std::vector<int64_t>& bits, int number) noexcept {
  bits[static_cast<size_t>(number) / 64] |= static_cast<int64_t>(uint64_t{1} << (number % 64));
}

bool is_by_same(const QueuedRequest& request) noexcept {
  return request.decomposition->local().kind == DecompositionKind::same;
}

// The key of a request in the plan cache: the variable, the decomposition, and the rest in one number: the record or
// the number of records, the owner policy, the byte order in memory, and the plan group.
BatchKey key_of(const QueuedRequest& request, const Variable& variable, int64_t group, const RunOptions& options) {
  constexpr int64_t k_groups = int64_t{1} << 46;  // the other terms are less than this
  const int64_t view = request.put ? static_cast<int64_t>(owner_of(request, options)) : -1;
  const int64_t records = request.record >= 0 ? request.record + 1 : variable.extendible ? -request.rows - 1 : 0;
  return {request.variable, request.decomposition->identity(),
          (records * 16 + view + 1) * 2 + (request.stored ? 1 : 0) + group * k_groups};
}

// Adds the properties of the decomposition to the pattern of the batch.
void count_decomposition(const QueuedRequest& request, int64_t trailing, VariableBatch& batch) noexcept {
  const SharedDecomposition& by = *request.decomposition;
  if (by.has_owned_flags())
    batch.owned_flags = 1;
  if (by.has_replicas())
    batch.replicas = 1;
  if (by.local().kind == DecompositionKind::points) {
    batch.points = std::max(batch.points, by.local().elements);
    batch.load = std::max(batch.load, trailing);
    batch.holes = std::max(batch.holes, by.holes());
  }
  if (!request.put && is_by_same(request))
    batch.shared_reads = 1;
}

Status add_request(const QueuedRequest& request, const Variable& variable, const VariableStorage& storage,
                   FlushEngine& engine, VariableBatch& batch) {
  // The shape has the number of records when the request was queued: later requests of the flush may have added
  // records.
  std::array<int64_t, k_most_dimensions> sizes{};
  std::copy(variable.shape.begin(), variable.shape.end(), sizes.begin());
  if (request.record < 0 && variable.extendible)
    sizes[0] = std::min(request.rows, variable.shape.front());
  const auto shape = std::span<const int64_t>(sizes).first(variable.shape.size()).subspan(request.record >= 0 ? 1 : 0);
  const auto trailing = load(request.decomposition->local(), shape);
  if (!trailing.ok())
    return trailing.status();
  if (request.record >= 0 && request.record >= variable.shape.front())
    return {Code::bad_argument, fmt::format("\"{}\" has {}; there is no number {} to {}", variable.path,
                                            counted(variable.shape.front(), "record"), shown_index(request.record),
                                            request.put ? "write" : "read")};
  const VariableRequest whole{.request = request,
                              .variable = variable,
                              .trailing = trailing.value(),
                              .element_bytes = element_bytes(variable.type, variable.details)};
  if (request.put && request.staged)
    engine.trace.values_clamped += request.staged->out_of_range;
  if (!request.put)
    batch.completion.add_duplicates(request, whole.trailing, whole.element_bytes);
  auto runs = storage.runs_of(whole, batch);
  if (!runs.ok())
    return runs.status();
  if (!request.put)
    batch.completion.add_conversion(request, runs.value());
  batch.key.push_back(key_of(request, variable, storage.plan_group(), engine.run_options()));
  mark(batch.objects, request.variable);
  count_decomposition(request, whole.trailing, batch);
  if (runs.value()->total == 0)
    return {};
  return storage.add_items(whole, std::move(runs).value(), batch);
}

}  // namespace

Status build_batch(const CallArguments& call, FlushEngine& engine, const VariableStorage& storage, BatchKind kind,
                   VariableBatch& batch) {
  const auto& variables = call.file.catalog().variables;
  batch.reading = kind.reading;
  batch.objects.assign((variables.size() + 63) / 64, 0);
  std::vector<const QueuedRequest*> moved;
  for (const QueuedRequest* request : call.requests.entries_of(!kind.reading, kind.ordinal, storage.variable())) {
    const Variable& variable = variables[static_cast<size_t>(request->variable)];
    if (variable.is_inline)
      continue;
    if (storage.moves(request->variable, variable))
      moved.push_back(request);
    else
      mark(batch.objects, request->variable);  // it moves in another batch
  }
  // Ranks may queue in any order, but messages and requests follow the order of the file. If a variable is read through
  // several decompositions, their order does not depend on the queue either, so that a cached plan matches any order.
  const auto place = [&](const QueuedRequest* request) {
    return std::tuple(variables[static_cast<size_t>(request->variable)].placement.offset, request->variable,
                      request->decomposition->identity());
  };
  std::stable_sort(moved.begin(), moved.end(),
                   [&](const QueuedRequest* a, const QueuedRequest* b) { return place(a) < place(b); });
  for (const QueuedRequest* request : moved) {
    const Variable& variable = variables[static_cast<size_t>(request->variable)];
    if (Status status = add_request(*request, variable, storage, engine, batch); !status.ok())
      return status;
  }
  batch.finish(call.file.comm.rank());
  if (kind.reading && !batch.key.empty() &&
      std::all_of(moved.begin(), moved.end(), [](const QueuedRequest* each) { return is_by_same(*each); }))
    batch.uniform_most = batch.uniform_least = number_of(batch.key);
  storage.finish_batch(batch);
  return {};
}

}  // namespace windrow
