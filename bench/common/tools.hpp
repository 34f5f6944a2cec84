// SPDX-License-Identifier: BSD-3-Clause
// HDF5's own programs as judges of what was written: outside the clock, from rank 0, in processes of their own.
#pragma once

#include <string>
#include <vector>

#include "system.hpp"

namespace bench {

// Of files in HDF5: the places of variables that have chunks become files with their elements, made by h5dump.
// Collective.
std::vector<Location> decoded(std::vector<Location> locations, const Job& job);
std::vector<Location> dumped(std::vector<Location> locations,
                             const Job& job);  // of all variables: of virtual datasets too

// "", or what h5diff says of two files. Local.
std::string difference(const std::string& one, const std::string& other);

}  // namespace bench
