// SPDX-License-Identifier: BSD-3-Clause
// The machine that a file's plans are made for: rank 0 reads its file, all ranks learn the same text.
#include "planning/machine.hpp"

#include <utility>

#include "session/file.hpp"

namespace windrow {

// Rank 0 alone. What is wrong with it is said before anything is opened.
Status File::read_machine_on_root() {
  const std::string path = settings_.text("machine");
  if (path.empty())
    return {};
  auto text = read_machine_file(path);
  if (!text.ok())
    return text.status();
  if (auto machine = machine_of(text.value(), path); !machine.ok())
    return machine.status();
  machine_text_ = std::move(text).value();
  return {};
}

// Without a machine file, what is usual where rank 0 found the file to lie: it is told, and decides nothing.
Status File::learn_machine(FileSystem kind, int64_t cores) {
  flush_.planner().limits().machine_measured = !machine_text_.empty();
  if (machine_text_.empty()) {
    flush_.planner().limits().machine = usual_machine(kind, cores);
    return {};
  }
  auto machine = machine_of(machine_text_, settings_.text("machine"));
  if (!machine.ok())
    return machine.status();
  flush_.planner().limits().machine = std::move(machine).value();
  return {};
}

}  // namespace windrow
