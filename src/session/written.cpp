// SPDX-License-Identifier: BSD-3-Clause
// What of a variable somebody has written, as its format stores it.
#include <fmt/format.h>

#include <cstring>

#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "session/file.hpp"

namespace windrow {

Result<std::optional<std::vector<int64_t>>> File::written_chunks(int variable, Status local) {
  if (Status before = end_pending(); !before.ok())
    return before;
  if (local.ok() && (variable < 0 || variable >= static_cast<int>(catalog_.variables.size())))
    local = {Code::bad_argument, fmt::format("\"{}\" has no variable number {}", path_, variable)};
  const auto describe = [&] { return quoted({std::to_string(variable)}); };
  if (Status verdict = agree_same(*comm_, std::move(local), hash_of({std::to_string(variable)}),
                                  "the number of the variable", describe);
      !verdict.ok())
    return verdict;
  const Variable& wanted = catalog_.variables[static_cast<size_t>(variable)];
  const bool is_here = !is_split(wanted.path) && wanted.unsupported.empty();
  if (is_here && wanted.held && wanted.content.empty())
    return std::optional(std::vector<int64_t>());
  if (!is_here || wanted.chunking.empty())
    return std::optional<std::vector<int64_t>>();
  std::vector<std::byte> bytes;  // a word that says whether it is known, and the elements
  if (comm_->rank() == 0)
    local = guard([&] {
      auto stored = format_->stored_chunks(wanted.path);
      if (!stored.ok() && stored.status().code() != Code::unsupported)
        return stored.status();
      std::vector<int64_t> words{stored.ok() ? 1 : 0};
      if (stored.ok())
        words.insert(words.end(), stored.value().begin(), stored.value().end());
      const auto* begin = reinterpret_cast<const std::byte*>(words.data());
      bytes.assign(begin, begin + words.size() * sizeof(int64_t));
      return Status();
    });
  local = share_from_root(*comm_, std::move(local), bytes);
  std::vector<int64_t> words;
  if (local.ok())
    local = guard([&] {
      words.resize(bytes.size() / sizeof(int64_t));
      std::memcpy(words.data(), bytes.data(), words.size() * sizeof(int64_t));
      return Status();
    });
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  if (words.front() == 0)
    return std::optional<std::vector<int64_t>>();
  words.erase(words.begin());
  return std::optional(std::move(words));
}

}  // namespace windrow
