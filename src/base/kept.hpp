// SPDX-License-Identifier: BSD-3-Clause
// The last few answers to a question that costs much and is often asked again in the same words, as by a program that writes a file a step.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace windrow {

// Any number of threads. What is kept lives as long as the process: keep nothing large.
template <class Question, class Answer>
class Kept {
 public:
  // Of the question that `is_asked` is true for.
  template <class IsAsked>
  std::optional<Answer> find(IsAsked&& is_asked) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [question, answer] : all_)
      if (is_asked(question)) return answer;
    return std::nullopt;
  }
  void keep(Question question, Answer answer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    all_.emplace_front(std::move(question), std::move(answer));
    if (all_.size() > k_most) all_.pop_back();
  }

 private:
  static constexpr size_t k_most = 4;
  mutable std::mutex mutex_;
  std::deque<std::pair<Question, Answer>> all_;  // the newest first
};

}  // namespace windrow
