// SPDX-License-Identifier: BSD-3-Clause
#include "definitions/whole_variables.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/units.hpp"
#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "format/catalog.hpp"
#include "format/check.hpp"

namespace windrow {
namespace {

int64_t characters_of(std::span<const std::string> texts) noexcept {
  int64_t characters = 0;
  for (const std::string& text : texts)
    characters += static_cast<int64_t>(text.size());
  return characters;
}

}  // namespace

// Collective, agreed. Checks that all ranks name the same variable.
Status WholeVariables::compare(int variable, Status local) const {
  return agree_same(parts_.comm, std::move(local), static_cast<uint64_t>(variable) << 2, "numbers of the variable",
                    [&] { return quoted({at(variable).path}); });
}

Status WholeVariables::put_texts(int variable, const std::vector<std::string>& texts, Status local) const {
  if (local.ok())
    local = guard([&]() -> Status {
      if (Status status = parts_.metadata.check_whole("put texts", variable); !status.ok())
        return status;
      return check_texts_fit(at(variable).path, parts_.metadata.element_count_of(variable), characters_of(texts));
    });
  if (Status verdict = compare(variable, std::move(local)); !verdict.ok())
    return verdict;
  const auto write = [&] { return parts_.format->write_texts(at(variable).path, texts); };
  return agree(parts_.comm, parts_.comm.rank() == 0 ? guard(write) : Status{});
}

// Rank 0. Encodes the texts as a catalog, because there is a message for it.
Status WholeVariables::read_texts_on_root(int variable, std::vector<std::byte>& bytes) const {
  const std::string& path = at(variable).path;
  auto texts = parts_.format->read_texts(path);
  if (!texts.ok())
    return texts.status();
  const auto count = static_cast<int64_t>(texts.value().size());
  // The program has room for the number of texts that the catalog states.
  if (const int64_t expected = parts_.metadata.element_count_of(variable); count != expected)
    return {Code::bad_file, fmt::format("\"{}\": \"{}\" has {} but had {} when the file was opened: another program "
                                        "changed it",
                                        parts_.metadata.path(), path, counted(count, "text"), expected)};
  if (Status status = check_texts_fit(path, count, characters_of(texts.value())); !status.ok())
    return status;
  Catalog sent;
  sent.unsupported = std::move(texts).value();
  bytes = serialize(sent);
  return {};
}

Status WholeVariables::get_texts(int variable, const std::function<void(std::span<const std::string>)>& take,
                                 Status local) const {
  if (local.ok())
    local = guard([&] { return parts_.metadata.check_whole("get texts", variable); });
  if (Status verdict = compare(variable, std::move(local)); !verdict.ok())
    return verdict;
  std::vector<std::byte> bytes;
  local = parts_.comm.rank() == 0 ? guard([&] { return read_texts_on_root(variable, bytes); }) : Status{};
  local = share_from_root(parts_.comm, std::move(local), bytes);
  if (local.ok())
    local = guard([&]() -> Status {
      auto texts = deserialize(bytes);
      if (!texts.ok())
        return texts.status();
      take(texts.value().unsupported);
      return {};
    });
  return agree(parts_.comm, std::move(local));
}

// Rank 0. Encodes one word that says whether the chunks are known, and then the indices.
Status WholeVariables::find_chunks_on_root(int variable, std::vector<std::byte>& bytes) const {
  const auto stored = parts_.format->stored_chunks(at(variable).path);
  if (!stored.ok() && stored.status().code() != Code::unsupported)
    return stored.status();
  std::vector<int64_t> words{stored.ok() ? 1 : 0};
  if (stored.ok())
    words.insert(words.end(), stored.value().begin(), stored.value().end());
  const auto* begin = reinterpret_cast<const std::byte*>(words.data());
  bytes.assign(begin, begin + words.size() * sizeof(int64_t));
  return {};
}

Result<std::optional<std::vector<int64_t>>> WholeVariables::stored_chunks(int variable, Status local) const {
  const size_t count = parts_.metadata.catalog().variables.size();
  if (local.ok() && (variable < 0 || static_cast<size_t>(variable) >= count))
    local = {Code::bad_argument, fmt::format("\"{}\" has no variable number {}", parts_.metadata.path(), variable)};
  const std::string number = std::to_string(variable);
  if (Status verdict = agree_same(parts_.comm, std::move(local), hash_of({number}), "the number of the variable",
                                  [&] { return quoted({number}); });
      !verdict.ok())
    return verdict;
  const Variable& wanted = at(variable);
  const bool is_here = find_split(parts_.set.map().get(), variable) == nullptr && wanted.unsupported.empty();
  if (is_here && wanted.lacks_place())
    return std::optional(std::vector<int64_t>());
  if (!is_here || !wanted.is_chunked())
    return std::optional<std::vector<int64_t>>();
  return share_chunks(variable);
}

// Collective, agreed.
Result<std::optional<std::vector<int64_t>>> WholeVariables::share_chunks(int variable) const {
  std::vector<std::byte> bytes;
  Status local = parts_.comm.rank() == 0 ? guard([&] { return find_chunks_on_root(variable, bytes); }) : Status{};
  local = share_from_root(parts_.comm, std::move(local), bytes);
  std::vector<int64_t> words;
  if (local.ok())
    local = guard([&] {
      words.resize(bytes.size() / sizeof(int64_t));
      std::memcpy(words.data(), bytes.data(), words.size() * sizeof(int64_t));
      return Status();
    });
  if (Status verdict = agree(parts_.comm, std::move(local)); !verdict.ok())
    return verdict;
  if (words.front() == 0)
    return std::optional<std::vector<int64_t>>();
  words.erase(words.begin());
  return std::optional(std::move(words));
}

}  // namespace windrow
