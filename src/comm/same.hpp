// SPDX-License-Identifier: BSD-3-Clause
// Arguments that must be the same on every rank: their hash travels in an agreement that takes place anyway.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.hpp"
#include "base/status.hpp"
#include "comm/comm.hpp"

namespace windrow {

// FNV-1a over the texts and their lengths. Fowler, Noll, Vo, IETF temporary-eastlake-fnv.
uint64_t hash_of(std::initializer_list<std::string_view> texts) noexcept;

// The numbers of an argument, to be combined as maxima; of a rank whose `local` has failed they do not count.
class SameArguments {
 public:
  SameArguments(const Status& local, uint64_t arguments) noexcept;
  std::span<int64_t> numbers() noexcept { return numbers_; }
  bool differ() const noexcept { return differ(numbers_); }  // once combined
  static bool differ(std::span<const int64_t> combined) noexcept {
    return combined[0] != k_none && combined[0] != -combined[1];
  }

 private:
  static constexpr int64_t k_none = INT64_MIN + 1;
  std::array<int64_t, 2> numbers_;
};

// Gives this rank's arguments, a text each, none of them empty.
using Describe = FunctionRef<std::vector<std::string>()>;
std::vector<std::string> quoted(std::initializer_list<std::string_view> texts);

// Collective, where all know that arguments differ. Code::bad_argument: "<what> differ between the ranks", with the
// lowest rank that has others than rank 0, and the first of them.
Status name_difference(const Comm& comm, uint64_t arguments, std::string_view what, const Describe& describe);

// Collective. As agree(); ranks whose arguments differ make it name_difference(). A rank whose `local` has failed does
// not count: its own error is the better message. `work`: rank 0's, see agree_and_work(); not where arguments differ.
// All ranks give some, or none does.
Status agree_same(const Comm& comm, Status local, uint64_t arguments, std::string_view what,
                  const Describe& describe = {}, FunctionRef<Status()> work = {});

}  // namespace windrow
