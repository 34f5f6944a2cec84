// SPDX-License-Identifier: BSD-3-Clause
// Changes several ranges of a file together. If the process is killed during this, a reader finds all old or all new
// bytes. First the old bytes, and the new ones, are written after the end of the file, as an undo log. Then the ranges
// are changed, and the log is cut off. A file that ends with a log was left by a killed process. A reader uses the
// log's old bytes in place of those in the file; a writer restores them first. Other programs ignore bytes after the
// end that the file's header gives.
//
// Other programs must not read a half-changed file. While the ranges are being changed, they refuse it: the byte that
// says which version of its format a file has has its highest bit set. This bit is the mark.
//
// A log only counts while the ranges have some of the old bytes and some of the new ones, where these differ. If they
// have none of the old bytes, the change is complete; if they have none of the new ones, it has not begun. The file is
// then valid as it is, also if another program has changed it since. If the ranges have old, new and other bytes,
// another program has changed a half-changed file: the file is damaged, and the log stays.
//
//   clean -- write log --> logged -- set mark, change ranges --> changed -- remove mark, cut off log --> clean (new)
//   process killed, ranges half changed -- roll_back() --> clean (old bytes)
//   process killed, ranges changed or unchanged -- roll_back() --> clean (as they are)
//   process killed, ranges half changed, then changed by others -- roll_back() --> Code::bad_file
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "storage/store.hpp"

namespace windrow {

struct Overwrite {
  int64_t offset = 0;
  std::span<const std::byte> bytes;
};

inline constexpr int64_t k_no_mark = -1;

// `end`: the file has no content from there on and ends there afterwards, or earlier if it was shorter. `durable`: each
// step is on stable storage before the next, except for the last one, the removal of the mark. `mark_at`: the place of
// the mark; a change may include this byte, without the mark. After an error the file has the old bytes, or a log of
// them at its end, and the mark. If the storage refuses all requests after the last change, it has the new ones. A mark
// that was set before is removed, unless the file is left half changed. Changes do not overlap.
Status overwrite(Store& store, std::span<const Overwrite> changes, int64_t end, bool durable,
                 int64_t mark_at = k_no_mark);

Result<bool> is_marked(Store& store, int64_t mark_at);
// Sets the mark or removes it, by a write of one byte.
Status set_mark(Store& store, int64_t mark_at, bool on);
// Removes the mark from bytes that a reader has read from `offset` on.
void hide_mark(int64_t mark_at, int64_t offset, std::span<std::byte> bytes) noexcept;

struct OldBytes {
  int64_t offset = 0;
  std::vector<std::byte> bytes;
};

struct UndoLog {
  std::vector<OldBytes> old;  // empty: the file is valid as it is
  int64_t end = 0;            // end of the file without the log
  bool found = false;         // there is a log
  bool marked = false;        // the file has the mark
};

// The log at the end of a file. `path`: for the message. bad_file: the file is damaged, see above.
Result<UndoLog> find_undo_log(Store& store, std::string_view path, int64_t mark_at = k_no_mark);

// Replaces the bytes that a reader has read from `offset` on by those of the log.
void apply(const UndoLog& log, int64_t offset, std::span<std::byte> bytes) noexcept;

// Restores the old bytes from a log if it counts, removes the mark, and cuts off the log. The file is open for writing,
// and no other process changes it. bad_file: the file is damaged, and unchanged.
Status roll_back(Store& store, std::string_view path, bool durable, int64_t mark_at = k_no_mark);

}  // namespace windrow
