// SPDX-License-Identifier: BSD-3-Clause
#include "comm/same.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "comm/agree.hpp"

namespace windrow {

uint64_t hash_of(std::initializer_list<std::string_view> texts) noexcept {
  uint64_t hash = 14695981039346656037ULL;
  const auto add = [&hash](unsigned char byte) { hash = (hash ^ byte) * 1099511628211ULL; };
  for (std::string_view text : texts) {
    for (char c : text)
      add(static_cast<unsigned char>(c));
    for (size_t n = text.size(), i = 0; i < sizeof n; ++i)
      add(static_cast<unsigned char>(n >> (8 * i)));
  }
  return hash;
}

SameArguments::SameArguments(const Status& local, uint64_t arguments) noexcept {
  const auto value = static_cast<int64_t>(arguments >> 2);
  numbers_ = {local.ok() ? value : k_none, local.ok() ? -value : k_none};
}

namespace {

// The first text of this rank that differs from rank 0's; empty if none does.
std::string difference(std::string_view mine, std::string_view of_root) {
  for (int number = 1; mine != of_root; ++number) {
    const std::string_view here = mine.substr(0, mine.find('\0')), there = of_root.substr(0, of_root.find('\0'));
    const auto or_none = [](std::string_view text) { return text.empty() ? "missing" : text; };
    if (here != there)
      return fmt::format("; number {} is {} here and {} on rank 0", number, or_none(here), or_none(there));
    mine.remove_prefix(std::min(mine.size(), here.size() + 1));
    of_root.remove_prefix(std::min(of_root.size(), there.size() + 1));
  }
  return "";
}

}  // namespace

std::vector<std::string> quoted(std::initializer_list<std::string_view> texts) {
  std::vector<std::string> all;
  for (const std::string_view text : texts)
    all.push_back(fmt::format("\"{}\"", text));
  return all;
}

Status name_difference(const Comm& comm, uint64_t arguments, std::string_view what, const Describe& describe) {
  std::string mine;
  std::vector<std::byte> root_bytes;
  Status local = guard([&] {
    if (describe)
      for (const std::string& text : describe())
        mine.append(text).push_back('\0');
    const auto bytes = std::as_bytes(std::span(mine));
    if (comm.rank() == 0)
      root_bytes.assign(bytes.begin(), bytes.end());
    return Status{};
  });
  std::array<int64_t, 1> of_root{comm.rank() == 0 ? static_cast<int64_t>(arguments >> 2) : INT64_MIN};
  local = share_from_root(comm, std::move(local), root_bytes,
                          of_root);  // a rank without memory for the bytes has an error of its own
  if (local.ok())
    local = guard([&]() -> Status {
      if (of_root[0] == static_cast<int64_t>(arguments >> 2))
        return {};
      const std::string_view of_all(reinterpret_cast<const char*>(root_bytes.data()), root_bytes.size());
      return {Code::bad_argument, fmt::format("{} differ between the ranks; all ranks must give the same{}", what,
                                              difference(mine, of_all))};
    });
  return agree(comm, std::move(local));
}

Status agree_same(const Comm& comm, Status local, uint64_t arguments, std::string_view what, const Describe& describe,
                  FunctionRef<Status()> work) {
  SameArguments same(local, arguments);
  const Reduction reduction{.maximum = same.numbers(), .sum = {}, .bits = {}};
  Status verdict = work ? agree_and_work(comm, std::move(local), reduction,
                                         [&](const Reduction& agreed) {
                                           return SameArguments::differ(agreed.maximum) ? Status{} : work();
                                         })
                        : agree(comm, std::move(local), reduction);
  if (!verdict.ok())
    return verdict;
  return same.differ() ? name_difference(comm, arguments, what, describe) : Status{};
}

}  // namespace windrow
