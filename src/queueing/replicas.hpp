// SPDX-License-Identifier: BSD-3-Clause
// The option check_replicas: do the ranks that hold a point have the same values for it?
#pragma once

#include <span>

#include "base/status.hpp"
#include "comm/comm.hpp"
#include "format/format.hpp"
#include "queueing/queued_request.hpp"

namespace windrow {

// Collective, agreed. Compares, byte for byte, what is queued to be written of points that several ranks hold: each
// tells the directory rank of a point what it has. `local`: of what this rank did before. bad_argument names the
// variable, the point, the element, two ranks and their values. Ranks may have queued different variables. Costs a copy
// of all replicas, on both sides.
Status check_replicas(Comm& comm, Status local, std::span<const QueuedRequest> queue,
                      std::span<const Variable> variables);

}  // namespace windrow
