// SPDX-License-Identifier: BSD-3-Clause
#include "session/same.hpp"

#include <fmt/format.h>

#include "comm/agree.hpp"

namespace windrow {

uint64_t hash_of(std::initializer_list<std::string_view> texts) noexcept {
  uint64_t hash = 14695981039346656037ULL;
  const auto add = [&hash](unsigned char byte) { hash = (hash ^ byte) * 1099511628211ULL; };
  for (std::string_view text : texts) {
    for (char c : text) add(static_cast<unsigned char>(c));
    for (size_t n = text.size(), i = 0; i < sizeof n; ++i) add(static_cast<unsigned char>(n >> (8 * i)));
  }
  return hash;
}

SameArguments::SameArguments(const Status& local, uint64_t arguments) noexcept {
  const auto value = static_cast<int64_t>(arguments >> 2);
  numbers_ = {local.ok() ? value : k_none, local.ok() ? -value : k_none};
}

Status differing(std::string_view what) {
  Status differs{Code::bad_argument, ""};
  (void)guard([&] {
    differs = Status{Code::bad_argument, fmt::format("{} differ between the ranks; all ranks must give the same", what)};
    return Status{};
  });
  return differs;
}

Status agree_same(const Comm& comm, Status local, uint64_t arguments, std::string_view what) {
  SameArguments same(local, arguments);
  if (Status verdict = agree(comm, std::move(local), Pulse{.maximum = same.numbers(), .sum = {}, .bits = {}}); !verdict.ok()) return verdict;
  return same.differ() ? differing(what) : Status{};
}

}  // namespace windrow
