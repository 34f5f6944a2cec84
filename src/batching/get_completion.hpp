// SPDX-License-Identifier: BSD-3-Clause
// GetCompletion: completes the gets of a batch after their bytes were read. It converts elements that have another type
// in memory, and copies elements that this rank holds more than once. Local.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/settings.hpp"
#include "base/status.hpp"
#include "queueing/queued_request.hpp"
#include "trace/trace.hpp"

namespace windrow {

class GetCompletion {
 public:
  // Both calls refer to the request, which must outlive this object. They may throw std::bad_alloc.

  // Remembers the local duplicates of a get. `trailing`: number of elements of the variable for each element of the
  // decomposition.
  void add_duplicates(const QueuedRequest& get, int64_t trailing, int64_t element_bytes);
  // Remembers a get whose elements have another type in memory. `runs`: the byte runs that are read for it.
  void add_conversion(const QueuedRequest& get, std::shared_ptr<const ByteRuns> runs);

  // Converts and copies. bad_argument if values do not fit and the option conversion is "error".
  Status complete(const Settings& settings, const Catalog& catalog, Trace& trace) const;

 private:
  struct Duplicates {
    const std::vector<LocalDuplicate>* places;  // the decomposition owns them
    int64_t element_bytes;                      // size of an element of the decomposition
    std::byte* memory;
  };
  struct Conversion {
    std::shared_ptr<const ByteRuns> runs;
    const Staged* staged;  // the request owns it
    int variable;
  };
  std::vector<Duplicates> duplicates_;
  std::vector<Conversion> conversions_;
};

}  // namespace windrow
