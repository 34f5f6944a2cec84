// SPDX-License-Identifier: BSD-3-Clause
// Measures the machine of the ranks, and writes a machine file.
#pragma once

#include <mpi.h>

#include <string>

#include "base/settings.hpp"
#include "base/status.hpp"

namespace windrow {

// Collective, agreed. `directory`: on the storage, where one file at a time is created and removed. `file`: the machine
// file, which rank 0 replaces when everything is measured. `local`: errors in this rank's arguments.
Status calibrate(MPI_Comm user, const std::string& directory, const Settings& program, const std::string& file,
                 Status local);

}  // namespace windrow
