// SPDX-License-Identifier: BSD-3-Clause
#include "queueing/replicas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/numbering.hpp"
#include "base/varint.hpp"
#include "comm/agree.hpp"
#include "comm/sparse.hpp"
#include "decomposition/ownership.hpp"
#include "extent/encode.hpp"
#include "format/fill.hpp"

namespace windrow {
namespace {

// The value of one rank for a point of one put, as in the memory of the program.
struct Value {
  int64_t variable = 0, record = 0, ordinal = 0, identity = 0, type = 0, size = 0;  // bytes of an element
  int64_t point = 0;
  int rank = 0;
  std::span<const std::byte> bytes;
  auto key() const noexcept { return std::tie(variable, record, ordinal, identity, type, size, point); }
};

struct ElementKind {
  Type type;     // type of the elements in the memory of the program
  int64_t size;  // size of an element
  int64_t each;  // bytes of all elements of a point
};

Result<ElementKind> elements_of(const QueuedRequest& entry, const Variable& variable) {
  auto trailing =
      load(entry.decomposition->local(), std::span<const int64_t>(variable.shape).subspan(entry.record >= 0 ? 1 : 0));
  if (!trailing.ok())
    return trailing.status();
  const Type type = entry.staged ? entry.staged->type : variable.type;
  const int64_t size = entry.staged ? entry.staged->memory_bytes : element_bytes(variable.type, variable.details);
  return ElementKind{type, size, trailing.value() * size};
}

// The first element that differs between two values of the same length.
struct Difference {
  std::string where, value, other;
};
Difference difference(const Variable& variable, Type type, size_t size, std::span<const std::byte> value,
                      std::span<const std::byte> other) {
  const auto at =
      static_cast<size_t>(std::mismatch(value.begin(), value.end(), other.begin()).first - value.begin()) / size;
  const auto text = [&](std::span<const std::byte> bytes) {
    return element_text(type, variable.details, bytes.subspan(at * size, size));
  };
  return {value.size() > size ? fmt::format(", element {}", shown_index(at)) : "", text(value), text(other)};
}

// Compares the local duplicates of this rank: points that it lists several times have several places in its memory.
Status compare_duplicates(const QueuedRequest& entry, const Variable& variable, int rank) {
  if (entry.decomposition->local().kind != DecompositionKind::points)
    return {};
  const auto kind = elements_of(entry, variable);
  if (!kind.ok())
    return kind.status();
  const auto each = static_cast<size_t>(kind.value().each);
  const auto bytes_at = [&](int64_t element) {
    return std::span<const std::byte>(entry.data + element * kind.value().each, each);
  };
  for (const LocalDuplicate& duplicate : entry.decomposition->duplicates())
    for (int64_t i = 0; i < duplicate.length; ++i) {
      const auto [earlier, later] = std::minmax(duplicate.from, duplicate.to);  // the value of the later one is written
      const auto first = bytes_at(earlier + i), second = bytes_at(later + i);
      if (std::equal(first.begin(), first.end(), second.begin()))
        continue;
      int64_t point = -1;
      for_each_piece(entry.decomposition->held(), [&](const Piece& piece) {
        if (duplicate.from + i >= piece.memory && duplicate.from + i < piece.memory + piece.length)
          point = piece.file + duplicate.from + i - piece.memory;
      });
      const auto [where, here, there] =
          difference(variable, kind.value().type, static_cast<size_t>(kind.value().size), first, second);
      return {Code::bad_argument,
              fmt::format("put of \"{}\": point {} is number {} and number {} of rank {}'s list, and{} is {} and {}; "
                          "replicas must agree",
                          variable.path, shown_index(point), shown_index(earlier + i), shown_index(later + i), rank,
                          where.empty() ? "" : where.substr(1), here, there),
              rank};
    }
  return {};
}

// Adds the replicas of one request to the messages: head, list and values.
Status write_entry(const QueuedRequest& entry, const Variable& variable, int ranks,
                   std::map<int, std::vector<std::byte>>& messages) {
  auto replicas = entry.decomposition->replicas();
  if (!replicas.ok())
    return replicas.status();
  const auto kind = elements_of(entry, variable);
  if (!kind.ok())
    return kind.status();
  const auto [type, size, each] = kind.value();
  if (each == 0)
    return {};
  for (const DirectoryPart& part :
       split_by_directory(replicas.value(), {entry.decomposition->local().elements, ranks})) {
    auto& message = messages[part.directory];
    for (const int64_t word : {int64_t{entry.variable}, entry.record + 1, entry.ordinal,
                               entry.decomposition->identity(), static_cast<int64_t>(type), size, each})
      append_varint(message, static_cast<uint64_t>(word));
    encode(replicas.value(), part.block, message);
    for_each_piece(replicas.value(), part.block, [&](const Piece& piece) {
      const std::byte* from = entry.data + piece.memory * each;
      message.insert(message.end(), from, from + piece.length * each);
    });
  }
  return {};
}

Status read_message(const SparseMessage& message, std::vector<Value>& values) {
  const std::span<const std::byte> bytes(message.bytes);
  for (size_t at = 0; at < bytes.size();) {
    std::array<int64_t, 7> head{};
    for (int64_t& word : head)
      word = static_cast<int64_t>(read_varint(bytes, at).value_or(0));
    auto list = decode(bytes, at);
    if (!list.ok())
      return list.status();
    const auto each = static_cast<size_t>(head[6]);
    if (each == 0 || static_cast<size_t>(total_bytes(list.value())) > (bytes.size() - at) / each)
      return {Code::internal, "internal error: a list of replicas from another rank is too short"};
    for_each_piece(list.value(), [&](const Piece& piece) {
      for (int64_t i = 0; i < piece.length; ++i, at += each)
        values.push_back({head[0], head[1] - 1, head[2], head[3], head[4], head[5], piece.file + i, message.peer,
                          bytes.subspan(at, each)});
    });
  }
  return {};
}

Status compare(std::vector<Value>& values, std::span<const Variable> variables) {
  std::sort(values.begin(), values.end(),
            [](const Value& a, const Value& b) { return std::tuple(a.key(), a.rank) < std::tuple(b.key(), b.rank); });
  for (size_t i = 1; i < values.size(); ++i) {
    const Value &a = values[i - 1], &b = values[i];
    if (a.key() != b.key() || std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end()))
      continue;
    const Variable& variable = variables[static_cast<size_t>(a.variable)];
    const auto [where, on_a, on_b] =
        difference(variable, static_cast<Type>(a.type), static_cast<size_t>(a.size), a.bytes, b.bytes);
    return {Code::bad_argument,
            fmt::format("put of \"{}\": point {}{} is {} on rank {} and {} on rank {}; replicas must agree",
                        variable.path, shown_index(a.point), where, on_a, a.rank, on_b, b.rank),
            a.rank};
  }
  return {};
}

}  // namespace

Status check_replicas(Comm& comm, Status local, std::span<const QueuedRequest> queue,
                      std::span<const Variable> variables) {
  std::vector<SparseMessage> out, in;
  if (local.ok())
    local = guard([&]() -> Status {
      std::map<int, std::vector<std::byte>> messages;
      for (const QueuedRequest& entry : queue) {
        if (!entry.put)
          continue;
        const Variable& variable = variables[static_cast<size_t>(entry.variable)];
        if (Status status = compare_duplicates(entry, variable, comm.rank()); !status.ok())
          return status;
        if (!entry.decomposition->has_replicas())
          continue;
        if (Status status = write_entry(entry, variable, comm.size(), messages); !status.ok())
          return status;
      }
      for (auto& [rank, bytes] : messages)
        out.push_back({rank, std::move(bytes)});
      return {};
    });
  MessageCounters counters;
  local = sparse_exchange(comm, std::move(local), out, in, counters);
  if (local.ok())
    local = guard([&]() -> Status {
      std::vector<Value> values;
      for (const SparseMessage& message : in)
        if (Status status = read_message(message, values); !status.ok())
          return status;
      return compare(values, variables);
    });
  return agree(comm, std::move(local));
}

}  // namespace windrow
