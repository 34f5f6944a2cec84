// SPDX-License-Identifier: BSD-3-Clause
// Variables that grow: before a flush moves data, they become as long as the queue asks for.
#include <algorithm>
#include <set>
#include <utility>

#include "comm/agree.hpp"
#include "session/file.hpp"

namespace windrow {

// Local: how long the queue of this rank wants each variable. For a variable that lies in metadata it is the number of
// puts.
Status File::count_wanted(std::span<int64_t> wanted) const {
  for (const QueuedRequest& entry : queue_.list().requests()) {
    const auto number = static_cast<size_t>(entry.variable);
    const Variable& variable = catalog_.variables[number];
    if (!entry.put || (entry.record < 0 && !variable.held))
      continue;
    wanted[number] = std::max(wanted[number], variable.held ? entry.ordinal + 1 : entry.record + 1);
    if (!variable.extendible || wanted[number] <= variable.shape.front())
      continue;
    if (Status status = check_growth(variable, wanted[number], !subfiles_ || set_.has_room_for(wanted[number]));
        !status.ok())
      return status;
  }
  return {};
}

// Collective. One agreement, and one more if a variable gets a place or grows.
Status File::extend_for_queue(Status local) {
  const std::span<int64_t> wanted = allocator_.start_wanted();
  if (local.ok())
    local = guard([&] { return count_wanted(wanted); });
  if (Status verdict = allocator_.agree_on_wanted(std::move(local)); !verdict.ok())
    return verdict;
  if (Status verdict =
          InlineVariables(*comm_, metadata_, format_.get(), settings_, queue_.run_options(), flush_.engine().trace)
              .write(queue_.list(), wanted);
      !verdict.ok())
    return verdict;
  if (Status verdict = allocator_.give_places(format_.get()); !verdict.ok())
    return verdict;
  if (!allocator_.any_grows())
    return {};
  // The caches know the old lengths.
  const auto forget = [&](int variable) { flush_.forget_chunks_of(variable, metadata_.variable(variable).path); };
  if (Status verdict = allocator_.extend(formats(), forget); !verdict.ok())
    return verdict;
  size_check_.restart();
  grow_as_one(0);
  update_set();
  return {};
}

// Local: how many bytes of unfilled records this rank writes by these puts, which are all to one variable. 0 if records
// might be written twice: then the number says nothing.
int64_t File::bytes_of_new_records(std::span<const QueuedRequest* const> puts) {
  std::set<int64_t> records;
  const SharedDecomposition* through = puts.front()->decomposition.get();
  const auto variable = static_cast<size_t>(puts.front()->variable);
  const Variable& target = catalog_.variables[variable];
  int64_t bytes = 0;
  for (const QueuedRequest* put : puts) {
    const QueuedRequest& entry = *put;
    if (entry.record < 0 || through != entry.decomposition.get() || !records.insert(entry.record).second)
      return 0;
    if (entry.record < write_state_[variable].filled_records)
      continue;
    const auto trailing = trailing_elements(entry, target);
    if (!trailing.ok())
      return 0;
    const auto runs =
        runs_of(entry, target, trailing.value() * element_bytes(target.type, target.details), queue_.run_options());
    if (!runs.ok())
      return 0;
    bytes += runs.value()->total;
  }
  return bytes;
}

// Local: the same for all variables.
Status File::count_new_records(std::span<int64_t> bytes) {
  const FillManager fill = filling();
  std::vector<const QueuedRequest*> puts;
  for (const QueuedRequest& entry : queue_.list().requests())
    if (entry.put && fill.has_unfilled_records(static_cast<size_t>(entry.variable)))
      puts.push_back(&entry);
  std::stable_sort(puts.begin(), puts.end(),
                   [](const QueuedRequest* a, const QueuedRequest* b) { return a->variable < b->variable; });
  for (auto begin = puts.begin(); begin != puts.end();) {
    const int variable = (*begin)->variable;
    const auto end =
        std::find_if(begin, puts.end(), [&](const QueuedRequest* each) { return each->variable != variable; });
    bytes[static_cast<size_t>(variable)] = bytes_of_new_records({begin, end});
    begin = end;
  }
  return {};
}

// Collective.
Status File::fill_records(Status local) {
  if (!filling().any_unfilled_records())
    return agree(*comm_, std::move(local));
  const std::span<int64_t> written = allocator_.start_sums();
  if (local.ok())
    local = guard([&] { return count_new_records(written); });
  return filling().fill_records(std::move(local), written);
}

}  // namespace windrow
