// SPDX-License-Identifier: BSD-3-Clause
#include "definitions/whole_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/units.hpp"
#include "comm/agree.hpp"
#include "comm/same.hpp"
#include "comm/sparse.hpp"
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

// Local. The stored chunks of a variable whose index this rank has.
Status WholeVariables::find_own_boxes(int variable, BoxList& boxes) const {
  if (find_split(parts_.set.map().get(), variable) != nullptr)
    return parts_.set.add_own_written(variable, boxes);
  if (parts_.comm.rank() != 0)
    return {};
  const Variable& wanted = at(variable);
  const Box all{std::vector<int64_t>(wanted.shape.size()), wanted.shape};
  return add_stored_chunks(*parts_.format, wanted.path, all, wanted.chunking.shape, boxes);
}

Result<BoxList> WholeVariables::written_boxes(int variable, Status local) const {
  const size_t count = parts_.metadata.catalog().variables.size();
  if (local.ok() && (variable < 0 || static_cast<size_t>(variable) >= count))
    local = {Code::bad_argument, fmt::format("\"{}\" has no variable number {}", parts_.metadata.path(), variable)};
  const std::string number = std::to_string(variable);
  if (Status verdict = agree_same(parts_.comm, std::move(local), hash_of({number}), "the number of the variable",
                                  [&] { return quoted({number}); });
      !verdict.ok())
    return verdict;
  const Variable& wanted = at(variable);
  BoxList boxes(wanted.shape.size());
  if (parts_.metadata.element_count_of(variable) == 0)
    return boxes;
  const bool is_split = find_split(parts_.set.map().get(), variable) != nullptr;
  if (!is_split && wanted.lacks_place() && wanted.unsupported.empty())
    return boxes;
  if (!wanted.unsupported.empty() || (!is_split && !wanted.is_chunked())) {
    boxes.add({std::vector<int64_t>(wanted.shape.size()), wanted.shape});
    return boxes;
  }
  if (Status verdict = share_boxes(variable, boxes); !verdict.ok())
    return verdict;
  return boxes;
}

// Collective, agreed. Adjacent boxes are joined, so that as few as possible are sent.
Status WholeVariables::share_boxes(int variable, BoxList& boxes) const {
  std::vector<std::byte> mine, all;
  Status local = guard([&] {
    BoxList own(at(variable).shape.size());
    Status status = find_own_boxes(variable, own);
    own.join();
    const auto bytes = std::as_bytes(own.numbers());
    mine.assign(bytes.begin(), bytes.end());
    return status;
  });
  local = gather_to_all(parts_.set.comm(), std::move(local), std::move(mine), all);
  if (local.ok())
    local = guard([&] {
      std::vector<int64_t> numbers(all.size() / sizeof(int64_t));
      std::ranges::copy(all, std::as_writable_bytes(std::span(numbers)).begin());
      boxes.add_all(numbers);
      boxes.join();
      return Status();
    });
  return agree(parts_.comm, std::move(local));
}

}  // namespace windrow
