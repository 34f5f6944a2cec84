// SPDX-License-Identifier: BSD-3-Clause
// QueuedRequest: a put or get of one rank that waits for a flush.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "distribution/shared_decomposition.hpp"
#include "format/catalog.hpp"
#include "queueing/convert.hpp"

namespace windrow {

inline constexpr Type k_as_stored = static_cast<Type>(-1);  // WINDROW_STORED

// What a program asks for. The request shares the decomposition; the program owns `data`.
struct NewRequest {
  bool put = true;
  int variable = 0;
  std::shared_ptr<SharedDecomposition> decomposition;
  std::byte* data = nullptr;
  int64_t record = -1;  // see QueuedRequest
  // of the data in memory if it differs from that of the variable; or k_as_stored, for data in the type and byte order
  // of the file
  std::optional<Type> type = {};
};

struct QueuedRequest {
  bool put = true;
  int variable = 0;
  std::shared_ptr<SharedDecomposition> decomposition;
  std::byte* data = nullptr;  // a put does not write to it
  int64_t record = -1;        // the record that the decomposition describes; -1 if it describes the whole shape
  int64_t rows = 0;           // length of the variable's first dimension when the request was queued
  int64_t ordinal = 0;        // number of earlier puts of this variable on this rank: later puts move in later batches
  std::unique_ptr<Staged> staged;  // set if `data` has another type or padding than the variable
  bool stored = false;             // `data` has the byte order of the file
};

// The size of the units whose bytes are reversed between memory and the file; 1 if none are.
int64_t swap_bytes(const QueuedRequest& entry, const Variable& variable) noexcept;

}  // namespace windrow
