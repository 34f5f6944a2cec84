// SPDX-License-Identifier: BSD-3-Clause
// Arguments that must be the same on every rank: their hash travels in an agreement that takes place anyway.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "base/status.hpp"
#include "comm/comm.hpp"

namespace windrow {

// FNV-1a over the texts and their lengths. Fowler, Noll, Vo, IETF draft-eastlake-fnv.
uint64_t hash_of(std::initializer_list<std::string_view> texts) noexcept;

// The numbers of an argument, to be combined as maxima; of a rank whose `local` has failed they do not count.
class SameArguments {
 public:
  SameArguments(const Status& local, uint64_t arguments) noexcept;
  std::span<int64_t> numbers() noexcept { return numbers_; }
  bool differ() const noexcept { return numbers_[0] != k_none && numbers_[0] != -numbers_[1]; }  // once combined

 private:
  static constexpr int64_t k_none = INT64_MIN + 1;
  std::array<int64_t, 2> numbers_;
};

// Code::bad_argument: "<what> differ between the ranks".
Status differing(std::string_view what);

// Collective. As agree(); ranks whose arguments differ make it Code::bad_argument: "<what> differs between the ranks". A rank whose
// `local` has failed does not count: its own error is the better message.
Status agree_same(const Comm& comm, Status local, uint64_t arguments, std::string_view what);

}  // namespace windrow
