// SPDX-License-Identifier: BSD-3-Clause
// A variable whose elements lie in other files: in this one a scalar, whose dimensions an attribute names.
#pragma once

#include "format/format.hpp"
#include "format/netcdf/header.hpp"

namespace windrow {

// The variable, whose first `rank` dimensions are of the whole array, becomes the scalar.
void make_scalar(NetcdfVariable& variable, size_t rank, const std::vector<NetcdfDimension>& dimensions);

// The reverse, of a file from outside: false, and the variable as it was, where no attribute names dimensions that an
// array can have.
bool take_split(Variable& variable, const NetcdfContents& contents);

}  // namespace windrow
