// SPDX-License-Identifier: BSD-3-Clause
#include "queueing/request_runs.hpp"

#include <fmt/format.h>

#include <bit>

#include "format/check.hpp"

namespace windrow {
namespace {

Result<std::shared_ptr<const ByteRuns>> with_name(Result<std::shared_ptr<const ByteRuns>> written,
                                                  const Variable& variable) {
  if (written.ok())
    return written;
  return Status{written.status().code(), fmt::format("put of \"{}\": {}", variable.path, written.status().message()),
                written.status().rank()};
}

}  // namespace

int64_t swap_bytes(const QueuedRequest& entry, const Variable& variable) noexcept {
  const bool as_memory = entry.stored || variable.placement.big_endian == (std::endian::native == std::endian::big);
  return as_memory ? 1 : component_size(variable.type);
}

OwnerPolicy owner_of(const QueuedRequest& request, const RunOptions& options) noexcept {
  return request.decomposition->owner_for(options.owner);
}

Result<int64_t> trailing_elements(const QueuedRequest& request, const Variable& variable) {
  return load(request.decomposition->local(), shape_of(request, variable));
}

Result<std::shared_ptr<const ByteRuns>> runs_of(const QueuedRequest& request, const Variable& variable,
                                                int64_t element_bytes, const RunOptions& options) {
  SharedDecomposition& by = *request.decomposition;
  if (!request.put)
    return by.read_runs(element_bytes, options.direct_bytes);
  return with_name(by.write_runs(owner_of(request, options), element_bytes, options.direct_bytes), variable);
}

Result<std::shared_ptr<const ByteRuns>> chunk_runs_of(const QueuedRequest& request, const Variable& variable,
                                                      const SharedDecomposition::Line& line,
                                                      const RunOptions& options) {
  SharedDecomposition& by = *request.decomposition;
  if (!request.put)
    return by.read_line(line);
  return with_name(by.write_line(owner_of(request, options), line), variable);
}

}  // namespace windrow
