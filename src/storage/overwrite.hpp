// SPDX-License-Identifier: BSD-3-Clause
// Several places of a file are changed together: whatever ends the process meanwhile, a reader finds all of the old
// bytes or all of the new ones. The old bytes are first written behind the file's end, as an undo log; then the places
// are changed; then the log is cut off. A file that ends with a log was left by a process that was killed: to be read,
// the log's bytes count in place of those in the file; to be changed, they are put back first. Other programs do not
// look behind the end that a file's header names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "storage/store.hpp"

namespace windrow {

struct Overwrite {
  int64_t offset = 0;
  std::span<const std::byte> bytes;
};

// `end`: nobody has anything in the file from there on, and the file ends there afterwards, or before, where it was
// shorter. `durable`: each step is on stable storage before the next. After an error the file has the old bytes, or a
// log of them at its end. Changes do not overlap.
Status overwrite(Store& store, std::span<const Overwrite> changes, int64_t end, bool durable);

struct OldBytes {
  int64_t offset = 0;
  std::vector<std::byte> bytes;
};

struct UndoLog {
  std::vector<OldBytes> old;  // empty: there is no log
  int64_t end = 0;            // of the file without it
};

// The log at a file's end.
Result<UndoLog> find_undo_log(Store& store);

// What a reader takes for the bytes from `offset` on that it has read.
void apply(const UndoLog& log, int64_t offset, std::span<std::byte> bytes) noexcept;

// Puts the old bytes back where there is a log, and cuts it off. The file is open to be changed, and nobody else
// changes it.
Status roll_back(Store& store, bool durable);

}  // namespace windrow
