// SPDX-License-Identifier: BSD-3-Clause
// windrow_copy(): all of a file into another, over windrow.h alone. capi calls it, and looks at the arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "copy/ranks.hpp"

namespace copying {

struct Request {
  std::string source, target;
  std::vector<std::pair<std::string, std::string>> options;  // of both files, without the format
  std::string format;                                        // of the target; "": by its name
  bool is_netcdf = false;                                    // whether that is netCDF classic
  bool keeps_chunks = true;  // what is chunked stays so, where the target's format has chunks
  int64_t buffer_bytes = 0;  // of a rank
  bool explains = false;     // plans go into the details
  bool reports = false;      // reports too
  std::function<void(int64_t done, int64_t total)> progress;  // bytes of all ranks
};

struct Outcome {
  int code = 0;   // enum windrow_code, the same on every rank
  int rank = -1;  // that the error came from
  std::string message;
  bool begun = false;  // the target had been begun
  int64_t variables = 0, groups = 0, attributes = 0, bytes = 0;
  std::string refused;  // "path: reason" a line: what cannot be copied; then nothing is
  std::string changed;  // a line each: what is another thing in the target
  std::string details;  // JSON: plans and reports of reading and writing
};

// Collective. Leaves no target where it fails.
Outcome copy(const Ranks& ranks, const Request& request);

}  // namespace copying
