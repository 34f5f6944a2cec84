// SPDX-License-Identifier: BSD-3-Clause
#include "queueing/request_list.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace windrow {

void RequestList::add(QueuedRequest request) {
  int64_t* count = request.put ? &put_counts_[request.variable] : nullptr;
  if (count != nullptr)
    request.ordinal = *count;
  sorted_.clear();
  requests_.push_back(std::move(request));
  if (count != nullptr)
    ++*count;
}

void RequestList::clear() noexcept {
  sorted_.clear();
  requests_.clear();
  put_counts_.clear();
}

int64_t RequestList::put_batches() const noexcept {
  int64_t most = 0;
  for (const auto& [variable, count] : put_counts_)
    most = std::max(most, count);
  return most;
}

std::span<const QueuedRequest* const> RequestList::entries_of(bool put, int64_t ordinal, int variable) {
  const auto place = [](const QueuedRequest* entry) { return std::tuple(entry->put, entry->ordinal, entry->variable); };
  if (sorted_.empty()) {
    std::vector<const QueuedRequest*> sorted;
    sorted.reserve(requests_.size());
    for (const QueuedRequest& entry : requests_)
      sorted.push_back(&entry);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const QueuedRequest* a, const QueuedRequest* b) { return place(a) < place(b); });
    sorted_ = std::move(sorted);
  }
  const std::tuple from(put, ordinal, std::max(variable, 0));
  const std::tuple to(put, ordinal, variable < 0 ? std::numeric_limits<int>::max() : variable);
  const auto begin = std::partition_point(sorted_.begin(), sorted_.end(),
                                          [&](const QueuedRequest* each) { return place(each) < from; });
  const auto end =
      std::partition_point(begin, sorted_.end(), [&](const QueuedRequest* each) { return place(each) <= to; });
  return {begin, end};
}

}  // namespace windrow
