// SPDX-License-Identifier: BSD-3-Clause
#include "session/same.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

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

Status agree_same(const Comm& comm, Status local, uint64_t arguments, std::string_view what) {
  constexpr int64_t k_none = std::numeric_limits<int64_t>::min();
  const auto value = static_cast<int64_t>(arguments >> 2);
  std::array<int64_t, 2> both{local.ok() ? value : k_none, local.ok() ? -value : k_none};
  if (Status verdict = agree(comm, std::move(local), Pulse{.maximum = both, .sum = {}, .bits = {}}); !verdict.ok()) return verdict;
  if (both[0] == -both[1]) return {};
  Status differs{Code::bad_argument, ""};
  (void)guard([&] {
    differs = Status{Code::bad_argument, fmt::format("{} differ between the ranks; all ranks must give the same", what)};
    return Status{};
  });
  return differs;
}

}  // namespace windrow
