// SPDX-License-Identifier: BSD-3-Clause
// Arguments that must be the same on every rank: their hash is part of an agreement that takes place anyway.
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

// The numbers of an argument, to be combined as maxima. A rank whose `local` has failed contributes neutral values.
class SameArguments {
 public:
  SameArguments(const Status& local, uint64_t arguments) noexcept;
  std::span<int64_t> numbers() noexcept { return numbers_; }
  bool differ() const noexcept { return differ(numbers_); }  // after the reduction
  static bool differ(std::span<const int64_t> combined) noexcept {
    return combined[0] != k_none && combined[0] != -combined[1];
  }

 private:
  static constexpr int64_t k_none = INT64_MIN + 1;
  std::array<int64_t, 2> numbers_;
};

// Returns this rank's arguments as non-empty texts.
using Describe = FunctionRef<std::vector<std::string>()>;
std::vector<std::string> quoted(std::initializer_list<std::string_view> texts);

// Collective, after all ranks know that arguments differ. Code::bad_argument: "<what> differ between the ranks", with
// the lowest rank that differs from rank 0, and the first different argument.
Status name_difference(const Comm& comm, uint64_t arguments, std::string_view what, const Describe& describe);

// Collective. As agree(), but ranks whose arguments differ return name_difference(). A rank whose `local` has failed is
// ignored: its own error is the better message. `work`: of rank 0, see agree_and_work(); skipped if arguments differ.
// All ranks pass work, or none does.
Status agree_same(const Comm& comm, Status local, uint64_t arguments, std::string_view what,
                  const Describe& describe = {}, FunctionRef<Status()> work = {});

}  // namespace windrow
