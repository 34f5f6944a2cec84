// SPDX-License-Identifier: BSD-3-Clause
// RequestQueue: the puts and gets of an open file that wait for the next flush. It checks each request when it is
// queued. If the elements in memory have another type or padding than the variable, it converts what is put, and
// allocates memory for what a get will read. Otherwise it copies nothing: the memory of the program must stay valid
// until the flush.
//
// All calls are local and use no MPI. So a rank whose request was refused cannot inform the other ranks; the queue
// keeps the first error, and the next flush returns it on every rank.
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
  // The parts of the open file that the checks use. The caller owns them; they must outlive the queue.
  struct Context {
    const std::string& path;
    const Catalog& catalog;
    const Settings& settings;
    const Strategy& strategy;
    const PlanLimits& limits;
    int rank = 0, ranks = 1;
  };
  explicit RequestQueue(const Context& context) noexcept : context_(context) {}

  // Queues a put or a get. bad_argument, unsupported or out_of_memory: then the request is not queued, and refused()
  // has the error too.
  Status add(NewRequest request);
  // Adds an error that the caller has found in a request. The next flush returns it on every rank.
  void refuse(const Status& status) { refused_.update(status); }
  // The error of the requests since the last flush; OK if all were queued.
  const Status& refused() const noexcept { return refused_; }
  // Returns this error and resets it, for the flush.
  Status take_refused() noexcept { return std::exchange(refused_, Status{}); }
  // Removes all requests, and the error.
  void clear() noexcept;

  bool empty() const noexcept { return list_.empty(); }
  // The queued requests. The flush may move them out of the list.
  RequestList& list() noexcept { return list_; }
  const RequestList& list() const noexcept { return list_; }
  // How the byte runs of a request are made, by the present strategy and limits.
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

// Checks the number of values that did not fit into the type that they were converted to. bad_argument if there are any
// and the option conversion is "error". With other values of the option they were clamped, which is no error. Pure.
Status check_out_of_range(const Settings& settings, int64_t out_of_range, const Staged& staged, bool put,
                          const std::string& path);

}  // namespace windrow
