// SPDX-License-Identifier: BSD-3-Clause
// VariableBatch: all gets of a flush that move by one plan, or the puts of one ordinal. Its objects are variables, its
// lists are decompositions.
#pragma once

#include "batching/get_completion.hpp"
#include "planning/request_batch.hpp"

namespace windrow {

struct VariableBatch : RequestBatch {
  GetCompletion completion;   // of gets
  bool is_explained = false;  // only its plan is made
};

}  // namespace windrow
