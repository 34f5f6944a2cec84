// SPDX-License-Identifier: BSD-3-Clause
#include "trace/trace.hpp"

#include <algorithm>
#include <ctime>

namespace windrow {

std::string_view stage_name(Stage stage) noexcept {
  switch (stage) {
    case Stage::describe:
      return "describe";
    case Stage::plan:
      return "plan";
    case Stage::routes:
      return "routes";
    case Stage::descriptions:
      return "descriptions";
    case Stage::exchange:
      return "exchange";
    case Stage::storage:
      return "storage";
    case Stage::agree:
      return "agree";
    case Stage::count:
      break;
  }
  return "";
}

namespace {
// Nested timers: the seconds that the current timer must subtract, so that each second is counted once.
thread_local double inner_seconds = 0;
}  // namespace

StageTimer::StageTimer(Trace& trace, Stage stage) noexcept
    : trace_(trace), stage_(stage), begin_(std::chrono::steady_clock::now()), outer_inner_(inner_seconds) {
  inner_seconds = 0;
}

StageTimer::~StageTimer() {
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  trace_.seconds[static_cast<size_t>(stage_)] += elapsed - inner_seconds;
  if (trace_.timeline != nullptr) {
    const double begin = std::chrono::duration<double>(begin_.time_since_epoch()).count();
    trace_.timeline->add({stage_, begin, begin + elapsed, elapsed - inner_seconds});
  }
  inner_seconds = outer_inner_ + elapsed;
}

void Timeline::add(const Interval& interval) noexcept {
  constexpr double k_shortest = 1e-6;  // shorter intervals are invisible and would displace visible ones
  if (interval.end - interval.begin < k_shortest)
    return;
  if (count_ == k_most)
    join_neighbours();
  if (count_ == k_most) {
    ++left_out_;
    return;
  }
  intervals_[count_++] = interval;
}

// Merges pairs of intervals, so that later intervals have as much space as earlier ones.
void Timeline::join_neighbours() noexcept {
  size_t kept = 0;
  for (size_t i = 0; i < count_; ++kept) {
    Interval joined = intervals_[i++];
    if (i < count_ && intervals_[i].stage == joined.stage) {
      joined.end = std::max(joined.end, intervals_[i].end);
      joined.begin = std::min(joined.begin, intervals_[i].begin);
      joined.busy += intervals_[i++].busy;
    }
    intervals_[kept] = joined;
  }
  count_ = kept;
}

double seconds_now() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double working_seconds_now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace windrow
