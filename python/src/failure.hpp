// SPDX-License-Identifier: BSD-3-Clause
// An error of windrow.h, which becomes windrow.WindrowError in Python.
#pragma once

#include <windrow/windrow.h>
#include <stdexcept>
#include <string>

namespace windrow_python {

class Failure : public std::runtime_error {
 public:
  Failure(int code, int rank, const std::string& message) : std::runtime_error(message), code_(code), rank_(rank) {}
  int code() const { return code_; }
  int rank() const { return rank_; }

 private:
  int code_;
  int rank_;
};

inline void check(int code) {
  if (code != WINDROW_OK)
    throw Failure(code, windrow_error_rank(), windrow_error_message());
}

}  // namespace windrow_python
