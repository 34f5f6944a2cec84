// SPDX-License-Identifier: BSD-3-Clause
#include "layout/tally.hpp"

#include <algorithm>
#include <utility>

namespace windrow {

void StripeTally::add(const StorageLayout& layout, Extent request) {
  ++requests_;
  while (!request.empty()) {
    const Stripe stripe = stripe_at(layout, request.begin);
    const int64_t end = std::min(stripe.bytes.end, request.end);
    TargetTally& target = targets_[stripe.target];
    target.bytes += end - request.begin;
    if (std::exchange(target.latest, requests_) != requests_)
      ++target.requests;
    add_stripe(stripe.bytes.begin);
    request.begin = end;
  }
}

void StripeTally::clear() noexcept {
  targets_.clear();
  runs_.clear();
  requests_ = 0;
  too_many_ = false;
}

void StripeTally::add_stripe(int64_t begin) {
  if (too_many_)
    return;
  if (!runs_.empty()) {
    StripeRun& last = runs_.back();
    const int64_t latest = last.begin + (last.count - 1) * last.stride;
    if (begin == latest)
      return;
    if (last.count == 1 && begin > latest)
      last.stride = begin - latest;
    if (begin > latest && begin - latest == last.stride) {
      ++last.count;
      return;
    }
  }
  too_many_ = runs_.size() == k_most_runs;
  if (too_many_)
    runs_.clear();
  else
    runs_.push_back({.begin = begin, .stride = 0, .count = 1});
}

}  // namespace windrow
