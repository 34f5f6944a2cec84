// SPDX-License-Identifier: BSD-3-Clause
// Coder: compresses messages to other hosts while they are sent, if that pays, and decompresses received ones (TPC I/O,
// section 4). A message of the expected length is not a frame; a shorter one is. Uncompressed messages therefore need
// no header and no copy. If messages carry checksums, all of them are frames.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "codec/codec.hpp"
#include "codec/tuner.hpp"
#include "comm/comm.hpp"
#include "plan/plan.hpp"
#include "trace/trace.hpp"

namespace windrow {

// State kept with the communicator, across flushes and files.
struct CodecMemory {
  CodecModel model;
  std::map<int, Smoothed> links;  // by receiving host: seconds for each byte of messages from this rank's host
  bool rough_link = false;        // the communicator's link was measured with short messages only
  struct KnownTuner {
    std::array<int64_t, 4> key{};
    std::shared_ptr<CodecTuner> tuner;
  };
  std::array<KnownTuner, 64> tuners;  // the oldest is replaced
  size_t next_tuner = 0;
  // Shared by all transfers of the communicator, of which one runs at a time; they grow.
  std::unique_ptr<CodecWorkspace> workspace;
  int level = 0;  // level of the workspace
  std::unique_ptr<std::byte[]> scratch;
  int64_t scratch_bytes = 0;
  double run_seconds = 0,
         sampling_seconds = 0;  // total time of runs that leave the choice open, and of the samples in them
};

// Bytes that each host may send to measure the link before all ranks together move `moved_bytes`: a tenth of these,
// divided among the hosts.
int64_t probe_allowance(const Comm& comm, int64_t moved_bytes) noexcept;

// Whether the link is measured first: the plan sends messages and leaves the choice open, and the link was not measured
// yet, or only with short messages although longer ones are now allowed. The same on every rank.
bool probes(const Plan& plan, Comm& comm, int64_t moved_bytes) noexcept;

// Collective if probes(). The status is this rank's own.
Status probe_link(Comm& comm, const Plan& plan, int64_t moved_bytes, Trace& trace);

// A tuner if the plan leaves the choice open, otherwise nullptr. May throw std::bad_alloc.
std::shared_ptr<CodecTuner> make_tuner(Comm& comm, const Plan& plan);
// The tuner of flushes of one kind: the one of an earlier file, otherwise `made`. The numbers are the same on all
// ranks. All ranks call this after they have agreed that each has its plan, so all have the same tuners. `split_flush`:
// for split flushes.
std::shared_ptr<CodecTuner> keep_tuner(Comm& comm, const Plan& plan, int64_t bytes, int64_t pieces, bool split_flush,
                                       std::shared_ptr<CodecTuner> made) noexcept;

// Whether messages between hosts may be compressed.
bool compresses(const Plan& plan, const Comm& comm) noexcept;

// Messages from this rank to one other.
struct Traffic {
  int rank = 0;
  bool coded = false;     // its messages may be frames
  int element_bytes = 1;  // of most of its data
  int64_t messages = 0;   // in this run
  int64_t raw_bytes = 0;
  int64_t wire_bytes = 0;
  ArmNumbers ratios{};       // of the latest sample; 0: none
  int64_t leave_alone = 0;   // messages to skip before the next sample, since the last ones would not shrink
  Smoothed* link = nullptr;  // in CodecMemory: shared by all traffic to a host
  void begin() noexcept { messages = raw_bytes = wire_bytes = 0; }
};

class Coder {
 public:
  // `checks`: messages carry checksums. May throw std::bad_alloc.
  Coder(Comm& comm, const Plan& plan, bool checks, Trace& trace);

  // Whether messages to or from `rank` may be frames.
  bool codes(int rank) const noexcept {
    return (checks_ && rank != comm_.rank()) || (compresses_ && comm_.host_rank_of(rank) < 0);
  }
  bool checks() const noexcept { return checks_; }
  bool measures() const noexcept { return automatic_ && compresses_; }
  // Maximum length on the wire of a message of `raw` bytes.
  int64_t room(int64_t raw) const noexcept { return raw + (checks_ ? k_frame_header : 0); }

  // In advance; allocates. Registers each receiver of this rank, and the largest message in either direction. May throw
  // std::bad_alloc.
  void add(Traffic& traffic);
  void expect(int64_t largest) noexcept { largest_ = std::max(largest_, largest); }
  Status prepare();

  // Before each run. The order is used only if the plan leaves the choice open.
  void begin(const CodecOrder& order) noexcept;
  void end() noexcept;  // once no rank waits for a message any more
  // between begin() and end(), if the plan leaves the choice open
  double seconds() const noexcept { return run_seconds_; }

  // This run has no compressor and no samples: it is known that every receiver of this rank does best without
  // compression.
  bool passive() const noexcept { return passive_; }
  size_t arm() const noexcept { return order_.arm; }  // of this run
  // The same on every rank: in this run messages are neither compressed nor sampled, except from ranks that announce it
  // in their notes.
  bool is_off() const noexcept { return measures() && !checks_ && order_.arm == k_arm_off && !order_.looks; }
  // Registers a message without encode(). Returns the bytes to send, which are fewer if all elements are equal;
  // otherwise the check is almost free.
  int64_t pass(Traffic& traffic, std::span<std::byte> message) noexcept;

  // The bytes to send for `raw`: itself, or a frame in `frame`, which has room(raw) bytes.
  std::span<const std::byte> encode(Traffic& traffic, std::span<const std::byte> raw, std::byte* frame) noexcept;
  // Counts a message of `raw` bytes that was encoded elsewhere and is sent to one more rank.
  void count_again(Traffic& traffic, std::span<const std::byte> sent, int64_t raw) noexcept;

  // Decodes a message of `raw` bytes, of which `count` bytes arrived in `got`. The result is in `got` or in memory of
  // the coder that is valid until the next call. A malformed frame is an error and gives zeros. `count` may be
  // k_too_long: an error with unspecified bytes.
  const std::byte* decode(int from, const std::byte* got, int64_t count, int64_t raw) noexcept;
  // The same, with the result in `place`, a different buffer.
  void decode_to(int from, const std::byte* got, int64_t count, std::byte* place, int64_t raw) noexcept;
  // The same for a message that was received at its final place.
  void decode_in_place(int from, std::byte* place, int64_t count, int64_t raw) noexcept;

  // Whether to time a message of `bytes`. Short messages are not timed, because their time is mostly latency. Only runs
  // that sample time messages, because this needs synchronous sends, whose handshake delays ranks
  // (docs/internals/notes/2026-11-30-numbers-from-comments.md).
  bool times(int64_t bytes) const noexcept {
    return bytes >= (has_rough_link() ? int64_t{4} << 10 : int64_t{16} << 10) && order_.looks;
  }
  // Records that a message of `bytes` took `seconds` from its start until it was received.
  void took(Traffic& traffic, int64_t bytes, double seconds) noexcept;

  // Of the run: predicted seconds of this rank's messages for each arm.
  Predicted predicted() const noexcept {
    return memory_ == nullptr || is_off() ? Predicted{} : tally_.predicted(memory_->model, work_);
  }
  // For a message that is not a frame.
  void check_length(int from, int64_t count, int64_t raw) noexcept;
  const Status& status() const noexcept { return status_; }
  // Memory shared by all coders of this communicator.
  int64_t bytes() const noexcept {
    return memory_ == nullptr
               ? 0
               : memory_->scratch_bytes + (memory_->workspace == nullptr ? 0 : memory_->workspace->bytes());
  }
  // For descriptions: replaces `description` by a frame preceded by its length if that is shorter, and then returns
  // true. Adds the time to `seconds`. May throw std::bad_alloc.
  bool shrink(int to, std::vector<std::byte>& description, double& seconds);
  Result<std::vector<std::byte>> grow(std::span<const std::byte> description, double& seconds);

 private:
  CodecChoice choice(size_t arm, int element_bytes) const noexcept;
  // A message that is sent as a frame or as it is.
  struct EncodedMessage {
    size_t arm = 0;
    int64_t size = 0;
    int64_t frame = 0;  // bytes; 0: it is sent as it is
    bool equal_elements = false;
    bool is_shorter() const noexcept { return frame > 0 && frame < size; }
    int64_t wire_bytes() const noexcept { return frame > 0 ? frame : size; }
  };
  size_t choose(Traffic& traffic, std::span<const std::byte> raw) noexcept;
  size_t cheapest(const ArmNumbers& costs, double link) const noexcept;
  size_t ordered_arm(const ArmNumbers& costs, size_t best) noexcept;
  bool needs_sample(const Traffic& traffic, std::span<const std::byte> raw) const noexcept;
  // In a run that samples, the first message describes the data for its receiver now.
  bool is_first_look(const Traffic& traffic) const noexcept { return order_.looks && traffic.messages == 1; }
  void count(Traffic& traffic, const EncodedMessage& message, double seconds) noexcept;
  void learn(Traffic& traffic, std::span<const std::byte> raw, const EncodedMessage& message, double began) noexcept;
  bool sample(Traffic& traffic, std::span<const std::byte> raw) noexcept;
  bool knows_speeds(int element_bytes) const noexcept;  // of all compressors for these elements
  bool has_rough_link() const noexcept { return !comm_.link_measured() || (memory_ != nullptr && memory_->rough_link); }
  double quiet_link(const Traffic& traffic) const noexcept;
  double link_of(const Traffic& traffic) const noexcept;
  bool may_sample() const noexcept;
  bool has_own_arms() const noexcept { return order_.notes != nullptr && order_.notes->own_arms; }
  void undo(int from, std::span<const std::byte> frame, std::span<std::byte> raw) noexcept;
  Status reserve(int64_t largest);
  void refuse(int from, const Status& status) noexcept;

  Comm& comm_;
  Trace& trace_;
  bool compresses_ = false, automatic_ = false, checks_ = false;
  size_t fixed_arm_ = k_arm_off;
  int level_ = 0;
  CodecModel::Work work_;
  int64_t sharers_ = 1;  // ranks of this host that send over its link concurrently
  bool passive_ = false;
  // of this run; before the first run: of descriptions
  CodecOrder order_{.arm = CodecTuner::k_by_message, .looks = true};
  int64_t largest_ = 0;
  CodecMemory* memory_ = nullptr;
  RunTally tally_;
  std::array<ArmNumbers, k_element_sizes> ratios_{};  // latest sample of any traffic, by element size
  ArmNumbers sampled_{};                              // the same before correction
  bool fresh_ = false;                                // the sample is of the current message
  double run_began_ = 0;                              // start time; 0: not running
  double run_seconds_ = 0;                            // of the latest run
  Status status_;
};

}  // namespace windrow
