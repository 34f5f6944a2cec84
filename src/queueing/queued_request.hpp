// SPDX-License-Identifier: BSD-3-Clause
// A put or get in the queue of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "distribution/shared_decomposition.hpp"
#include "format/catalog.hpp"
#include "queueing/convert.hpp"

namespace windrow {

inline constexpr Type k_as_stored = static_cast<Type>(-1);  // WINDROW_STORED

// One put or get in the queue.
struct QueuedRequest {
  bool put = true;
  int variable = 0;
  std::shared_ptr<SharedDecomposition> decomposition;
  std::byte* data = nullptr;  // never written through for a put
  int64_t record = -1;        // index of the first dimension that the decomposition is of; -1: it is of the whole shape
  int64_t rows = 0;           // of the variable's first dimension when it was queued
  int64_t ordinal = 0;  // how many puts of this variable this rank has queued before: later puts go in later batches
  std::unique_ptr<Staged> staged;  // where `data` is not as the variable has it
  bool stored = false;             // `data` has the file's byte order
};

// Of an entry's elements: how many bytes change their order on the way; 1: none.
int64_t swap_bytes(const QueuedRequest& entry, const Variable& variable) noexcept;

}  // namespace windrow
