// SPDX-License-Identifier: BSD-3-Clause
#include "codec/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "base/units.hpp"

namespace windrow {
namespace {

// Bounds of predicted cost relative to the best for a trial. If the wire dominates, the model is accurate to about a
// tenth, since samples are. Elsewhere it may be wrong by half and must not decide; it knows least about ranks that
// share cores and send uncompressed messages. A trial of a slow arm is expensive, so the first trial has narrow bounds
// and later ones wider bounds. In the first runs memory is touched for the first time, which makes arms that use it
// look about a tenth slower; the narrow bounds allow for that.
constexpr double k_slow_link = 3;  // cost of uncompressed messages relative to the best
constexpr double k_nearly_equal_wire = 1.12, k_nearly_equal = 1.5, k_nearly_equal_off = 3;
constexpr double k_nearly_equal_first = 1.25, k_nearly_equal_off_first = 2;
constexpr size_t k_most_candidates = 4;
constexpr size_t k_tries = 3;  // for each candidate: the first try after a change includes cold caches and contexts
// relative to the best: a candidate is dropped after two tries, or after one
constexpr double k_too_slow = 1.25, k_too_slow_at_once = 1.5;
// for each byte: a clock without progress must not give 0, which means unknown
constexpr double k_least_seconds = 1e-12;
constexpr double k_clock = 1e-9;  // seconds; numbers are rounded to this
constexpr double k_outlier = 1.6;
constexpr int k_outliers = 3;
// relative increase of the predicted gain of another arm that shows a change of data or link
constexpr double k_changed = 1.5;
constexpr double k_changed_untried = 1.15;  // the same without a trial, where no error of the model was seen
constexpr double k_off_bonus = 0.98;        // uncompressed messages take no time on the cores of other ranks
constexpr double k_preferred_bonus = 0.9;
// relative to the time of another codec: within the noise of the clock the faster prediction wins
constexpr double k_no_less = 0.97;

}  // namespace

size_t element_kind(int element_bytes) noexcept {
  switch (element_bytes) {
    case 1:
      return 0;
    case 2:
      return 1;
    case 4:
      return 2;
    case 8:
      return 3;
    default:
      return 4;
  }
}

ArmSpeeds& CodecModel::encode(int element_bytes) noexcept {
  return encode_[element_kind(element_bytes)];
}
const ArmSpeeds& CodecModel::encode(int element_bytes) const noexcept {
  return encode_[element_kind(element_bytes)];
}

namespace {

void add_bounded(Smoothed& known, double seconds, double usual) noexcept {
  constexpr double k_most = 1.5;
  known.add(usual > 0 ? std::min(seconds, k_most * usual) : seconds);
}

}  // namespace

void CodecModel::guess(size_t arm, int element_bytes, double seconds) noexcept {
  const size_t kind = element_kind(element_bytes);
  Smoothed& known = encode_[kind][arm];
  double& guess = guesses_[kind][arm];
  guess = std::max(guess == 0 ? seconds : std::min(seconds, guess), k_least_seconds);
  if (!known.known() || known.guessed())
    known.guess(guess);
}

double CodecModel::seconds_to_make(size_t arm, size_t kind) const noexcept {
  const Smoothed& known = encode_[kind][arm];
  if (!known.known())
    return 1e-6 / compressor_of(arm)->megabytes_per_s();
  if (!known.guessed())
    return known.value();
  constexpr double k_least = 0.5, k_most = 4;
  double messages = 0, samples = 0;
  for (size_t other = 1; other < arm_count(); ++other) {
    if (guesses_[kind][other] == 0 || encode_[kind][other].guessed())
      continue;
    messages += encode_[kind][other].value();
    samples += guesses_[kind][other];
  }
  return known.value() * (samples > 0 ? std::clamp(messages / samples, k_least, k_most) : 1);
}

void CodecModel::made(size_t arm, int element_bytes, double seconds) noexcept {
  const size_t kind = element_kind(element_bytes);
  Smoothed& known = encode_[kind][arm];
  add_bounded(known, seconds, known.known() ? seconds_to_make(arm, kind) : 0);
}

void CodecModel::decoded(size_t arm, double seconds) noexcept {
  Smoothed& known = decode_[arm];
  double usual = known.value();
  if (!known.known())
    for (const ArmSpeeds& speeds : encode_)
      usual = std::max(usual, speeds[arm].value());
  add_bounded(known, seconds, usual);
}

double CodecModel::work(size_t arm, int element_bytes, Work work) const noexcept {
  if (!compressor_of(arm)->does(element_bytes))
    return 0;
  const double there = seconds_to_make(arm, element_kind(element_bytes));
  const double back = decode_[arm].known() ? decode_[arm].value() : there * compressor_of(arm)->decode_share();
  return (work.encodes * there + work.decodes * back) * work.weight();
}

double CodecModel::cost(size_t arm, double ratio, double link, int element_bytes, Work work) const noexcept {
  return arm == k_arm_off ? link : ratio * link + this->work(arm, element_bytes, work);
}

void RunTally::add(double bytes, const ArmNumbers& ratios, double found_link, double quiet_link,
                   int element_bytes) noexcept {
  for (size_t arm = 0; arm < arm_count(); ++arm) {
    wire_.found[arm] += bytes * ratios[arm] * found_link;
    wire_.quiet[arm] += bytes * ratios[arm] * quiet_link;
    wire_.wire[arm] += bytes * ratios[arm] * found_link;
  }
  bytes_[element_kind(element_bytes)] += bytes;
}

Predicted RunTally::predicted(const CodecModel& model, CodecModel::Work work) const noexcept {
  constexpr std::array<int, k_element_sizes> k_sizes{1, 2, 4, 8, 16};
  Predicted all = wire_;
  for (size_t arm = 1; arm < arm_count(); ++arm)
    for (size_t kind = 0; kind < bytes_.size(); ++kind) {
      if (bytes_[kind] == 0)
        continue;
      const double seconds = bytes_[kind] * model.work(arm, k_sizes[kind], work);
      all.found[arm] += seconds;
      all.quiet[arm] += seconds;
    }
  return all;
}

void CodecModel::compare(size_t arm, int element_bytes, double sampled, double made) noexcept {
  constexpr double k_least = 0.5, k_most = 2;  // a larger deviation means different data
  // samples are rarely too optimistic, and an arm that is no longer used would never be corrected
  constexpr double k_more = 1.25;
  if (sampled > 0 && made >= k_least * sampled && made <= k_most * sampled)
    correction_[element_kind(element_bytes)][arm].add(std::min(made / sampled, k_more));
}

double CodecModel::corrected(size_t arm, int element_bytes, double sampled) const noexcept {
  constexpr double k_noise = 0.97;  // an incompressible sample is not corrected by results of other data
  const Smoothed& correction = correction_[element_kind(element_bytes)][arm];
  return correction.known() && sampled < k_noise ? std::min(1.0, sampled * correction.value()) : sampled;
}

double CodecModel::least_work(int element_bytes, Work work) const noexcept {
  double least = 0;
  for (size_t arm = 1; arm < arm_count(); ++arm) {
    if (!compressor_of(arm)->does(element_bytes))
      continue;
    if (!encode(element_bytes)[arm].known())
      return 0;
    const double each = seconds_to_make(arm, element_kind(element_bytes));
    least = least == 0 ? each : std::min(least, each);
  }
  return least * work.encodes * work.weight();
}

size_t CodecTuner::arm() const noexcept {
  switch (state_) {
    case State::unknown:
      return k_by_message;
    case State::trying: {
      // Odd rounds go in reverse order. If each file has two flushes, the first of which creates the file, every
      // candidate is then tried with both kinds.
      const size_t place = tried_ % count_;
      return candidates_[tried_ / count_ % 2 == 0 ? place : count_ - 1 - place];
    }
    case State::chosen:
      break;
  }
  return chosen_;
}

namespace {

// The predicted cost of each arm above the best, as a fraction of the bound for a trial: at most 1 is tried.
ArmNumbers how_far(const ArmNumbers& predicted, bool first) noexcept {
  const size_t arms = arm_count();
  double best = predicted[0];
  for (size_t arm = 1; arm < arms; ++arm)
    best = std::min(best, predicted[arm]);
  best = std::max(best, k_clock);
  const bool narrow = predicted[k_arm_off] > k_slow_link * best;
  const double off = first ? k_nearly_equal_off_first : k_nearly_equal_off;
  const double other = narrow ? k_nearly_equal_wire : first ? k_nearly_equal_first : k_nearly_equal;
  ArmNumbers far{};
  for (size_t arm = 0; arm < arms; ++arm)
    far[arm] = (predicted[arm] / best - 1) / ((arm == k_arm_off ? off : other) - 1);
  return far;
}

// Rejects arms that save almost nothing on the wire, and arms for which another arm saves as much and is clearly faster
// over either link.
bool is_of_use(const Predicted& predicted, size_t arm) noexcept {
  constexpr double k_clearly = 1.1;  // relative time
  const ArmNumbers& wire = predicted.wire;
  if (arm == k_arm_off || wire[k_arm_off] == 0)
    return true;
  if (wire[arm] > k_worth * wire[k_arm_off])
    return false;
  for (size_t other = 1; other < arm_count(); ++other) {
    const auto is_clearly_slower = [&](const ArmNumbers& numbers) { return numbers[arm] > k_clearly * numbers[other]; };
    if (wire[other] <= wire[arm] && is_clearly_slower(predicted.found) && is_clearly_slower(predicted.quiet))
      return false;
  }
  return true;
}

}  // namespace

// The arm in use and arm 0 are always tried: without room for them the last other candidate is dropped.
void CodecTuner::add_candidate(size_t arm, Look look) noexcept {
  const auto is_kept = [&](size_t each) { return each == k_arm_off || (look == Look::again && each == chosen_); };
  if (count_ == k_most_candidates && is_kept(arm)) {
    const size_t last = candidates_[--count_];
    if (is_kept(last))
      candidates_[count_ - 1] = last;
  }
  if (count_ < k_most_candidates)
    candidates_[count_++] = arm;
}

void CodecTuner::choose_candidates(const Predicted& predicted, Look look) noexcept {
  const ArmNumbers found = how_far(predicted.found, look == Look::first),
                   quiet = how_far(predicted.quiet, look == Look::first);
  const auto far = [&](size_t arm) { return std::min(found[arm], quiet[arm]); };
  const size_t arms = arm_count();
  std::array<size_t, k_most_arms> order{};
  for (size_t arm = 0; arm < arms; ++arm)
    order[arm] = arm;
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(arms),
            [&](size_t a, size_t b) { return far(a) != far(b) ? far(a) < far(b) : a < b; });
  count_ = 0;
  for (size_t i = 0; i < arms; ++i) {
    const size_t arm = order[i];
    const bool is_used = look == Look::again && arm == chosen_;  // it is always compared
    const bool is_near = far(arm) <= 1;
    if (is_used || (is_near && (arm == preferred_ || is_of_use(predicted, arm))))
      add_candidate(arm, look);
  }
  if (count_ == 0)
    candidates_[count_++] = k_arm_off;
  tried_ = 0;
  best_.fill(0);
  state_ = State::trying;
  if (count_ == 1)
    choose();
}

// The number of rounds tried so far is kept.
void CodecTuner::drop_slow() noexcept {
  const size_t rounds = tried_ / count_;
  const double limit = rounds == 1 ? k_too_slow_at_once : k_too_slow;
  double least = best_[candidates_[0]];
  for (size_t i = 1; i < count_; ++i)
    least = std::min(least, best_[candidates_[i]]);
  count_ =
      static_cast<size_t>(std::remove_if(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(count_),
                                         [&](size_t arm) { return best_[arm] > limit * least; }) -
                          candidates_.begin());
  tried_ = rounds * count_;
}

namespace {

// The cost of an arm relative to the least of all, by the more favourable of the two links.
double predicted_gain(const Predicted& predicted, size_t arm) noexcept {
  double gain = std::numeric_limits<double>::max();
  for (const ArmNumbers* numbers : {&predicted.found, &predicted.quiet}) {
    double least = (*numbers)[arm];
    for (size_t other = 0; other < arm_count(); ++other)
      least = std::min(least, (*numbers)[other]);
    gain = std::min(gain, (*numbers)[arm] / std::max(least, k_clock));
  }
  return std::max(1.0, gain);
}

}  // namespace

void CodecTuner::choose() noexcept {
  chosen_ = candidates_[0];
  const auto rating = [&](size_t arm) {
    return best_[arm] * (arm == k_arm_off ? k_off_bonus : arm == preferred_ ? k_preferred_bonus : 1);
  };
  for (size_t i = 1; i < count_; ++i)
    if (rating(candidates_[i]) <
        rating(chosen_) * (chosen_ == k_arm_off || candidates_[i] == k_arm_off ? 1 : k_no_less))
      chosen_ = candidates_[i];
  state_ = State::chosen;
  usual_ = best_[chosen_];
  gain_ = predicted_gain(latest_, chosen_);
  runs_ = 0;
  outliers_ = 0;
}

void CodecTuner::learn_trial(size_t arm, double seconds) noexcept {
  if (best_[arm] == 0 || seconds < best_[arm])
    best_[arm] = seconds;
  if (++tried_ % count_ != 0)
    return;
  drop_slow();
  if (tried_ / count_ >= k_tries || count_ == 1)
    choose();
}

// Whether to compare the arms again: from time to time, at growing intervals, and if the prediction has changed.
bool CodecTuner::looks_again(const Predicted& predicted) noexcept {
  const bool is_due = ++runs_ >= next_look_;
  if (predicted.found[k_arm_off] <= 0)
    return false;
  const bool is_untried = best_[chosen_] == 0;
  const double limit = (is_untried ? k_changed_untried : k_changed) * gain_;
  if (!is_due && predicted_gain(predicted, chosen_) <= limit)
    return false;
  next_look_ = is_due ? 4 * next_look_ : k_first_due;
  return true;
}

void CodecTuner::watch(double seconds) noexcept {
  // Without a trial there is no usual time to compare with.
  if (usual_ == 0)
    usual_ = seconds;
  const bool is_outlier = seconds > k_outlier * usual_ || seconds * k_outlier < usual_;
  outliers_ = is_outlier ? outliers_ + 1 : 0;
  if (outliers_ < k_outliers)
    return;
  state_ = State::unknown;  // the link or the data has changed: sample again
  outliers_ = 0;
}

void CodecTuner::learn(size_t arm, double seconds, const Predicted& predicted) noexcept {
  ++seen_;
  if (arm != this->arm())
    return;  // a run of this kind on another file ended since this one was ordered
  const bool looked = predicted.found[k_arm_off] > 0;
  if (looked)
    latest_ = predicted;
  switch (state_) {
    case State::unknown:
      if (looked)
        choose_candidates(predicted, Look::first);
      return;
    case State::trying:
      learn_trial(arm, seconds);
      return;
    case State::chosen:
      if (looks_again(predicted))
        choose_candidates(predicted, Look::again);
      else
        watch(seconds);
      return;
  }
}

size_t own_arm(const CodecOrder& order, const ArmNumbers& costs, size_t best) noexcept {
  constexpr double k_far_more = 1.5;
  if (best == order.arm)
    return best;
  const ArmNumbers& all = order.all.found;
  const double usual = all[best] > 0 ? std::max(1.0, all[order.arm] / all[best]) : 1.0;
  return costs[order.arm] > k_far_more * usual * costs[best] ? best : order.arm;
}

std::string CodecTuner::why() const {
  if (state_ == State::unknown)
    return "codec decided for each message, from the link's speed and a sample of the bytes";
  std::string text = state_ == State::trying
                         ? fmt::format("codec: {} are predicted to be nearly equal and are tried in turn", count_)
                         : fmt::format("codec {}: ", arm_name(chosen_));
  if (state_ == State::trying)
    return text;
  bool any = false;
  for (size_t arm = 0; arm < arm_count(); ++arm) {
    if (best_[arm] == 0)
      continue;
    text += fmt::format("{}{} took {}", any ? ", " : "", arm_name(arm), format_seconds(best_[arm]));
    any = true;
  }
  if (any)
    return text;
  return text + (chosen_ == k_arm_off ? "no other is predicted to be faster"
                                      : "predicted to be far faster than off; no other is predicted to be faster");
}

}  // namespace windrow
