// SPDX-License-Identifier: BSD-3-Clause
// Counters and stage times of one flush on one rank. All modules above write them; only the report reads them. Counters
// are exact; times are wall-clock seconds of this rank.
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

// Messages with one kind of frame; codec/candidates.hpp numbers the kinds. Bytes are those that this rank sent.
struct CodecCount {
  int64_t messages = 0;
  int64_t bytes_in = 0;   // before compression
  int64_t bytes_out = 0;  // as sent
  double encode_seconds = 0;
  double decode_seconds = 0;  // for messages that this rank received
};
// Kinds below k_codec_constant are candidates; kind 0: sent uncompressed although compression was possible.
inline constexpr size_t k_codec_constant = k_most_arms, k_codec_kinds = k_codec_constant + 1;

// The time of a rank in a stage. `busy`: seconds of the interval without nested stages.
struct Interval {
  Stage stage = Stage::describe;
  double begin = 0, end = 0;  // as seconds_now()
  double busy = 0;
};

// The intervals of one flush, up to a fixed number. If it is full, adjacent intervals of a stage are merged; intervals
// that do not fit are counted. Allocates nothing.
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
  Timeline* timeline = nullptr;  // intervals of a recorded flush
  std::array<double, k_stages> seconds{};
  double total_seconds = 0;
  int64_t bytes_written = 0;  // by this rank's storage requests, of variables
  int64_t bytes_read = 0;
  int64_t write_requests = 0;
  int64_t read_requests = 0;
  int64_t messages = 0;  // data messages to other ranks
  int64_t message_bytes = 0;
  // compressible messages that were sampled while an earlier one was in flight
  int64_t messages_overlapped = 0;
  int64_t probe_bytes = 0;  // sent to measure the link
  // compressed with a different codec than most messages, or separately, because of the receiver's data or link
  int64_t messages_own_arm = 0;
  int64_t description_messages = 0;  // descriptions for other ranks, including those in shared memory
  int64_t description_bytes = 0;
  int64_t message_bytes_before_codec = 0;
  int64_t description_bytes_before_codec = 0;
  double codec_description_seconds = 0;
  int64_t codec_memory = 0;  // working memory of compressors
  std::array<CodecCount, k_codec_kinds> codecs{};
  int64_t bytes_copied = 0;     // by the library's copies: pack, unpack, copy into place
  int64_t bytes_shared = 0;     // of those, through shared memory of the host
  int64_t buffer_bytes = 0;     // memory for rounds: windows, staging, messages
  int64_t bytes_mapped = 0;     // of those, from the mapped page cache
  int64_t bytes_broadcast = 0;  // broadcast by one rank
  int64_t direct_bytes = 0;     // written from or read into user memory without a copy
  int64_t rounds = 0;           // windows that this rank filled
  int64_t allocations = 0;      // buffers allocated in this flush
  int64_t plans_made = 0;
  int64_t io_threads = 0;      // 1: this rank's I/O thread made the requests, so their time is not part of the exchange
  int64_t shared_refused = 0;  // 1: no shared memory for this rank's pieces, so they were sent as messages
  int64_t values_clamped = 0;  // values outside the range of the target type
  int64_t metadata_opens = 0;  // of the file since it was created or opened, like the next: by rank 0
  int64_t data_opens = 0;      // by this rank, to move data of variables
  int64_t is_writer = 0;       // 1: this rank accessed the file for data
  int64_t targets = 0;         // storage targets that this rank's requests accessed, if the file is striped
};

// Adds the time until the end of the scope to one stage. The time of a nested timer is subtracted from that of the
// outer one.
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
  double outer_inner_;  // seconds that the enclosing timer must subtract already
};

double seconds_now() noexcept;          // monotonic, with an arbitrary origin
double working_seconds_now() noexcept;  // CPU time of this thread, with an arbitrary origin

}  // namespace windrow
