// SPDX-License-Identifier: BSD-3-Clause
// What the queued puts need before they move: places for variables without one, and records. Local.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "batching/file_view.hpp"
#include "queueing/request_list.hpp"
#include "queueing/request_runs.hpp"

namespace windrow {

// Sets `wanted`, which is zero on entry: for each variable the number of records that the puts of this rank need, or
// the number of puts to an inline variable. bad_argument if a variable cannot have this number of records.
Status count_wanted(const RequestList& requests, const FileView& file, std::span<int64_t> wanted);

// Sets `bytes`, which is zero on entry: for each variable the number of bytes in records without fill values that this
// rank will write. It stays 0 if bytes might be written twice, since a sum then does not prove that all are written.
Status count_new_records(const RequestList& requests, const FileView& file, const RunOptions& options,
                         std::span<int64_t> bytes);

}  // namespace windrow
