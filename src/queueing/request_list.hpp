// SPDX-License-Identifier: BSD-3-Clause
// RequestList: the puts and gets of one flush on this rank. Local.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "queueing/queued_request.hpp"

namespace windrow {

class RequestList {
 public:
  // Adds a request, and sets its ordinal if it is a put. May throw std::bad_alloc; then nothing was added.
  void add(QueuedRequest request);
  void clear() noexcept;

  bool empty() const noexcept { return requests_.empty(); }
  std::span<const QueuedRequest> requests() const noexcept { return requests_; }     // in the order of the calls
  const std::map<int, int64_t>& put_counts() const noexcept { return put_counts_; }  // by variable
  // The number of batches of puts. The n-th put of a variable is in the n-th batch, so that the later put wins.
  int64_t put_batches() const noexcept;

  // Returns the puts of one ordinal, or the gets (ordinal 0), of one variable, or of all if it is -1. They are sorted
  // by variable, then in the order of the calls. The list is sorted once for all batches of a flush, because each
  // chunked variable has a batch. May throw std::bad_alloc. Valid until the list changes.
  std::span<const QueuedRequest* const> entries_of(bool put, int64_t ordinal, int variable);

 private:
  std::vector<QueuedRequest> requests_;
  std::vector<const QueuedRequest*> sorted_;  // by put, ordinal and variable; empty after a change
  std::map<int, int64_t> put_counts_;
};

}  // namespace windrow
