// SPDX-License-Identifier: BSD-3-Clause
// Which bytes of a variable a rank moves for a queued request.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/status.hpp"
#include "extent/byte_runs.hpp"
#include "format/catalog.hpp"
#include "plan/strategy.hpp"
#include "queueing/queued_request.hpp"

namespace windrow {

// What the strategy of the file decides.
struct RunOptions {
  Owner owner = Owner::automatic;
  int64_t direct_bytes = 0;  // pieces of at least this length may be moved directly
};

OwnerPolicy owner_of(const QueuedRequest& request, const RunOptions& options) noexcept;

// Dimensions of what the decomposition describes: the variable's, or those of one record.
inline std::span<const int64_t> shape_of(const QueuedRequest& request, const Variable& variable) noexcept {
  return std::span<const int64_t>(variable.shape).subspan(request.record >= 0 ? 1 : 0);
}

// Elements of the variable for each element of the decomposition. Code::bad_argument: the decomposition does not fit.
Result<int64_t> trailing_elements(const QueuedRequest& request, const Variable& variable);

// What this rank writes for a put, and reads for a get, from the start of the variable or of the record: in bytes, for
// `element_bytes` of each element of the decomposition.
Result<std::shared_ptr<const ByteRuns>> runs_of(const QueuedRequest& request, const Variable& variable,
                                                int64_t element_bytes, const RunOptions& options);

// The same in the linear space of the variable's chunks.
Result<std::shared_ptr<const ByteRuns>> chunk_runs_of(const QueuedRequest& request, const Variable& variable,
                                                      const SharedDecomposition::Line& line, const RunOptions& options);

}  // namespace windrow
