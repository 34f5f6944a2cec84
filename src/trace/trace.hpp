// SPDX-License-Identifier: BSD-3-Clause
// Counters and stage times of one flush on one rank. Written by all rooms above, read by the report only.
// Counters are exact; times are wall-clock seconds of this rank.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

#include "codec/candidates.hpp"

namespace windrow {

enum class Stage : int {
  describe,
  plan,
  routes,
  descriptions,
  exchange,
  storage,
  agree,
  count
};
std::string_view stage_name(Stage stage) noexcept;
inline constexpr int k_stages = static_cast<int>(Stage::count);

// Messages that became one kind of frame; the numbers of compressors are codec/arms.hpp's. Bytes of those that this
// rank sent.
struct CodecCount {
  int64_t messages = 0;
  int64_t bytes_in = 0;   // before
  int64_t bytes_out = 0;  // on their way
  double encode_seconds = 0;
  double decode_seconds = 0;  // of those that this rank received
};
inline constexpr size_t k_codec_constant = k_most_arms,
                        k_codec_kinds =
                            k_codec_constant +
                            1;  // those before: arms; 0: sent as they are, where they might have been compressed

// When a rank was in a stage. `busy`: seconds of the interval that were the stage's own.
struct Interval {
  Stage stage = Stage::describe;
  double begin = 0, end = 0;  // as seconds_now()
  double busy = 0;
};

// The intervals of one flush, as many as there is room for. When it is full, neighbours of one stage become one; what
// finds no room then is counted. Allocates nothing.
class Timeline {
 public:
  static constexpr size_t k_most = 48;
  void add(const Interval& interval) noexcept;
  void clear() noexcept { count_ = 0, left_out_ = 0; }
  std::span<const Interval> intervals() const noexcept { return std::span(intervals_).first(count_); }
  int64_t left_out() const noexcept { return left_out_; }

 private:
  void join_neighbours() noexcept;
  std::array<Interval, k_most> intervals_{};
  size_t count_ = 0;
  int64_t left_out_ = 0;
};

struct Trace {
  Timeline* timeline = nullptr;  // where a recorded flush has its intervals
  std::array<double, k_stages> seconds{};
  double total_seconds = 0;
  int64_t bytes_written = 0;  // of variables, by this rank's storage requests
  int64_t bytes_read = 0;
  int64_t write_requests = 0;
  int64_t read_requests = 0;
  int64_t messages = 0;  // data messages sent to other ranks
  int64_t message_bytes = 0;
  int64_t messages_overlapped =
      0;                    // of those that may be compressed: looked at while an earlier one of this rank's travelled
  int64_t probe_bytes = 0;  // sent to measure the link
  int64_t messages_own_way =
      0;  // compressed in another way than most, or alone, since their receiver's data or link is another
  int64_t description_messages = 0;  // letters to other ranks, also those left in memory that a host shares
  int64_t description_bytes = 0;
  int64_t message_bytes_before_codec = 0;
  int64_t description_bytes_before_codec = 0;
  double codec_description_seconds = 0;
  int64_t codec_memory = 0;  // that compressors work with
  std::array<CodecCount, k_codec_kinds> codecs{};
  int64_t bytes_copied = 0;     // by our own copies: pack, unpack, copy into place
  int64_t bytes_shared = 0;     // of those, through memory that the host shares
  int64_t buffer_bytes = 0;     // held for rounds: windows, staging, messages
  int64_t bytes_mapped = 0;     // of those, out of the file's bytes in the system's memory
  int64_t bytes_broadcast = 0;  // that one rank sent to all at once
  int64_t direct_bytes = 0;     // written from or read into the user's memory without a copy
  int64_t rounds = 0;           // of this rank: windows that it has filled
  int64_t allocations = 0;      // buffers newly allocated in this flush
  int64_t plans_made = 0;
  int64_t io_threads = 0;  // 1: this rank's I/O thread made the requests; their time is not part of the exchange's then
  int64_t shared_refused = 0;  // 1: there was no shared memory for this rank's pieces, so they went as messages
  int64_t values_clamped = 0;  // that did not fit into the type that they were converted to
  int64_t metadata_opens = 0;  // of the file since it was created or opened, as the next: by rank 0 alone
  int64_t data_opens = 0;      // by this rank, to move variables' bytes
  int64_t is_writer = 0;       // 1: this rank touched the file for data
  int64_t targets = 0;         // of the storage, that this rank's requests touched; where the file lies in stripes
};

// Adds the time until it goes out of scope to one stage. Stages do not nest: an inner timer's time is taken from the
// outer.
class StageTimer {
 public:
  StageTimer(Trace& trace, Stage stage) noexcept;
  ~StageTimer();
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  Trace& trace_;
  Stage stage_;
  std::chrono::steady_clock::time_point begin_;
  double outer_inner_;  // what the enclosing timer has to take off already
};

double seconds_now() noexcept;          // monotonic, from an arbitrary origin
double working_seconds_now() noexcept;  // that this thread had a core, from an arbitrary origin

}  // namespace windrow
