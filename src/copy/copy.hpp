// SPDX-License-Identifier: BSD-3-Clause
// windrow_copy(): copies a whole file into another, through windrow.h only. capi checks its arguments and calls it.
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
  std::vector<std::pair<std::string, std::string>> options;   // options of both files, without the format
  std::string format;                                         // format of the target; "" selects it by the name
  bool is_netcdf = false;                                     // whether that is netCDF classic
  bool has_unlimited = true;                                  // whether that format supports extendible variables
  bool keeps_chunks = true;                                   // keeps chunking if the target's format supports it
  int64_t buffer_bytes = 0;                                   // per rank
  bool explains = false;                                      // the details include plans
  bool reports = false;                                       // the details include reports
  std::function<void(int64_t done, int64_t total)> progress;  // bytes of all ranks
};

struct Outcome {
  int code = 0;   // enum windrow_code, the same on every rank
  int rank = -1;  // the rank that had the error
  std::string message;
  bool begun = false;  // the target was created
  int64_t variables = 0, groups = 0, attributes = 0, bytes = 0;
  std::string refused;  // "path: reason" per line: what cannot be copied; if there is any, nothing is copied
  std::string changed;  // differences of the target from the source, one per line
  std::string details;  // JSON: plans and reports of reading and writing
};

// Collective. Leaves no target after an error.
Outcome copy(const Ranks& ranks, const Request& request);

}  // namespace copying
