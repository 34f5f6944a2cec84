// SPDX-License-Identifier: BSD-3-Clause
// Measures the machine that the ranks run on into a machine file.
#pragma once

#include <mpi.h>

#include <string>

#include "base/settings.hpp"
#include "base/status.hpp"

namespace windrow {

// Collective, agreed. `directory`: of the storage, where one file at a time is made and removed. `file`: the machine
// file, which rank 0 replaces as a whole when everything has been measured. `local`: what the caller has found wrong
// with this rank's arguments.
Status calibrate(MPI_Comm user, const std::string& directory, const Settings& program, const std::string& file,
                 Status local);

}  // namespace windrow
