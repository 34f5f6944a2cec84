// SPDX-License-Identifier: BSD-3-Clause
// RequestQueue: checks the puts and gets of an open file, converts what is put, and keeps all until the next flush.
// Local: no call of MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "format/catalog.hpp"
#include "plan/plan.hpp"
#include "queueing/queued_request.hpp"
#include "queueing/request_list.hpp"
#include "queueing/request_runs.hpp"

namespace windrow {

class RequestQueue {
 public:
  // Of the file. All must outlive the queue.
  struct Context {
    const std::string& path;
    const Catalog& catalog;
    const Settings& settings;
    const Strategy& strategy;
    const PlanLimits& limits;
    int rank = 0, ranks = 1;
  };
  explicit RequestQueue(const Context& context) noexcept : context_(context) {}

  // `record`: see QueuedRequest. `type`: of the data in memory, if it is not the variable's; or k_as_stored. An error
  // is returned, and refused().
  Status add(bool put, int variable, std::shared_ptr<SharedDecomposition> decomposition, std::byte* data,
             int64_t record, std::optional<Type> type);
  void refuse(const Status& status) { refused_.update(status); }  // the next flush fails with it on every rank
  const Status& refused() const noexcept { return refused_; }     // the first error since the last flush
  Status take_refused() noexcept { return std::exchange(refused_, Status{}); }
  void clear() noexcept;

  bool empty() const noexcept { return list_.empty(); }
  RequestList& list() noexcept { return list_; }
  const RequestList& list() const noexcept { return list_; }
  RunOptions run_options() const noexcept { return {context_.strategy.owner, context_.limits.direct_bytes}; }

 private:
  Status check_and_add(QueuedRequest request, std::optional<Type> type);
  Status check_variable(std::string_view verb, int variable) const;
  Status check_decomposition(std::string_view verb, const QueuedRequest& request, const Variable& target) const;
  bool pads_otherwise(const Variable& variable) const;
  Status stage(QueuedRequest& request, Type type, int64_t trailing) const;

  Context context_;
  RequestList list_;
  Status refused_;
};

// If the option conversion is "error": bad_argument for values that did not fit. Otherwise they were clamped.
Status check_out_of_range(const Settings& settings, int64_t out_of_range, const Staged& staged, bool put,
                          const std::string& path);

}  // namespace windrow
