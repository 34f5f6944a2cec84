// SPDX-License-Identifier: BSD-3-Clause
// InlineVariables: variables whose elements the catalog has: small ones in a header of the file, and ones that nobody
// has ever written. Each rank reads its pieces without a message. What is put to those in a header goes to all ranks,
// and rank 0 writes it. All of this happens before batches move.
#pragma once

#include <cstdint>
#include <span>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "comm/comm.hpp"
#include "format/format.hpp"
#include "metadata/metadata.hpp"
#include "queueing/request_list.hpp"
#include "queueing/request_runs.hpp"
#include "trace/trace.hpp"

namespace windrow {

class InlineVariables {
 public:
  // All must outlive it. `format`: on rank 0.
  InlineVariables(Comm& comm, Metadata& metadata, Format* format, const Settings& settings, const RunOptions& options,
                  Trace& trace) noexcept
      : comm_(comm), metadata_(metadata), format_(format), settings_(settings), options_(options), trace_(trace) {}

  Status read(const RequestList& requests);  // local: all gets of such variables
  // Collective, agreed. `puts`: for each variable, how many times any rank has put it; becomes 0 for those written
  // here. Costs nothing if there are none.
  Status write(RequestList& requests, std::span<int64_t> puts);

 private:
  Status write_one(RequestList& requests, int variable, int64_t ordinal);
  Status add_puts(RequestList& requests, int variable, int64_t ordinal, std::span<int64_t> bytes);

  Comm& comm_;
  Metadata& metadata_;
  Format* format_;
  const Settings& settings_;
  const RunOptions options_;
  Trace& trace_;
};

}  // namespace windrow
