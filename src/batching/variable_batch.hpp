// SPDX-License-Identifier: BSD-3-Clause
// VariableBatch: the requests of a flush that move by one plan: gets, or the puts of one ordinal. The objects of the
// batch are variables, and its lists of ranges belong to decompositions. `hull` is the range of the moved pieces: in
// the linear space of chunks, or of interleaved records in the file. `records` are the moved records of split
// variables.
#pragma once

#include "batching/get_completion.hpp"
#include "planning/request_batch.hpp"

namespace windrow {

struct VariableBatch : RequestBatch {
  GetCompletion completion;  // for gets
};

}  // namespace windrow
