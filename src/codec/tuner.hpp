// SPDX-License-Identifier: BSD-3-Clause
// Tuner: selects the compressor from measurements. It has two parts. The model, one for each rank, predicts the cost of
// a message. The tuner, identical on all ranks, tries the arms that the model predicts as nearly equal and keeps the
// fastest. TPC I/O leaves this heuristic to future work (section 6): "based on network features, data characteristics,
// compression level, and number of processes". Pure: the caller measures times.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "codec/candidates.hpp"

namespace windrow {

using ArmNumbers = std::array<double, k_most_arms>;

inline constexpr double k_worth = 0.95;  // a message must shrink to this fraction

// Predicted seconds of messages for each arm. `found`: over the link at the speed that messages observed; `quiet`: over
// a link without other traffic. A link looks slow if ranks share cores, and is slow if others send: the truth lies
// between the two. Zeros: not sampled. `wire`: of `found`, the wire alone; zeros: unknown.
struct Predicted {
  ArmNumbers found{}, quiet{}, wire{};
};

// Exponential moving average with weight 1/4 for new values; 0 while empty.
class Smoothed {
 public:
  void add(double value) noexcept {
    value_ = known_ && !guessed_ ? value_ + (value - value_) / 4 : value, known_ = true, guessed_ = false;
  }
  // Used until there is a measurement.
  void guess(double value) noexcept { value_ = value, known_ = guessed_ = true; }
  bool known() const noexcept { return known_; }
  bool guessed() const noexcept { return guessed_; }
  double value() const noexcept { return value_; }

 private:
  double value_ = 0;
  bool known_ = false, guessed_ = false;
};

// Seconds for each raw byte.
using ArmSpeeds = std::array<Smoothed, k_most_arms>;

inline constexpr size_t k_element_sizes = 5;  // 1, 2, 4, 8 bytes, and others
size_t element_kind(int element_bytes) noexcept;

// The measurements of one rank; lives as long as its communicator.
class CodecModel {
 public:
  // Encoding times for elements of `element_bytes`: sizes 1, 2, 4, 8 and others are separate.
  ArmSpeeds& encode(int element_bytes) noexcept;
  const ArmSpeeds& encode(int element_bytes) const noexcept;
  const ArmSpeeds& decode() const noexcept { return decode_; }

  // Records the time of a sample, in seconds a byte. The least time counts for an arm until it has encoded a message,
  // and is then used for other arms only. If messages took longer than samples of their arms, which are short and in
  // cache, the times of other arms are scaled by the same factor.
  void guess(size_t arm, int element_bytes, double seconds) noexcept;

  // Records the time to encode or decode a message, in seconds a byte. The weight of outliers is limited: page faults
  // on new memory made the first messages of a program ten times slower.
  void made(size_t arm, int element_bytes, double seconds) noexcept;
  void decoded(size_t arm, double seconds) noexcept;

  // Records the error of samples, by arm: the best compressors look worse in a few KiB. A message had the sampled ratio
  // `sampled` and the real ratio `made`.
  void compare(size_t arm, int element_bytes, double sampled, double made) noexcept;
  double corrected(size_t arm, int element_bytes, double sampled) const noexcept;

  // The distribution of work. `encodes`, `decodes`: number of ranks whose messages one rank encodes or decodes while
  // another encodes its own; an aggregator works for all that send to it. `ranks_a_core`: up to 1, a message is encoded
  // while another is in flight, so half of the work counts. With more there is no idle core, and the work of others
  // counts too.
  struct Work {
    double encodes = 1, decodes = 1, ranks_a_core = 1;
    double weight() const noexcept { return ranks_a_core > 1 ? ranks_a_core : 0.5; }
  };

  // Seconds for each raw byte to encode and decode it, as far as they count. Not for arm 0.
  double work(size_t arm, int element_bytes, Work work) const noexcept;

  // Seconds for each raw byte with an arm of compression ratio `ratio`, over a link of `link` seconds a byte: wire and
  // work.
  double cost(size_t arm, double ratio, double link, int element_bytes, Work work) const noexcept;

  // The least work of any arm. If it exceeds the time of the link, no arm can gain, and bytes need no sampling.
  double least_work(int element_bytes, Work work) const noexcept;

 private:
  double seconds_to_make(size_t arm, size_t kind) const noexcept;  // `kind` of elements

  std::array<ArmSpeeds, k_element_sizes> encode_;
  std::array<ArmNumbers, k_element_sizes> guesses_{};  // 0: none
  std::array<ArmSpeeds, k_element_sizes> correction_;
  ArmSpeeds decode_;
};

// Accumulates the messages of a run for each arm. The wire time is added with each message. The work is computed at the
// end, when its speed is known best.
class RunTally {
 public:
  void add(double bytes, const ArmNumbers& ratios, double found_link, double quiet_link, int element_bytes) noexcept;
  Predicted predicted(const CodecModel& model, CodecModel::Work work) const noexcept;  // zeros: no message was added

 private:
  Predicted wire_;
  std::array<double, k_element_sizes> bytes_{};
};

// The local state of a rank for runs of one kind, in addition to the common state.
struct CodecNotes {
  bool own_arms = false;  // since the last sampling, some message used another arm than the order's
};

// How to encode the messages of a run. The same on every rank, except for the notes.
struct CodecOrder {
  size_t arm = k_arm_off;  // CodecTuner::k_by_message: each rank decides for each message
  // samples the first message to each receiver; the tuner receives the predictions
  bool looks = false;
  Predicted all = {};           // prediction of the last sampling for the messages of all ranks; zeros: none yet
  CodecNotes* notes = nullptr;  // of this rank; live as long as the tuner
};

// The arm for messages to one rank. The arm that a trial found best for all messages may not be best for one receiver
// with different data or a different link. Another arm is used if its predicted gain is far larger for these messages
// than for all; the trial has shown the model's error for both. `costs`: of a message to this rank for each arm;
// `best`: the arm with the least cost.
size_t own_arm(const CodecOrder& order, const ArmNumbers& costs, size_t best) noexcept;

// The tuner of a plan that runs repeatedly. All its inputs are the same on every rank, so its answers are too.
class CodecTuner {
 public:
  // nothing is known yet: each rank decides for each message by its model
  static constexpr size_t k_by_message = k_most_arms;

  // `preferred`: chosen unless another arm is faster by 10 %; k_arm_off: none.
  explicit CodecTuner(size_t preferred = k_arm_off) noexcept : preferred_(preferred) {}

  size_t arm() const noexcept;  // of the next run
  CodecOrder order() noexcept {
    return {.arm = arm(),
            .looks = state_ == State::unknown || (state_ == State::chosen && seen_ % k_looks == 0),
            .all = latest_,
            .notes = &notes_};
  }

  // Records that a run with `arm` took `seconds`. `predicted`: for the messages of all ranks; zeros: not sampled.
  void learn(size_t arm, double seconds, const Predicted& predicted) noexcept;

  bool has_chosen() const noexcept { return state_ == State::chosen; }
  std::string why() const;

 private:
  enum class State {
    unknown,
    trying,
    chosen
  };
  enum class Look {
    first,
    again
  };
  void choose_candidates(const Predicted& predicted, Look look) noexcept;
  void add_candidate(size_t arm, Look look) noexcept;
  void learn_trial(size_t arm, double seconds) noexcept;
  bool looks_again(const Predicted& predicted) noexcept;
  void watch(double seconds) noexcept;  // whether runs take the usual time
  void drop_slow() noexcept;
  void choose() noexcept;

  static constexpr int64_t k_looks = 8;  // one run in this many samples
  static constexpr int64_t k_first_due = 64;
  size_t preferred_;
  State state_ = State::unknown;
  std::array<size_t, k_most_arms> candidates_{};  // best prediction first
  size_t count_ = 0;
  size_t tried_ = 0;   // runs of the trial
  ArmNumbers best_{};  // least seconds in the trial, by arm; 0: not tried
  double usual_ = 0;   // seconds of a run with the chosen arm; 0: unknown
  size_t chosen_ = k_arm_off;
  int64_t seen_ = 0;  // number of runs
  CodecNotes notes_;
  int64_t runs_ = 0;                 // since the choice
  int64_t next_look_ = k_first_due;  // runs after the choice until the next trial
  Predicted latest_;                 // of the last run with sampling
  double gain_ = 1;   // predicted cost of the chosen arm relative to the least, at the time of the choice
  int outliers_ = 0;  // consecutive runs far from the time of the trial
};

}  // namespace windrow
