// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a variable that a rank moves for a queued request. Local.
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

// Options that the strategy of the file decides.
struct RunOptions {
  Owner owner = Owner::automatic;
  int64_t direct_bytes = 0;  // pieces of at least this length may be moved directly
};

OwnerPolicy owner_of(const QueuedRequest& request, const RunOptions& options) noexcept;

// The shape that the decomposition describes: that of the variable, or of one record.
inline std::span<const int64_t> shape_of(const QueuedRequest& request, const Variable& variable) noexcept {
  return std::span<const int64_t>(variable.shape).subspan(request.record >= 0 ? 1 : 0);
}

// The number of elements of the variable for each element of the decomposition. bad_argument if the decomposition does
// not fit the variable.
Result<int64_t> trailing_elements(const QueuedRequest& request, const Variable& variable);

// The byte runs that this rank writes for a put, or reads for a get. Offsets begin at the variable or at the record.
// `element_bytes`: the size of an element of the decomposition.
Result<std::shared_ptr<const ByteRuns>> runs_of(const QueuedRequest& request, const Variable& variable,
                                                int64_t element_bytes, const RunOptions& options);

// The same in the linear space of the variable's chunks.
Result<std::shared_ptr<const ByteRuns>> chunk_runs_of(const QueuedRequest& request, const Variable& variable,
                                                      const SharedDecomposition::Line& line, const RunOptions& options);

}  // namespace windrow
