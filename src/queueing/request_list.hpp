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
  // Sets the ordinal of a put. May throw std::bad_alloc, and then nothing was added.
  void add(QueuedRequest request);
  void clear() noexcept;

  bool empty() const noexcept { return requests_.empty(); }
  std::span<const QueuedRequest> requests() const noexcept { return requests_; }     // in the order of the calls
  const std::map<int, int64_t>& put_counts() const noexcept { return put_counts_; }  // by variable
  // A variable's n-th put is in the n-th batch of puts, so that the later put wins.
  int64_t put_batches() const noexcept;

  // The puts of one ordinal, or the gets (ordinal 0): of one variable, or of all for -1; by variable, then in the order
  // of the calls. The list is sorted once for all batches of a flush: each chunked variable has a batch, which would
  // search the whole queue. May throw std::bad_alloc. Valid until the list changes.
  std::span<const QueuedRequest* const> entries_of(bool put, int64_t ordinal, int variable);

 private:
  std::vector<QueuedRequest> requests_;
  std::vector<const QueuedRequest*> sorted_;  // by put, ordinal and variable; empty: not sorted since the last change
  std::map<int, int64_t> put_counts_;
};

}  // namespace windrow
