// SPDX-License-Identifier: BSD-3-Clause
// What auto would choose for the flushes of a trace, on the machine that a machine file tells of. Local; no MPI.
#pragma once

#include <string>

#include "base/status.hpp"

namespace windrow {

// `machine`: a machine file, or "": what is usual for the storage that each plan was made for. As JSON, or for people.
// not_found, no_permission, bad_file: the trace or the machine file cannot be read, or is none; what follows a line of
// the trace that is cut short or none is left out, and the text says so.
Result<std::string> advise(const std::string& trace, const std::string& machine, bool json);

}  // namespace windrow
