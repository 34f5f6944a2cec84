// SPDX-License-Identifier: BSD-3-Clause
// A progress bar on standard error: bytes, rate and time left. Redrawn at most ten times a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace cli {

// The bar as text, without the carriage return. Pure. At most `columns` wide.
std::string progress_text(const std::string& verb, int64_t done, int64_t total, double seconds, int columns);

class Progress {
 public:
  Progress(std::string verb, int64_t total_bytes, bool shown);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void advance(int64_t bytes);

 private:
  using Clock = std::chrono::steady_clock;
  std::string verb_;
  int64_t total_;
  bool shown_;
  int64_t done_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_{};
};

}  // namespace cli
