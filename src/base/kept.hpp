// SPDX-License-Identifier: BSD-3-Clause
// The last few answers to a question that costs much and is often asked again in the same words, as by a program that writes a file a step.
#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace windrow {

// Any number of threads. Keep nothing large. What is static is best never destroyed, `static auto& kept = *new Kept<...>`: files are closed as late as
// in the destructors of a program's own objects.
template <class Question, class Answer>
class Kept {
 public:
  // Compared with each question that is kept.
  std::optional<Answer> find(const Question& asked) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& each) { return each.first == asked; });
    if (found == all_.end()) return std::nullopt;
    all_.splice(all_.begin(), all_, found);
    return found->second;
  }
  void keep(Question question, Answer answer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    all_.emplace_front(std::move(question), std::move(answer));
    if (all_.size() > k_most) all_.pop_back();
  }

 private:
  static constexpr size_t k_most = 8;
  std::mutex mutex_;
  std::list<std::pair<Question, Answer>> all_;  // asked for last: the first
};

// The last few things that were of use, where it takes more than a comparison to tell which are again. As above; those that are in use live on.
template <class Thing>
class LastUsed {
 public:
  using Held = std::shared_ptr<const Thing>;
  // Those used last first.
  template <class Predicate>
  std::vector<Held> with(Predicate&& fits) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<Held> found;
    for (const Held& each : all_)
      if (fits(*each)) found.push_back(each);
    return found;
  }
  void keep(Held thing) {
    const std::lock_guard<std::mutex> lock(mutex_);
    all_.push_front(std::move(thing));
    if (all_.size() > k_most) all_.pop_back();
  }
  void used(const Held& thing) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find(all_.begin(), all_.end(), thing);
    if (found != all_.end()) all_.splice(all_.begin(), all_, found);
  }

 private:
  static constexpr size_t k_most = 8;
  std::mutex mutex_;
  std::list<Held> all_;
};

}  // namespace windrow
