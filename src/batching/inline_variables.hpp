// SPDX-License-Identifier: BSD-3-Clause
// InlineVariables: the variables whose elements are in the catalog of every rank. They are small variables in a header
// of the file, and variables that were never written. A get copies from the catalog, without a message. A put to a
// variable in a header is sent to all ranks, and rank 0 writes it. Both happen before batches move.
#pragma once

#include <cstdint>
#include <span>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "batching/file_view.hpp"
#include "comm/comm.hpp"
#include "format/format.hpp"
#include "metadata/metadata.hpp"
#include "queueing/request_list.hpp"
#include "queueing/request_runs.hpp"
#include "trace/trace.hpp"

namespace windrow {

class InlineVariables {
 public:
  // The file and the trace must outlive this object.
  InlineVariables(const FileView& file, const RunOptions& options, Trace& trace) noexcept
      : comm_(file.comm),
        metadata_(file.metadata),
        format_(file.format),
        settings_(file.settings),
        options_(options),
        trace_(trace) {}

  // Local. Completes all gets of inline variables.
  Status read(const RequestList& requests);
  // Collective, agreed. Writes all puts to inline variables. `puts`: for each variable the largest number of puts on
  // any rank; set to 0 for the variables that are written here. No communication if there are none.
  Status write(RequestList& requests, std::span<int64_t> puts);

 private:
  Status write_one(RequestList& requests, int variable, int64_t ordinal);
  Status add_puts(RequestList& requests, int variable, int64_t ordinal, std::span<int64_t> bytes);

  Comm& comm_;
  Metadata& metadata_;
  Format* format_;  // of rank 0; nullptr on other ranks
  const Settings& settings_;
  const RunOptions options_;
  Trace& trace_;
};

}  // namespace windrow
