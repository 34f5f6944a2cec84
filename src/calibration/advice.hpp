// SPDX-License-Identifier: BSD-3-Clause
// What auto would choose for the flushes of a trace on a machine described by a machine file. Local, without MPI.
#pragma once

#include <string>

#include "base/status.hpp"

namespace windrow {

// `machine`: a machine file, or "": typical numbers of the storage of each plan. Returns JSON, or text for users.
// not_found, no_permission, bad_file: the trace or the machine file cannot be read or is invalid. A trace is used up to
// its first truncated or invalid line, which the text reports.
Result<std::string> advise(const std::string& trace, const std::string& machine, bool json);

}  // namespace windrow
