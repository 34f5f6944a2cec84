// SPDX-License-Identifier: BSD-3-Clause
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/console.hpp"

namespace cli {

namespace {

int terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 80;
}

}  // namespace

std::string progress_text(const std::string& verb, int64_t done, int64_t total, double seconds, int columns) {
  const double part = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1.0;
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string numbers = fmt::format(" {:3.0f} %  {} of {}", 100 * part, bytes_text(done), bytes_text(total));
  if (rate > 0) {
    numbers += fmt::format("  {}/s", bytes_text(static_cast<int64_t>(rate)));
    numbers += fmt::format("  {} left", seconds_text(static_cast<double>(total - done) / rate));
  }
  // One column stays free, because a full line would wrap.
  const int bar = std::min(40, columns - 1 - static_cast<int>(verb.size() + numbers.size()) - 3);
  if (bar < 4)
    return (verb + numbers).substr(0, static_cast<size_t>(std::max(columns - 1, 0)));
  const int full = static_cast<int>(part * bar);
  return fmt::format("{} [{:#<{}}{:.<{}}]{}", verb, "", full, "", bar - full, numbers);
}

Progress::Progress(std::string verb, int64_t total_bytes, bool shown)
    : verb_(std::move(verb)), total_(total_bytes), shown_(shown) {}

void Progress::advance(int64_t bytes) {
  done_ += bytes;
  const auto now = Clock::now();
  if (!shown_ || now - drawn_ < std::chrono::milliseconds(100))
    return;
  drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  fmt::print(stderr, "\r\033[K{}", progress_text(verb_, done_, total_, seconds, terminal_columns()));
  std::fflush(stderr);
}

Progress::~Progress() {
  if (drawn_ == Clock::time_point{})
    return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

}  // namespace cli
