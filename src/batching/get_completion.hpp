// SPDX-License-Identifier: BSD-3-Clause
// GetCompletion: what is left to do with gets once their bytes were read: elements of another type are converted, and
// elements that this rank holds more than once are copied. Local.
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
  // The requests must outlive it. May throw std::bad_alloc.
  // `trailing`: elements of the variable for each element of the decomposition.
  void add_duplicates(const QueuedRequest& get, int64_t trailing, int64_t element_bytes);
  // `runs`: what was read for a get of another type.
  void add_conversion(const QueuedRequest& get, std::shared_ptr<const ByteRuns> runs);

  // Code::bad_argument: values did not fit, and the option conversion is "error".
  Status complete(const Settings& settings, const Catalog& catalog, Trace& trace) const;

 private:
  struct Duplicates {
    const std::vector<LocalDuplicate>* places;  // of the decomposition
    int64_t element_bytes;                      // of the decomposition
    std::byte* memory;
  };
  struct Conversion {
    std::shared_ptr<const ByteRuns> runs;
    const Staged* staged;  // of the request
    int variable;
  };
  std::vector<Duplicates> duplicates_;
  std::vector<Conversion> conversions_;
};

}  // namespace windrow
