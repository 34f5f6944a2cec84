// SPDX-License-Identifier: BSD-3-Clause
// Variables whose elements the catalog itself holds: small ones that stand in a header of the file, and ones that
// nobody has ever written. Every rank has them, and takes its pieces without asking anybody. What is put to those in a
// header goes to all ranks, and rank 0 has it written.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/paint.hpp"
#include "comm/agree.hpp"
#include "session/file.hpp"

namespace windrow {
namespace {

void reverse_elements(std::span<std::byte> bytes, int64_t swap) {
  for (size_t at = 0; swap > 1 && at < bytes.size(); at += static_cast<size_t>(swap))
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at) + swap);
}

}  // namespace

int64_t File::base_in_held(const QueuedRequest& entry, const Variable& variable) noexcept {
  return entry.record < 0 ? 0 : variable.placement.bytes / variable.shape.front() * entry.record;
}

Result<std::shared_ptr<const ByteRuns>> File::runs_in_held(const QueuedRequest& entry, const Variable& variable) {
  const auto trailing =
      load(entry.decomposition->local(), std::span<const int64_t>(variable.shape).subspan(entry.record >= 0 ? 1 : 0));
  if (!trailing.ok())
    return trailing.status();
  return runs_of(entry, trailing.value() * element_bytes(variable.type, variable.details), nullptr);
}

// Of each byte that this rank puts: the byte, below a number that is highest for rank 0. Of those that several ranks
// put, the lowest rank's counts.
Status File::bring_to_held(int variable, int64_t ordinal, std::span<int64_t> brought) {
  const Variable& target = catalog_.variables[static_cast<size_t>(variable)];
  const int64_t mine = static_cast<int64_t>(comm_->size() - comm_->rank()) << 8;
  std::vector<std::byte> bytes;
  for (const QueuedRequest* each : entries_of(true, ordinal, variable)) {
    const QueuedRequest& entry = *each;
    auto runs = runs_in_held(entry, target);
    if (!runs.ok())
      return runs.status();
    if (entry.staged)
      trace_.values_clamped += entry.staged->out_of_range;
    const std::byte* memory = entry.staged ? entry.staged->bytes.get() : entry.data;
    for_each_piece(runs.value()->runs, [&](const Piece& piece) {
      bytes.assign(memory + piece.memory, memory + piece.memory + piece.length);
      reverse_elements(bytes, swap_bytes(entry, target));
      const auto out = brought.subspan(static_cast<size_t>(base_in_held(entry, target) + piece.file));
      for (size_t i = 0; i < bytes.size(); ++i)
        out[i] = mine | std::to_integer<int64_t>(bytes[i]);
      trace_.bytes_copied += piece.length;
    });
  }
  return {};
}

// Collective. One put to a variable in a header, of all ranks.
Status File::write_held(int variable, int64_t ordinal) {
  const Variable& target = catalog_.variables[static_cast<size_t>(variable)];
  std::vector<int64_t> brought;
  std::vector<std::byte> content;
  Status local = guard([&] {
    brought.assign(target.content.size(), 0);
    content = target.content;
    return bring_to_held(variable, ordinal, brought);
  });
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  if (Status verdict = agree(*comm_, Status{}, Reduction{.maximum = brought, .sum = {}, .bits = {}}); !verdict.ok())
    return verdict;
  for (size_t i = 0; i < content.size(); ++i)
    if (brought[i] != 0)
      content[i] = static_cast<std::byte>(brought[i] & 0xff);
  if (comm_->rank() == 0)
    local = guard([&] { return format_->write_held(target.path, content); });
  if (Status verdict = agree(*comm_, std::move(local)); !verdict.ok())
    return verdict;
  metadata_.set_content(variable, std::move(content));
  return {};
}

Status File::write_held(std::span<int64_t> wanted) {
  for (size_t i = 0; i < catalog_.variables.size(); ++i) {
    if (!catalog_.variables[i].held || catalog_.variables[i].content.empty())
      continue;
    for (int64_t ordinal = 0; ordinal < wanted[i]; ++ordinal)
      if (Status verdict = write_held(static_cast<int>(i), ordinal); !verdict.ok())
        return verdict;
    wanted[i] = 0;
  }
  return {};
}

Status File::read_held() {
  for (QueuedRequest& entry : queue_) {
    const Variable& variable = catalog_.variables[static_cast<size_t>(entry.variable)];
    if (entry.put || !variable.held)
      continue;
    const int64_t element = element_bytes(variable.type, variable.details);
    const auto trailing =
        load(entry.decomposition->local(), std::span<const int64_t>(variable.shape).subspan(entry.record >= 0 ? 1 : 0));
    if (!trailing.ok())
      return trailing.status();
    auto runs = runs_in_held(entry, variable);
    if (!runs.ok())
      return runs.status();
    const int64_t base = base_in_held(entry, variable);
    std::byte* memory = entry.staged ? entry.staged->bytes.get() : entry.data;
    for_each_piece(runs.value()->runs, [&](const Piece& piece) {
      const std::span<std::byte> out(memory + piece.memory, static_cast<size_t>(piece.length));
      const int64_t from = base + piece.file;
      if (variable.content.empty())
        paint(out, from % element, variable.fill);
      else
        std::memcpy(out.data(), variable.content.data() + from, out.size());
      reverse_elements(out, swap_bytes(entry, variable));
      trace_.bytes_copied += piece.length;
    });
    VariableBatch batch;  // of this get alone: what is left to do with what has arrived
    batch.reading = true;
    if (!entry.decomposition->duplicates().empty())
      batch.repeats.push_back({&entry.decomposition->duplicates(),
                               trailing.value() * (entry.staged ? type_size(entry.staged->type) : element),
                               entry.data});
    if (entry.staged)
      batch.conversions.push_back({runs.value(), entry.staged.get(), entry.variable});
    if (Status status = convert_and_repeat(batch); !status.ok())
      return status;
  }
  return {};
}

}  // namespace windrow
