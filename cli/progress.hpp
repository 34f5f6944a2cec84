// SPDX-License-Identifier: BSD-3-Clause
// A progress bar on standard error: bytes, rate and time left. Redrawn at most ten times a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace cli {

// One state of the bar as text, without the return to the line's start. Pure. `columns` wide at most.
std::string progress_text(const std::string& verb, int64_t done, int64_t total, double seconds, int columns);

class Progress {
 public:
  Progress(std::string verb, int64_t total_bytes, bool shown);
  ~Progress();  // leaves a clean line
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
