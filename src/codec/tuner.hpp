// SPDX-License-Identifier: BSD-3-Clause
// Tuner: which compressor pays, from what was measured. Two parts: a model, each rank's own, that predicts what a
// message costs; and a tuner, the same on all ranks, that tries what the model predicts as nearly equal and keeps what
// took the least time. This is the heuristic that TPC I/O leaves to the future (section 6): "based on network features,
// data characteristics, compression level, and number of processes". Pure: times are told, not taken.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "codec/candidates.hpp"

namespace windrow {

using ArmNumbers = std::array<double, k_most_arms>;

inline constexpr double k_worth = 0.95;  // of its bytes: what a message has to shrink to

// Seconds of messages by each arm, as a model has them: over the link as messages found it, and over one where nobody
// else sends. Where ranks share cores a link looks slow that is not; where others send over it, it is slow: the two say
// between what the truth lies. Zeros: nobody looked. `wire`: of `found`, those of the wire alone; zeros: nobody said.
struct Predicted {
  ArmNumbers found{}, quiet{}, wire{};
};

// A mean in which what is new counts for a quarter; until there is anything it is 0.
class Smoothed {
 public:
  void add(double value) noexcept {
    value_ = known_ && !guessed_ ? value_ + (value - value_) / 4 : value, known_ = true, guessed_ = false;
  }
  void guess(double value) noexcept {
    value_ = value, known_ = guessed_ = true;
  }  // counts until there is anything better
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

// What one rank has seen; lives as long as its communicator.
class CodecModel {
 public:
  // To encode elements of `element_bytes`: those of 1, of 2, of 4, of 8 and of other sizes are told apart.
  ArmSpeeds& encode(int element_bytes) noexcept;
  const ArmSpeeds& encode(int element_bytes) const noexcept;
  const ArmSpeeds& decode() const noexcept { return decode_; }

  // A sample took so many seconds a byte: the least counts for the arm until a message was made by it, and then for
  // others. Where messages took longer than their arms' samples, which are short and at hand, others' messages would
  // too.
  void guess(size_t arm, int element_bytes, double seconds) noexcept;

  // A message was made, or undone, in so many seconds a byte. One that is far slower than what is known counts for
  // little: memory that is used for the first time took the first messages of a program ten times as long.
  void made(size_t arm, int element_bytes, double seconds) noexcept;
  void undone(size_t arm, double seconds) noexcept;

  // What samples say is too much or too little, by arm: what shrinks best looks worse in a few KiB. A message was
  // sampled as `sampled` and became `made` (of its bytes, both).
  void compare(size_t arm, int element_bytes, double sampled, double made) noexcept;
  double corrected(size_t arm, int element_bytes, double sampled) const noexcept;

  // Who does the work. `encodes`, `decodes`: how many ranks' messages one rank makes, or undoes, in the time that
  // another makes its own: a writer works for all that send to it. `ranks_a_core`: up to 1 a message is made while
  // another travels, so half of the work counts; with more there is no core to spare, and others' work takes its time
  // too.
  struct Work {
    double encodes = 1, decodes = 1, ranks_a_core = 1;
    double weight() const noexcept { return ranks_a_core > 1 ? ranks_a_core : 0.5; }
  };

  // Seconds for a raw byte, to make it and to undo it, as far as they count. Not of arm 0, which has none.
  double work(size_t arm, int element_bytes, Work work) const noexcept;

  // Seconds that a raw byte costs by an arm that makes `ratio` of it, over a link of `link` seconds a byte: the wire,
  // and the work.
  double cost(size_t arm, double ratio, double link, int element_bytes, Work work) const noexcept;

  // The least that any arm would cost for bytes that shrink to nothing: when even that is more than the link's, nobody
  // need look at the bytes.
  double least_work(int element_bytes, Work work) const noexcept;

 private:
  double seconds_to_make(size_t arm, size_t kind) const noexcept;  // of the kinds of elements

  std::array<ArmSpeeds, k_element_sizes> encode_;
  std::array<ArmNumbers, k_element_sizes> guesses_{};  // 0: none
  std::array<ArmSpeeds, k_element_sizes> correction_;
  ArmSpeeds decode_;
};

// The messages of a run, for what they would have taken by each arm. The wire is counted with each message; what work
// costs is known best in the end, when what was used for the first time in a few KiB has been used for more.
class RunTally {
 public:
  void add(double bytes, const ArmNumbers& ratios, double found_link, double quiet_link, int element_bytes) noexcept;
  Predicted predicted(const CodecModel& model, CodecModel::Work work) const noexcept;  // zeros: no message was added

 private:
  Predicted wire_;
  std::array<double, k_element_sizes> bytes_{};
};

// What one rank remembers of the runs of a kind beside what all know.
struct CodecNotes {
  bool own_ways = false;  // since the latest look some message has gone another way than the order says
};

// What is to become of the messages of a run. The same on every rank but for the notes.
struct CodecOrder {
  size_t arm = k_arm_off;  // CodecTuner::k_by_message: each rank decides for each message
  bool looks =
      false;  // the first message to each receiver is looked at anew, and what that predicts is told to the tuner
  Predicted all = {};  // what the latest look predicted of all ranks' messages together; zeros: nobody looked yet
  CodecNotes* notes = nullptr;  // of the rank that is asked; they live as long as the tuner
};

// What was tried and found best for all messages together may not be best for those to one rank, whose data or link is
// another: theirs go another way where that is predicted to gain far more with them than with all. How far the model is
// wrong the trial has shown for both alike. `costs`: of a message to it by each arm; `best`: the least of them. The arm
// to take.
size_t own_way(const CodecOrder& order, const ArmNumbers& costs, size_t best) noexcept;

// Of one plan that runs again and again. All numbers that it is told are the same on every rank, so its answers are
// too.
class CodecTuner {
 public:
  static constexpr size_t k_by_message =
      k_most_arms;  // nothing is known yet: each rank decides for each message by its model

  // `preferred`: is taken unless another is faster by a tenth; k_arm_off: none is.
  explicit CodecTuner(size_t preferred = k_arm_off) noexcept : preferred_(preferred) {}

  size_t arm() const noexcept;  // for the next run
  CodecOrder order() noexcept {
    return {.arm = arm(),
            .looks = state_ == State::unknown || (state_ == State::settled && seen_ % k_looks == 0),
            .all = latest_,
            .notes = &notes_};
  }

  // A run by `arm` took `seconds`. `predicted`: of all ranks' messages together; zeros: nobody looked.
  void learn(size_t arm, double seconds, const Predicted& predicted) noexcept;

  bool settled() const noexcept { return state_ == State::settled; }
  std::string why() const;

 private:
  enum class State {
    unknown,
    trying,
    settled
  };
  enum class Look {
    first,
    again
  };
  void choose_candidates(const Predicted& predicted, Look look) noexcept;
  void drop_hopeless() noexcept;
  void settle() noexcept;

  static constexpr int64_t k_looks = 8;  // of so many runs one looks
  static constexpr int64_t k_first_due = 64;
  size_t preferred_;
  State state_ = State::unknown;
  std::array<size_t, k_most_arms> candidates_{};  // best predicted first
  size_t count_ = 0;
  size_t tried_ = 0;   // runs of the trial
  ArmNumbers best_{};  // least seconds of the trial, by arm; 0: not tried
  double usual_ = 0;   // seconds of a run by what was chosen; 0: not known yet
  size_t chosen_ = k_arm_off;
  int64_t seen_ = 0;  // runs in all
  CodecNotes notes_;
  int64_t runs_ = 0;                 // since the choice
  int64_t next_look_ = k_first_due;  // so many runs after the choice there is another trial
  Predicted latest_;                 // by the latest run that looked
  double gain_ = 1;  // that was predicted when the choice was made: what the chosen costs over the least
  int strays_ = 0;   // runs one after the other that took far longer or shorter than the trial's
};

}  // namespace windrow
