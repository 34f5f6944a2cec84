// SPDX-License-Identifier: BSD-3-Clause
#include "batching/record_requests.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "allocation/space_allocator.hpp"

namespace windrow {
namespace {

// All these puts are to one variable.
int64_t bytes_of_new_records(std::span<const QueuedRequest* const> puts, const FileView& file,
                             const RunOptions& options) {
  std::set<int64_t> records;
  const QueuedRequest& first = *puts.front();
  const Variable& target = file.catalog().variables[static_cast<size_t>(first.variable)];
  const int64_t filled = file.write_state[static_cast<size_t>(first.variable)].filled_records;
  int64_t bytes = 0;
  for (const QueuedRequest* put : puts) {
    if (put->record < 0 || put->decomposition != first.decomposition || !records.insert(put->record).second)
      return 0;
    if (put->record < filled)
      continue;
    const auto trailing = trailing_elements(*put, target);
    if (!trailing.ok())
      return 0;
    const auto runs = runs_of(*put, target, trailing.value() * element_bytes(target.type, target.details), options);
    if (!runs.ok())
      return 0;
    bytes += runs.value()->total;
  }
  return bytes;
}

}  // namespace

Status count_wanted(const RequestList& requests, const FileView& file, std::span<int64_t> wanted) {
  for (const QueuedRequest& request : requests.requests()) {
    const auto number = static_cast<size_t>(request.variable);
    const Variable& variable = file.catalog().variables[number];
    if (!request.put || (request.record < 0 && !variable.is_inline))
      continue;
    wanted[number] = std::max(wanted[number], variable.is_inline ? request.ordinal + 1 : request.record + 1);
    if (!variable.extendible || wanted[number] <= variable.shape.front())
      continue;
    const bool has_room = file.subfiles == nullptr || file.set.has_room_for(wanted[number]);
    if (Status status = check_growth(variable, wanted[number], has_room); !status.ok())
      return status;
  }
  return {};
}

Status count_new_records(const RequestList& requests, const FileView& file, const RunOptions& options,
                         std::span<int64_t> bytes) {
  const FillManager filling = file.filling();
  std::vector<const QueuedRequest*> puts;
  for (const QueuedRequest& request : requests.requests())
    if (request.put && filling.has_unfilled_records(static_cast<size_t>(request.variable)))
      puts.push_back(&request);
  std::stable_sort(puts.begin(), puts.end(),
                   [](const QueuedRequest* a, const QueuedRequest* b) { return a->variable < b->variable; });
  for (auto begin = puts.begin(); begin != puts.end();) {
    const int variable = (*begin)->variable;
    const auto end =
        std::find_if(begin, puts.end(), [&](const QueuedRequest* each) { return each->variable != variable; });
    bytes[static_cast<size_t>(variable)] = bytes_of_new_records({begin, end}, file, options);
    begin = end;
  }
  return {};
}

}  // namespace windrow
