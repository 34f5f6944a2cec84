// SPDX-License-Identifier: BSD-3-Clause
// What queued puts need before they move: places for variables that lack one, and records. Local.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "batching/file_view.hpp"
#include "queueing/request_list.hpp"
#include "queueing/request_runs.hpp"

namespace windrow {

// `wanted`: [variables] zeros; gets how many records the puts of this rank need, or for an inline variable how many
// puts there are. Code::bad_argument: a variable cannot have so many records.
Status count_wanted(const RequestList& requests, const FileView& file, std::span<int64_t> wanted);

// `bytes`: [variables] zeros; gets how many bytes of records without their fill values this rank is about to write. 0
// if records might be written twice: then the number says nothing.
Status count_new_records(const RequestList& requests, const FileView& file, const RunOptions& options,
                         std::span<int64_t> bytes);

}  // namespace windrow
