// SPDX-License-Identifier: BSD-3-Clause
// The option check_replicas: checks that all ranks that hold a point put the same values for it.
#pragma once

#include <span>

#include "base/status.hpp"
#include "comm/comm.hpp"
#include "format/format.hpp"
#include "queueing/queued_request.hpp"

namespace windrow {

// Collective, agreed. Compares the queued values of replicated points, byte by byte. Each rank sends its values to the
// directory rank of the point, which compares them. The message of bad_argument names the variable, the point, the
// element, two ranks and their values. Ranks may have queued different variables. Both sides need memory for a copy of
// all replicas. `local`: an error that this rank has found before.
Status check_replicas(Comm& comm, Status local, std::span<const QueuedRequest> queue,
                      std::span<const Variable> variables);

}  // namespace windrow
