// SPDX-License-Identifier: BSD-3-Clause
// Variables whose elements the catalog itself holds: small ones that stand in a header of the file, and ones that nobody has ever written.
// Every rank has them, and takes its pieces without asking anybody.
#include <algorithm>
#include <bit>
#include <cstring>

#include "format/fill.hpp"
#include "session/file.hpp"

namespace windrow {

Status File::read_held() {
  for (QueueEntry& entry : queue_) {
    const Variable& variable = catalog_.variables[static_cast<size_t>(entry.variable)];
    if (entry.put || !variable.held) continue;
    const int64_t element = element_bytes(variable.type, variable.details);
    const auto trailing = load(entry.decomposition->local(), std::span<const int64_t>(variable.shape).subspan(entry.record >= 0 ? 1 : 0));
    if (!trailing.ok()) return trailing.status();
    auto runs = runs_of(entry, trailing.value() * element, nullptr);
    if (!runs.ok()) return runs.status();
    const int64_t base = entry.record < 0 ? 0 : variable.placement.bytes / variable.shape.front() * entry.record;
    const int64_t swap = swap_bytes(entry, variable);
    std::byte* memory = entry.staged ? entry.staged->bytes.get() : entry.data;
    for_each_piece(runs.value()->runs, [&](const Piece& piece) {
      const std::span<std::byte> out(memory + piece.memory, static_cast<size_t>(piece.length));
      const int64_t from = base + piece.file;
      if (variable.content.empty()) paint(out, from % element, variable.fill);
      else std::memcpy(out.data(), variable.content.data() + from, out.size());
      for (size_t at = 0; swap > 1 && at < out.size(); at += static_cast<size_t>(swap))
        std::reverse(out.begin() + static_cast<std::ptrdiff_t>(at), out.begin() + static_cast<std::ptrdiff_t>(at) + swap);
      trace_.bytes_copied += piece.length;
    });
    Wave wave;  // of this get alone: what is left to do with what has arrived
    wave.reading = true;
    if (!entry.decomposition->echoes().empty())
      wave.repeats.push_back({&entry.decomposition->echoes(), trailing.value() * (entry.staged ? type_size(entry.staged->type) : element), entry.data});
    if (entry.staged) wave.conversions.push_back({runs.value(), entry.staged.get(), entry.variable});
    if (Status status = convert_and_repeat(wave); !status.ok()) return status;
  }
  return {};
}

}  // namespace windrow
