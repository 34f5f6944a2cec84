// SPDX-License-Identifier: BSD-3-Clause
// Split variables: a scalar in this file, whose dimensions an attribute names.
#pragma once

#include "format/format.hpp"
#include "format/netcdf/header.hpp"

namespace windrow {

// Makes the scalar from the variable, whose first `rank` dimensions are those of the whole array.
void make_scalar(NetcdfVariable& variable, size_t rank, const std::vector<NetcdfDimension>& dimensions);

// The inverse, for an untrusted file. False, with the variable unchanged: no attribute names valid dimensions.
bool take_split(Variable& variable, const NetcdfContents& contents);

}  // namespace windrow
