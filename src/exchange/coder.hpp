// SPDX-License-Identifier: BSD-3-Clause
// Coder: makes messages to other hosts smaller on their way, where that pays, and undoes it (TPC I/O, section 4). A
// message as long as what is awaited is no frame; a shorter one is. So what is not compressed travels as it would
// without any of this: no header, no copy. Where messages carry checksums all of them are frames.
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

// What is remembered with a communicator, from one flush and one file to the next.
struct CodecMemory {
  CodecModel model;
  std::map<int, Smoothed> links;  // by receiving host: seconds a byte that messages from this rank's host to it took
  bool rough_link = false;        // the communicator's was measured, by short messages only
  struct KnownTuner {
    std::array<int64_t, 4> key{};
    std::shared_ptr<CodecTuner> tuner;
  };
  std::array<KnownTuner, 64> tuners;  // the oldest make room
  size_t next_tuner = 0;
  // Of all transfers of the communicator, one at a time; they grow.
  std::unique_ptr<CodecWorkspace> workspace;
  int level = 0;  // that the workspace is for
  std::unique_ptr<std::byte[]> scratch;
  int64_t scratch_bytes = 0;
  double run_seconds = 0,
         sampling_seconds = 0;  // of all runs that leave the choice open, and of the samples taken in them
};

// Bytes that each host may send to measure the link before so many are moved by all ranks together: a tenth of these,
// shared by the hosts.
int64_t probe_allowance(const Comm& comm, int64_t moved_bytes) noexcept;

// Whether the link is measured first: a plan that sends messages leaves the choice open, and nobody has measured the
// link yet, or only by short messages where longer ones are allowed now. The same answer on every rank.
bool probes(const Plan& plan, Comm& comm, int64_t moved_bytes) noexcept;

// Collective where probes(). The status is this rank's own.
Status probe_link(Comm& comm, const Plan& plan, int64_t moved_bytes, Trace& trace);

// A tuner for a plan that leaves the choice open, or nullptr. May throw std::bad_alloc.
std::shared_ptr<CodecTuner> make_tuner(Comm& comm, const Plan& plan);
// The tuner of flushes of one kind: `made`, or the one that an earlier file of that kind has kept. The numbers are the
// same on all ranks, and all come here once they have agreed that each has its plan, so that all know the same tuners.
// `behind`: of flushes in two.
std::shared_ptr<CodecTuner> keep_tuner(Comm& comm, const Plan& plan, int64_t bytes, int64_t pieces, bool behind,
                                       std::shared_ptr<CodecTuner> made) noexcept;

// Whether messages between hosts may be compressed.
bool compresses(const Plan& plan, const Comm& comm) noexcept;

// Messages from this rank to another.
struct Traffic {
  int rank = 0;
  bool coded = false;     // its messages may be frames
  int element_bytes = 1;  // of most of what it carries
  int64_t messages = 0;   // of this run
  int64_t raw_bytes = 0;
  int64_t wire_bytes = 0;
  ArmNumbers ratios{};       // by the latest sample; 0: none
  int64_t leave_alone = 0;   // messages that are not looked at, since those before would not shrink
  Smoothed* link = nullptr;  // of the memory: all traffic to a host shares one
  void begin() noexcept { messages = raw_bytes = wire_bytes = 0; }
};

class Coder {
 public:
  // `checks`: messages carry checksums.
  // May throw std::bad_alloc.
  Coder(Comm& comm, const Plan& plan, bool checks, Trace& trace);

  // Whether messages to or from `rank` may be frames.
  bool codes(int rank) const noexcept {
    return (checks_ && rank != comm_.rank()) || (compresses_ && comm_.host_rank_of(rank) < 0);
  }
  bool checks() const noexcept { return checks_; }
  bool measures() const noexcept { return automatic_ && compresses_; }
  // Bytes that a message of `raw` may have on its way.
  int64_t room(int64_t raw) const noexcept { return raw + (checks_ ? k_frame_header : 0); }

  // Beforehand; allocates. All that this rank will send is to be told of, and the largest message in either direction.
  // May throw std::bad_alloc.
  void add(Traffic& traffic);
  void expect(int64_t largest) noexcept { largest_ = std::max(largest_, largest); }
  Status prepare();

  // Before each run. The order counts only where the plan leaves the choice open.
  void begin(const CodecOrder& order) noexcept;
  void end() noexcept;                                      // once nobody waits for a message any more
  double seconds() const noexcept { return run_seconds_; }  // between these two, where the plan leaves the choice open

  // In this run there is no compressor, and nobody looks at what one might do: without compression is known to be best,
  // for every receiver of this rank's.
  bool passive() const noexcept { return passive_; }
  size_t arm() const noexcept { return order_.arm; }  // of this run
  // The same on every rank: no message of this run is to be a frame, nor looked at, but for those of ranks that know
  // better.
  bool rests() const noexcept { return measures() && !checks_ && order_.arm == k_arm_off && !order_.looks; }
  // A message goes without encode(). The bytes to send, which are fewer where all elements are equal: to see that they
  // are not costs nothing.
  int64_t pass(Traffic& traffic, std::span<std::byte> message) noexcept;

  // The bytes to send for `raw`: itself, or a frame in `frame`, which has room(raw) bytes.
  std::span<const std::byte> encode(Traffic& traffic, std::span<const std::byte> raw, std::byte* frame) noexcept;
  // What somebody has encoded for a message of `raw` bytes goes to one more rank.
  void count_again(Traffic& traffic, std::span<const std::byte> sent, int64_t raw) noexcept;

  // What has arrived in `got`, of `count` bytes, for a message of `raw` bytes. The message, in `got` or in memory of
  // the coder that holds until the next call. A frame that is none is an error, and zeros. `count` may be k_too_long:
  // an error, and the bytes are any.
  const std::byte* decode(int from, const std::byte* got, int64_t count, int64_t raw) noexcept;
  // The same, where what it becomes goes to `place`, elsewhere.
  void decode_to(int from, const std::byte* got, int64_t count, std::byte* place, int64_t raw) noexcept;
  // The same for a message that has been received at its final place.
  void decode_in_place(int from, std::byte* place, int64_t count, int64_t raw) noexcept;

  // Whether that is of use for one of `bytes`: in short ones there is more latency than link. In runs that look: to be
  // told when a message was taken, MPI sends it by a handshake, which held 8 ranks on four hosts up for 4 to 6 ms of 18
  // to 30.
  bool times(int64_t bytes) const noexcept {
    return bytes >= (has_rough_link() ? int64_t{4} << 10 : int64_t{16} << 10) && order_.looks;
  }
  // A message of `bytes` took `seconds` from its start until it was taken.
  void took(Traffic& traffic, int64_t bytes, double seconds) noexcept;

  // Of the run: seconds of this rank's messages by each arm, as its model has them.
  Predicted predicted() const noexcept {
    return memory_ == nullptr || rests() ? Predicted{} : tally_.predicted(memory_->model, work_);
  }
  // Of a message that is no frame.
  void check_length(int from, int64_t count, int64_t raw) noexcept;
  const Status& status() const noexcept { return status_; }
  // Of memory that all coders of this communicator share.
  int64_t bytes() const noexcept {
    return memory_ == nullptr
               ? 0
               : memory_->scratch_bytes + (memory_->workspace == nullptr ? 0 : memory_->workspace->bytes());
  }
  // Descriptions: `letter` becomes a frame with its length in front when that is shorter; true then. `seconds`: it took
  // so many more. May throw std::bad_alloc.
  bool shrink(int to, std::vector<std::byte>& letter, double& seconds);
  Result<std::vector<std::byte>> grow(std::span<const std::byte> letter, double& seconds);

 private:
  CodecChoice choice(size_t arm, int element_bytes) const noexcept;
  size_t choose(Traffic& traffic, std::span<const std::byte> raw) noexcept;
  bool sample(Traffic& traffic, std::span<const std::byte> raw) noexcept;
  bool knows_speeds(int element_bytes) const noexcept;  // of all compressors of such elements
  bool has_rough_link() const noexcept { return !comm_.link_measured() || (memory_ != nullptr && memory_->rough_link); }
  double quiet_link(const Traffic& traffic) const noexcept;
  double link_of(const Traffic& traffic) const noexcept;
  bool may_sample() const noexcept;
  bool has_own_ways() const noexcept { return order_.notes != nullptr && order_.notes->own_ways; }
  void undo(int from, std::span<const std::byte> frame, std::span<std::byte> raw) noexcept;
  Status reserve(int64_t largest);
  void refuse(int from, const Status& status) noexcept;

  Comm& comm_;
  Trace& trace_;
  bool compresses_ = false, automatic_ = false, checks_ = false;
  size_t fixed_arm_ = k_arm_off;
  int level_ = 0;
  CodecModel::Work work_;
  int64_t sharers_ = 1;  // ranks of this host that send over its link at once
  bool passive_ = false;
  CodecOrder order_{.arm = CodecTuner::k_by_message, .looks = true};  // of this run; before the first: of descriptions
  int64_t largest_ = 0;
  CodecMemory* memory_ = nullptr;
  RunTally tally_;
  std::array<ArmNumbers, k_element_sizes> ratios_{};  // by the latest sample of any traffic of such elements
  ArmNumbers sampled_{};                              // the same before it is corrected
  bool fresh_ = false;                                // of this very message
  double run_began_ = 0;                              // when; 0: it has ended
  double run_seconds_ = 0;                            // of the latest
  Status status_;
};

}  // namespace windrow
