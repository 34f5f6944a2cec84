// SPDX-License-Identifier: BSD-3-Clause
#include "batching/inline_variables.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/paint.hpp"
#include "batching/get_completion.hpp"
#include "comm/agree.hpp"

namespace windrow {
namespace {

void reverse_elements(std::span<std::byte> bytes, int64_t swap) {
  for (size_t at = 0; swap > 1 && at < bytes.size(); at += static_cast<size_t>(swap))
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at) + swap);
}

// The offset of the first byte of the variable or the record that the request moves.
int64_t base_of(const QueuedRequest& request, const Variable& variable) noexcept {
  return request.record < 0 ? 0 : variable.placement.bytes / variable.shape.front() * request.record;
}

std::byte* memory_of(const QueuedRequest& request) noexcept {
  return request.staged ? request.staged->bytes.get() : request.data;
}

}  // namespace

Status InlineVariables::read(const RequestList& requests) {
  for (const QueuedRequest& request : requests.requests()) {
    const Variable& variable = metadata_.catalog().variables[static_cast<size_t>(request.variable)];
    if (request.put || !variable.is_inline)
      continue;
    const int64_t element = element_bytes(variable.type, variable.details);
    const auto trailing = trailing_elements(request, variable);
    if (!trailing.ok())
      return trailing.status();
    const auto runs = runs_of(request, variable, trailing.value() * element, options_);
    if (!runs.ok())
      return runs.status();
    for_each_piece(runs.value()->runs, [&](const Piece& piece) {
      const std::span<std::byte> out(memory_of(request) + piece.memory, static_cast<size_t>(piece.length));
      const int64_t from = base_of(request, variable) + piece.file;
      if (variable.lacks_place())
        paint(out, from % element, variable.fill);
      else
        std::memcpy(out.data(), variable.content.data() + from, out.size());
      reverse_elements(out, swap_bytes(request, variable));
      trace_.bytes_copied += piece.length;
    });
    GetCompletion completion;
    completion.add_duplicates(request, trailing.value(), element);
    completion.add_conversion(request, runs.value());
    if (Status status = completion.complete(settings_, metadata_.catalog(), trace_); !status.ok())
      return status;
  }
  return {};
}

// Local. Sets each byte that this rank puts, in the low bits of a number whose high bits are largest for rank 0. The
// maximum over the ranks is then the byte of the lowest rank that puts it.
Status InlineVariables::add_puts(RequestList& requests, int variable, int64_t ordinal, std::span<int64_t> bytes) {
  const Variable& target = metadata_.catalog().variables[static_cast<size_t>(variable)];
  const int64_t mine = static_cast<int64_t>(comm_.size() - comm_.rank()) << 8;
  std::vector<std::byte> elements;
  for (const QueuedRequest* request : requests.entries_of(true, ordinal, variable)) {
    const auto trailing = trailing_elements(*request, target);
    if (!trailing.ok())
      return trailing.status();
    const auto runs =
        runs_of(*request, target, trailing.value() * element_bytes(target.type, target.details), options_);
    if (!runs.ok())
      return runs.status();
    if (request->staged)
      trace_.values_clamped += request->staged->out_of_range;
    const std::byte* memory = memory_of(*request);
    for_each_piece(runs.value()->runs, [&](const Piece& piece) {
      elements.assign(memory + piece.memory, memory + piece.memory + piece.length);
      reverse_elements(elements, swap_bytes(*request, target));
      const auto out = bytes.subspan(static_cast<size_t>(base_of(*request, target) + piece.file));
      for (size_t i = 0; i < elements.size(); ++i)
        out[i] = mine | std::to_integer<int64_t>(elements[i]);
      trace_.bytes_copied += piece.length;
    });
  }
  return {};
}

// Collective, agreed. Writes the puts of one ordinal to a variable in a header.
Status InlineVariables::write_one(RequestList& requests, int variable, int64_t ordinal) {
  const Variable& target = metadata_.catalog().variables[static_cast<size_t>(variable)];
  std::vector<int64_t> bytes;
  std::vector<std::byte> content;
  Status local = guard([&] {
    bytes.assign(target.content.size(), 0);
    content = target.content;
    return add_puts(requests, variable, ordinal, bytes);
  });
  if (Status verdict = agree(comm_, std::move(local)); !verdict.ok())
    return verdict;
  if (Status verdict = agree(comm_, Status{}, Reduction{.maximum = bytes, .sum = {}, .bits = {}}); !verdict.ok())
    return verdict;
  for (size_t i = 0; i < content.size(); ++i)
    if (bytes[i] != 0)
      content[i] = static_cast<std::byte>(bytes[i] & 0xff);
  if (comm_.rank() == 0)
    local = guard([&] { return format_->write_inline(target.path, content); });
  if (Status verdict = agree(comm_, std::move(local)); !verdict.ok())
    return verdict;
  metadata_.set_content(variable, std::move(content));
  return {};
}

Status InlineVariables::write(RequestList& requests, std::span<int64_t> puts) {
  const auto& variables = metadata_.catalog().variables;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (!variables[i].is_inline || variables[i].content.empty())
      continue;
    for (int64_t ordinal = 0; ordinal < puts[i]; ++ordinal)
      if (Status verdict = write_one(requests, static_cast<int>(i), ordinal); !verdict.ok())
        return verdict;
    puts[i] = 0;
  }
  return {};
}

}  // namespace windrow
